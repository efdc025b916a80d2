// Operators that give a tensor another shape, or compute with shapes: the latter are folded here and now.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/unknown_operators.h"

namespace intarsia::onnx {

using graph::TensorId;

namespace {

void shaped(Reader& in, const Shape& shape) {
  if (!in.ok()) return;
  if (element_count(shape) == 0) return in.result_empty(0, shape);
  const TensorId id = in.carry();
  const Form form = in.tensor(id).type == kFloat ? Form::Plain : in.value(0).form;
  in.result_of_shape({id, form, {}}, shape);
}

}  // namespace

void read_reshape(Reader& in) {
  const Shape given = in.shape_of(0);
  const auto wanted = in.known_integers(1, "its shape");
  if (!wanted) return;
  Shape shape;
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < wanted->size(); ++i) {
    int64_t extent = (*wanted)[i];
    if (extent == 0 && in.integer("allowzero", 0) == 0) {
      if (!in.require(i < given.size(),
                      fmt::format("keeps axis {} of a tensor of rank {}", i, given.size())))
        return;
      extent = given[i];
    }
    if (extent == -1) {
      if (!in.require(open < 0, "leaves two extents open")) return;
      open = static_cast<int>(i);
    } else if (!in.require(extent >= (in.is_empty(0) ? 0 : 1) &&
                               extent <= graph::kMaxTensorBytes / std::max<int64_t>(known, 1),
                           fmt::format("makes [{}]", fmt::join(*wanted, ",")))) {
      return;
    } else {
      known *= extent;
    }
    shape.push_back(extent);
  }
  const int64_t count = element_count(given);
  if (open >= 0) {
    if (!in.require(known != 0 && count % known == 0,
                    fmt::format("cannot make [{}] of [{}]", fmt::join(*wanted, ","),
                                fmt::join(given, ","))))
      return;
    shape[static_cast<size_t>(open)] = count / known;
  }
  if (in.is_empty(0) && !in.require(element_count(shape) == 0,
                                    fmt::format("makes [{}] of nothing", fmt::join(shape, ","))))
    return;
  shaped(in, shape);
}

void read_squeeze(Reader& in) {
  const Shape given = in.shape_of(0);
  const auto wanted = in.integers_from(1, "axes", "its axes");
  if (!in.ok()) return;
  std::vector<int64_t> axes;
  for (const int64_t axis : wanted.value_or(std::vector<int64_t>{}))
    axes.push_back(in.axis(axis, given.size()));
  Shape shape;
  for (size_t i = 0; i < given.size(); ++i) {
    const bool named = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
    if (named)
      in.require(given[i] == 1, fmt::format("removes axis {}, which has {} elements", i, given[i]));
    if (!(named || (!wanted && given[i] == 1))) shape.push_back(given[i]);
  }
  shaped(in, shape);
}

void read_unsqueeze(Reader& in) {
  const Shape given = in.shape_of(0);
  const auto wanted = in.integers_from(1, "axes", "its axes");
  if (!in.ok() || !in.require(wanted.has_value(), "has no axes")) return;
  const size_t rank = given.size() + wanted->size();
  Shape shape(rank, 0);
  for (const int64_t axis : *wanted) {
    int64_t& extent = shape[static_cast<size_t>(in.axis(axis, rank))];
    if (!in.require(extent == 0, "names an axis twice") || !in.ok()) return;
    extent = 1;
  }
  size_t next = 0;
  for (int64_t& extent : shape)
    if (extent == 0) extent = given[next++];
  shaped(in, shape);
}

void read_flatten(Reader& in) {
  const Shape given = in.shape_of(0);
  const auto rank = static_cast<int64_t>(given.size());
  int64_t axis = in.integer("axis", 1);
  if (!in.require(axis >= -rank && axis <= rank,
                  fmt::format("names axis {} of rank {}", axis, rank)))
    return;
  if (axis < 0) axis += rank;
  shaped(in, {element_count(Shape(given.begin(), given.begin() + axis)),
              element_count(Shape(given.begin() + axis, given.end()))});
}

void read_identity(Reader& in) {
  if (in.is("Dropout") && in.has(2)) {
    const auto training = in.known_real(2, "whether it trains");
    if (training && *training != 0) {
      const auto ratio = in.has(1) ? in.known_real(1, "the ratio of what it drops") : 0.5f;
      in.require_inference(ratio == 0.0f);
    }
  }
  if (!in.ok()) return;
  if (in.is_read(1)) {  // nothing is dropped
    const auto count = static_cast<size_t>(element_count(in.shape_of(0)));
    const TensorId mask = in.make_constant(
        integer_values(DataType::Bool, in.shape_of(0), std::vector<int64_t>(count, 1)));
    in.result(1, {mask, Form::Plain, {}});
  }
  in.result(0, in.value(0));
}

void read_shape(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](int64_t given) {
    return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const int64_t first = place(in.integer("start", 0)), end = place(in.integer("end", rank));
  if (first >= end) return in.result_empty(0);
  in.result(in.make_constant(integer_values(DataType::Int64, {end - first},
                                            Shape(shape.begin() + first, shape.begin() + end))));
}

void read_size(Reader& in) {
  in.result(in.make_constant(integer_values(DataType::Int64, {}, {element_count(in.shape_of(0))})));
}

void read_constant_of_shape(Reader& in) {
  const auto shape = in.known_integers(0, "its shape");
  if (!shape) return;
  if (std::ranges::all_of(*shape, [](int64_t extent) { return extent >= 0; }) &&
      element_count(*shape) == 0)
    return in.result_empty(0, *shape);
  Values value = real_values({1}, {0});
  if (const auto given = in.node().attributes.find("value"); given != in.node().attributes.end()) {
    std::string problem;
    const std::optional<Values> read = read_values(given->second.tensor(), {}, problem);
    if (!in.require(read && element_count(read->shape) == 1 && bits(read->type) >= 8,
                    "has a value that is no number"))
      return;
    value = *read;
  }
  int64_t count = 1;
  for (const int64_t extent : *shape) {
    if (!in.require(extent >= 1 && extent <= (int64_t{1} << 24) / count,
                    fmt::format("makes [{}]", fmt::join(*shape, ","))))
      return;
    count *= extent;
  }
  Values filled{value.type, *shape, {}};
  for (int64_t i = 0; i < count; ++i)
    filled.bytes.insert(filled.bytes.end(), value.bytes.begin(), value.bytes.end());
  in.result(in.make_constant(std::move(filled)));
}

void read_range(Reader& in) {
  for (size_t i = 0; i < 3; ++i)
    if (!in.require(in.is_constant(in.operand(i)) && element_count(in.shape(in.operand(i))) == 1,
                    "counts between numbers that are known only when the model runs"))
      return;
  const auto number = [&](size_t i) { return in.values_of(in.operand(i)); };
  const DataType type = number(0).type;
  constexpr double kMostNumbers = 1 << 16;
  if (type == kFloat) {
    const float first = as_reals(number(0))[0], end = as_reals(number(1))[0],
                step = as_reals(number(2))[0];
    const double count = std::ceil((static_cast<double>(end) - static_cast<double>(first)) /
                                   static_cast<double>(step));
    if (!in.require(count >= 1 && count <= kMostNumbers, fmt::format("makes {} numbers", count)))
      return;
    std::vector<float> numbers;
    for (int i = 0; i < static_cast<int>(count); ++i)
      numbers.push_back(first + static_cast<float>(i) * step);
    return in.result(
        in.make_constant(real_values({static_cast<int64_t>(numbers.size())}, numbers)));
  }
  const int64_t first = as_integers(number(0))[0], end = as_integers(number(1))[0],
                step = as_integers(number(2))[0];
  const double count = step == 0
                           ? 0
                           : std::ceil((static_cast<double>(end) - static_cast<double>(first)) /
                                       static_cast<double>(step));
  if (!in.require(count >= 1 && count <= kMostNumbers, fmt::format("makes {} numbers", count)))
    return;
  std::vector<int64_t> numbers;
  for (int i = 0; i < static_cast<int>(count); ++i) numbers.push_back(first + i * step);
  in.result(
      in.make_constant(integer_values(type, {static_cast<int64_t>(numbers.size())}, numbers)));
}

// The places of what is not 0, one column each, in the order of memory: of numbers that are known. How many there are is the
// extent of the result, so that of running values there is none.
void read_non_zero(Reader& in) {
  if (in.is_empty(0)) return in.result_empty(0);
  const Shape shape = in.shape_of(0);
  const TensorId x = in.operand(0);
  if (!in.require(in.is_constant(x), "has a result whose extent only the running model knows",
                  import::what_to_do(in.node().type, "")) ||
      !table_fits(in, element_count(shape)))
    return;
  const Values values = in.values_of(x);
  std::vector<int64_t> places;
  const auto keep_places_in = [&](const auto& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != 0) places.push_back(static_cast<int64_t>(i));
  };
  if (values.type == kFloat)
    keep_places_in(as_reals(values));
  else
    keep_places_in(as_integers(values));
  if (shape.empty() || places.empty()) return in.result_empty(0);
  std::vector<int64_t> rows;
  int64_t step = element_count(shape);
  for (const int64_t extent : shape) {
    step /= extent;
    for (const int64_t place : places) rows.push_back(place / step % extent);
  }
  in.result(in.make_constant(
      integer_values(DataType::Int64, {std::ssize(shape), std::ssize(places)}, rows)));
}

}  // namespace intarsia::onnx
