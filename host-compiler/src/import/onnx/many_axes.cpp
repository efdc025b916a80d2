#include "import/onnx/many_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "import/onnx/known_operators.h"

namespace intarsia::onnx {

using graph::TensorId;

namespace {

constexpr std::array<std::string_view, 8> kOfShapes = {"Reshape", "Squeeze", "Unsqueeze", "Flatten",
                                                       "Shape",   "Size",    "Transpose", "Expand"};
// The extents of several shapes that are broadcast to each other, with as few axes as possible.
struct Fewer {
  std::vector<Shape> shapes;
  Shape whole;
  bool fit = true;
};

Fewer fewer_axes(const std::vector<Shape>& given) {
  Fewer made{std::vector<Shape>(given.size()), {}};
  size_t rank = 0;
  for (const Shape& shape : given) rank = std::max(rank, shape.size());
  std::vector<bool> last;  // which of them have the last axis
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t extent = 1;
    std::vector<bool> have;
    for (const Shape& shape : given) {
      const size_t missing = rank - shape.size();
      const int64_t own = axis < missing ? 1 : shape[axis - missing];
      made.fit &= own == 1 || extent == 1 || own == extent;
      extent = std::max(extent, own);
      have.push_back(own != 1);
    }
    made.whole.push_back(extent);
    if (extent == 1) continue;
    const bool begins = have != last;
    for (size_t i = 0; i < given.size(); ++i) {
      const int64_t own = have[i] ? extent : 1;
      if (begins)
        made.shapes[i].push_back(own);
      else
        made.shapes[i].back() *= own;
    }
    last = std::move(have);
  }
  return made;
}

// The axes of the result that are one: those of more than one element which follow each other before and after.
struct Axes {
  Shape extents;               // in the order of the operand
  std::vector<int64_t> order;  // of the result
};

Axes merged(const Shape& shape, const std::vector<int64_t>& order) {
  std::vector<std::vector<size_t>> groups;  // in the order of the result
  for (const int64_t axis : order) {
    const auto at = static_cast<size_t>(axis);
    if (shape[at] == 1) continue;
    const auto follows = [&](size_t last) {
      return last < at && std::all_of(shape.begin() + static_cast<ptrdiff_t>(last) + 1,
                                      shape.begin() + static_cast<ptrdiff_t>(at),
                                      [](int64_t extent) { return extent == 1; });
    };
    if (groups.empty() || !follows(groups.back().back())) groups.emplace_back();
    groups.back().push_back(at);
  }
  std::vector<size_t> places(groups.size());  // groups in the order of the operand
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::sort(places, {}, [&](size_t group) { return groups[group].front(); });
  Axes axes{{}, std::vector<int64_t>(groups.size())};
  for (const size_t group : places) {
    axes.order[group] = std::ssize(axes.extents);
    int64_t extent = 1;
    for (const size_t at : groups[group]) extent *= shape[at];
    axes.extents.push_back(extent);
  }
  return axes;
}

}  // namespace

void Reader::merge_axes(Node& present) {
  const auto tall = std::ranges::find_if(
      present.inputs, [&](const std::string& name) { return many_axes_.contains(name); });
  if (tall == present.inputs.end() || std::ranges::find(kOfShapes, present.type) != kOfShapes.end())
    return;
  const bool is_on_elements = works_on_elements(present.domain, present.type);
  // Scales of channels lie along one of the axes.
  const bool is_conversion = present.type == "QuantizeLinear" || present.type == "DequantizeLinear";
  const bool is_whole = !is_conversion || element_count(shape_of(1)) == 1;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < present.inputs.size(); ++i)
    shapes.push_back(has(i) ? shape_of(i) : Shape{});
  const Fewer fewer = fewer_axes(shapes);
  size_t rank = 0;
  for (const Shape& shape : fewer.shapes) rank = std::max(rank, shape.size());
  if (!require(
          is_on_elements && is_whole && rank <= graph::kMaxRank,
          fmt::format("reads '{}', which has {} axes; {} are possible here",
                      tflite::printable(*tall), many_axes_.at(*tall).size(), graph::kMaxRank)) ||
      !require(fewer.fit, "has operands of shapes that do not fit each other"))
    return;
  whole_ = fewer.whole;
  for (size_t i = 0; i < present.inputs.size(); ++i) {
    if (!has(i) || element_count(shapes[i]) == 1) continue;
    const Value given = value(i);
    const TensorId id = carry(i);
    const Form form = id == given.tensor ? given.form : Form::Plain;
    // The file has no value of this name, which is that of one operand of one operator.
    std::string& name = present.inputs[i];
    name = fmt::format("{} of {} with fewer axes", name, present.index);
    values_[name] = {reshape(id, fewer.shapes[i]), form, {}};
  }
}

void expand_many_axes(Reader& in, const Shape& shape, const Shape& wanted) {
  const Fewer fewer = fewer_axes({shape, wanted});
  if (!in.require(fewer.fit, fmt::format("cannot make [{}] of [{}]", fmt::join(wanted, ","),
                                         fmt::join(shape, ","))) ||
      !in.require(fewer.shapes[0].size() <= graph::kMaxRank,
                  fmt::format("repeats along too many axes of {}; {} are possible", wanted.size(),
                              graph::kMaxRank)))
    return;
  const TensorId id = in.carry();
  const Form form = in.tensor(id).type == kFloat ? Form::Plain : in.value(0).form;
  const TensorId made =
      in.emit_alike(graph::OpKind::BroadcastTo, graph::ShapeAttrs{fewer.shapes[1]},
                    {in.reshape(id, fewer.shapes[0])});
  in.result_of_shape({made, form, {}}, wanted);
}

TensorId transpose_many_axes(Reader& in, TensorId id, const Shape& shape,
                             const std::vector<int64_t>& order) {
  const Axes axes = merged(shape, order);
  const size_t count = axes.order.size();
  std::vector<int64_t> present(count);  // the axes, in the order that they have so far
  std::iota(present.begin(), present.end(), int64_t{0});
  const auto extent = [&](auto begin, auto end) {
    int64_t product = 1;
    for (; begin != end; ++begin) product *= axes.extents[static_cast<size_t>(*begin)];
    return product;
  };
  // Those that are in their places are one axis. While the rest are too many, the next one comes to its place, with those that follow it,
  // and what stands before it goes behind: two stretches change places.
  for (size_t place = 0; place < count; ++place) {
    const auto from = present.begin() + static_cast<ptrdiff_t>(place);
    const size_t before = place == 0 ? 0 : 1;
    if (before + count - place <= graph::kMaxRank) {
      Shape rest(before, extent(present.begin(), from));
      std::vector<int64_t> permutation(before, 0);
      for (size_t i = place; i < count; ++i) {
        rest.push_back(axes.extents[static_cast<size_t>(present[i])]);
        permutation.push_back(std::ranges::find(from, present.end(), axes.order[i]) - from +
                              static_cast<int64_t>(before));
      }
      if (std::ranges::is_sorted(permutation)) return id;
      id = in.reshape(id, rest);
      return id.valid() ? in.transpose(id, permutation) : id;
    }
    const auto first = std::ranges::find(present, axes.order[place]);
    if (first == from) continue;
    auto end = first;
    const auto wanted = axes.order.begin() + static_cast<ptrdiff_t>(place);
    while (end != present.end() && *end == *(wanted + (end - first))) ++end;
    id = in.reshape(id, {extent(present.begin(), from), extent(from, first), extent(first, end),
                         extent(end, present.end())});
    if (id.valid()) id = in.transpose(id, {0, 2, 1, 3});
    if (!id.valid()) return id;
    std::rotate(from, first, end);
  }
  return id;
}

}  // namespace intarsia::onnx
