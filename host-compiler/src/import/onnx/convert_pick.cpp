// Operators that pick elements by their places, or put them there: places that are known become the indices of a gather.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// Elements before one step along each axis of a dense tensor.
Shape steps_of(const Shape& shape) {
  Shape steps(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * shape[axis];
  return steps;
}

// Calls f with the index along every axis, in the order of memory.
template <typename F>
void for_each_index(const Shape& shape, F&& f) {
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t left = element_count(shape); left > 0; --left) {
    f(at);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

TensorId flat(Reader& in, TensorId id) {
  return in.reshape(id, {element_count(in.shape(id))});
}

// The elements at these places of all of `id`, as a tensor of the shape.
TensorId picked(Reader& in, TensorId id, const std::vector<int64_t>& places, const Shape& shape) {
  const TensorId indices = in.make_constant(integer_values(DataType::Int32, shape, places));
  return in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0}, {flat(in, id), indices});
}

// Counted from the beginning; a problem when one is outside.
bool places_within(Reader& in, std::vector<int64_t>& places, int64_t extent) {
  for (int64_t& place : places) {
    if (!in.require(place >= -extent && place < extent,
                    fmt::format("takes element {} of {}", place, extent)))
      return false;
    if (place < 0) place += extent;
  }
  return true;
}

}  // namespace

namespace {

// Elements that are named by their index along one axis, by places within all of a tensor of `shape`: where the index is a number of
// the running model.
TensorId running_places(Reader& in, TensorId given, const Shape& shape, size_t axis) {
  const Shape wanted = in.shape(given), steps = steps_of(shape);
  std::vector<int64_t> bases;  // of each place, without its index along the axis
  for_each_index(wanted, [&](const std::vector<int64_t>& at) {
    int64_t base = 0;
    for (size_t i = 0; i < at.size(); ++i) base += i == axis ? 0 : at[i] * steps[i];
    bases.push_back(base);
  });
  TensorId places = from_beginning(in, in.cast(given, DataType::Int32), {shape[axis]});
  if (steps[axis] != 1)
    places = in.emit(OpKind::Mul, BinaryAttrs{},
                     {places, in.make_constant(integer_values(DataType::Int32, {}, {steps[axis]}))},
                     DataType::Int32, {}, "step");
  return in.emit(OpKind::Add, BinaryAttrs{},
                 {places, in.make_constant(integer_values(DataType::Int32, wanted, bases))},
                 DataType::Int32, {}, "place");
}

// The same of indices that are known; nothing, and a problem, where one is outside.
std::optional<std::vector<int64_t>> known_places(Reader& in, TensorId given, const Shape& shape,
                                                 size_t axis) {
  std::vector<int64_t> places = as_integers(in.values_of(given));
  if (!places_within(in, places, shape[axis])) return std::nullopt;
  const Shape steps = steps_of(shape);
  size_t next = 0;
  for_each_index(in.shape(given), [&](const std::vector<int64_t>& at) {
    int64_t& place = places[next++];
    place *= steps[axis];
    for (size_t i = 0; i < at.size(); ++i) place += i == axis ? 0 : at[i] * steps[i];
  });
  return places;
}

}  // namespace

void read_gather_elements(Reader& in) {
  const Shape shape = in.shape_of(0), wanted = in.shape_of(1);
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", 0), shape.size()));
  if (!in.ok() ||
      !in.require(
          wanted.size() == shape.size(),
          fmt::format("picks [{}] from [{}]", fmt::join(wanted, ","), fmt::join(shape, ","))) ||
      !table_fits(in, element_count(wanted)))
    return;
  const TensorId given = in.operand(1);
  if (in.is_constant(given)) {
    const auto places = known_places(in, given, shape, axis);
    if (!places) return;
    return move(in, [&](TensorId id) { return picked(in, id, *places, wanted); });
  }
  const TensorId places = running_places(in, given, shape, axis);
  move(in, [&](TensorId id) {
    return in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0}, {flat(in, id), places});
  });
}

namespace {

// Elements of the updates take the places of elements of operand 0.
void put(Reader& in, const std::vector<int64_t>& places) {
  const Shape shape = in.shape_of(0);
  if (!table_fits(in, element_count(shape))) return;
  std::vector<int64_t> from(static_cast<size_t>(element_count(shape)));
  std::iota(from.begin(), from.end(), int64_t{0});
  const int64_t first = std::ssize(from);
  for (size_t i = 0; i < places.size(); ++i)
    from[static_cast<size_t>(places[i])] = first + static_cast<int64_t>(i);
  const TensorId joined = in.emit_alike(OpKind::Concat, graph::AxisAttrs{0},
                                        {flat(in, in.operand(0)), flat(in, in.operand(2))}, "join");
  if (in.ok()) in.result(picked(in, joined, from, shape));
}

// How updates and what is there already become one number, and the number that changes nothing.
struct ScatterReduction {
  std::string_view name;
  OpKind kind;
  float neutral;
};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr auto kScatterReductions = std::to_array<ScatterReduction>({
    {"add", OpKind::Add, 0},
    {"mul", OpKind::Mul, 1},
    {"max", OpKind::Maximum, -kInfinity},
    {"min", OpKind::Minimum, kInfinity},
});

// For each place of `count` the updates that name it, as rounds: of each place one, or as many as there are updates, which is none. An
// update whose place is below 0 goes nowhere. Nothing, and a problem, where one place has too many.
std::optional<std::vector<std::vector<int64_t>>> rounds_of(Reader& in,
                                                           const std::vector<int64_t>& places,
                                                           int64_t count) {
  constexpr int64_t kMostRounds = 64;
  std::vector<int64_t> taken(static_cast<size_t>(count));
  std::vector<std::vector<int64_t>> rounds;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const auto place = static_cast<size_t>(places[i]);
    const auto round = static_cast<size_t>(taken[place]++);
    if (!in.require(taken[place] <= kMostRounds,
                    fmt::format("has more than {} updates of one element", kMostRounds)))
      return std::nullopt;
    if (round == rounds.size()) rounds.emplace_back(taken.size(), std::ssize(places));
    rounds[round][place] = static_cast<int64_t>(i);
  }
  return rounds;
}

// Updates of one place are taken one after another: as many rounds as a place has updates, each a gather of updates. Without `all` there
// is the neutral number.
TensorId reduce_into(Reader& in, TensorId all, TensorId updates, Shape shape,
                     const std::vector<int64_t>& places, const ScatterReduction& reduction) {
  if (!table_fits(in, element_count(shape)) ||
      !in.require(in.tensor(updates).type == kFloat, "reduces integers; floats are possible"))
    return {};
  const auto rounds = rounds_of(in, places, element_count(shape));
  if (!rounds) return {};
  const TensorId neutral = in.make_constant(real_values({1}, {reduction.neutral}));
  updates =
      in.emit_alike(OpKind::Concat, graph::AxisAttrs{0}, {flat(in, updates), neutral}, "updates");
  const bool selects = reduction.kind == OpKind::Maximum || reduction.kind == OpKind::Minimum;
  const graph::Attributes attributes =
      selects ? graph::Attributes{NoAttrs{}} : graph::Attributes{BinaryAttrs{}};
  for (const std::vector<int64_t>& from : *rounds) {
    if (!in.ok()) return {};
    const TensorId round = picked(in, updates, from, shape);
    all = all.valid() ? in.emit(reduction.kind, attributes, {all, round}, kFloat, {}, "round")
                      : round;
  }
  return all;
}

const ScatterReduction* reduction_of(Reader& in) {
  const std::string name = in.text("reduction", "none");
  const auto found = std::ranges::find(kScatterReductions, name, &ScatterReduction::name);
  return in.require(found != kScatterReductions.end(),
                    fmt::format("has the reduction '{}'", tflite::printable(name)))
             ? &*found
             : nullptr;
}

void scatter(Reader& in, const std::vector<int64_t>& places) {
  if (in.text("reduction", "none") == "none") return put(in, places);
  const ScatterReduction* reduction = reduction_of(in);
  if (reduction == nullptr) return;
  const TensorId all =
      reduce_into(in, in.operand(0), in.operand(2), in.shape_of(0), places, *reduction);
  if (in.ok()) in.result(all);
}

// One row [1,..] into `all` at a place [1,K]: caches of attention are written so.
TensorId put_running_row(Reader& in, TensorId all, TensorId places, TensorId update) {
  const int64_t named = in.shape(places)[1], rank = std::ssize(in.shape(all));
  Shape row(static_cast<size_t>(rank), 1);
  const Shape shape = in.shape(all);
  std::copy(shape.begin() + named, shape.end(), row.begin() + named);
  TensorId begin = in.reshape(places, {named});
  if (named < rank) {
    const TensorId zeros = in.make_constant(
        integer_values(DataType::Int32, {rank - named},
                       std::vector<int64_t>(static_cast<size_t>(rank - named), 0)));
    begin = in.emit_alike(OpKind::Concat, graph::AxisAttrs{0}, {begin, zeros}, "place");
  }
  return in.emit_alike(OpKind::DynamicUpdateSlice, NoAttrs{},
                       {all, in.reshape(update, row), begin});
}

// Rows of the updates [rows,..] are put into `all` where the running model says, one after another. `places`: [rows,K], each the
// beginning of a row along the first K axes.
TensorId put_running_rows(Reader& in, TensorId all, TensorId places, TensorId updates) {
  if (!in.ok()) return {};
  const Shape shape = in.shape(all);
  const int64_t rows = in.shape(places)[0], named = in.shape(places)[1];
  const bool reduces = in.text("reduction", "none") != "none";
  const ScatterReduction* reduction = reduces ? reduction_of(in) : nullptr;
  if (!in.ok()) return {};
  if (rows == 1 && !reduces) return put_running_row(in, all, places, updates);
  const DataType type = in.tensor(all).type;
  if (reduces && is_whole(type)) all = narrowed(in, all), updates = narrowed(in, updates);
  if (!in.ok() || !in.require(!reduces || is_whole(type) || type == kFloat,
                              "reduces narrow integers; i32, i64 and floats are possible"))
    return {};
  Shape wanted{rows};
  wanted.insert(wanted.end(), shape.begin() + named, shape.end());
  const graph::ScatterAttrs attrs{shape, reduces ? std::string(reduction->name) : "none"};
  const TensorId put =
      in.emit_alike(OpKind::ScatterNd, attrs, {all, places, in.reshape(updates, wanted)});
  return reduces && is_whole(type) && in.ok() ? in.cast(put, type) : put;
}

// At no place, as exporters write parts of no element: the operand stays as it is.
bool puts_nothing(Reader& in) {
  if (in.is_empty(0))
    in.result_empty(0, in.shape_of(0));
  else if (in.is_empty(1) || in.is_empty(2))
    in.result(0, in.value(0));
  else
    return false;
  return true;
}

}  // namespace

void read_scatter_elements(Reader& in) {
  if (puts_nothing(in)) return;
  const Shape shape = in.shape_of(0), given = in.shape_of(1);
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", 0), shape.size()));
  if (!in.ok() ||
      !in.require(given.size() == shape.size() && in.shape_of(2) == given,
                  fmt::format("puts [{}] at [{}] of [{}]", fmt::join(in.shape_of(2), ","),
                              fmt::join(given, ","), fmt::join(shape, ","))))
    return;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!in.require(i == axis || given[i] <= shape[i], "puts elements outside of its operand"))
      return;
  const TensorId named = in.operand(1);
  if (in.is_constant(named)) {
    const auto places = known_places(in, named, shape, axis);
    if (places) scatter(in, *places);
    return;
  }
  const int64_t count = element_count(given);
  if (!table_fits(in, count)) return;
  const TensorId places = in.reshape(running_places(in, named, shape, axis), {count, 1});
  const TensorId all = put_running_rows(in, flat(in, in.operand(0)), places, in.operand(2));
  if (in.ok()) in.result(in.reshape(all, shape));
}

namespace {

void put_given_rows(Reader& in, const Shape& shape, const Shape& given) {
  const int64_t named = given.empty() ? 0 : given.back(), rank = std::ssize(shape);
  if (!in.require(named >= 1 && named <= rank, "names no places")) return;
  const int64_t rows = element_count(given) / named;
  const int64_t row = element_count(Shape(shape.begin() + named, shape.end()));
  if (!in.require(element_count(in.shape_of(2)) == rows * row,
                  fmt::format("puts [{}] at {} places", fmt::join(in.shape_of(2), ","), rows)))
    return;
  const TensorId places = from_beginning(in, in.cast(in.operand(1), DataType::Int32),
                                         {shape.begin(), shape.begin() + named});
  if (!in.ok()) return;
  const TensorId rows_of = in.reshape(places, {rows, named});
  // Quantised rows among zeros stay integers.
  const TensorId updates = in.value(2).tensor, around = in.value(0).tensor;
  if (in.is_real(2) && in.is_constant(around) && in.text("reduction", "none") == "none" &&
      !in.tensor(updates).quantization.per_channel()) {
    const std::vector<float> zeros =
        in.tensor(around).type == kFloat ? as_reals(in.values_of(around)) : std::vector{1.0f};
    const TensorId made = in.attempt([&]() -> TensorId {
      if (std::ranges::any_of(zeros, [](float x) { return x != 0; })) return {};
      const graph::Tensor given = in.tensor(updates);
      const TensorId zero = in.make_constant(
          integer_values(given.type, {1}, {given.quantization.zero_point[0]}), given.quantization);
      Shape wanted{rows};
      wanted.insert(wanted.end(), shape.begin() + named, shape.end());
      return in.emit_alike(OpKind::ScatterNd, graph::ScatterAttrs{shape, "none"},
                           {zero, rows_of, in.reshape(updates, wanted)});
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const TensorId all = put_running_rows(in, in.operand(0), rows_of, in.operand(2));
  if (in.ok()) in.result(all);
}

}  // namespace

void read_scatter_nd(Reader& in) {
  if (puts_nothing(in)) return;
  const Shape shape = in.shape_of(0), given = in.shape_of(1);
  if (!in.is_constant(in.operand(1))) return put_given_rows(in, shape, given);
  const auto indices = in.known_integers(1, "the places");
  if (!indices) return;
  const size_t named = given.empty() ? 0 : static_cast<size_t>(given.back());
  if (!in.require(
          !given.empty() && named >= 1 && named <= shape.size(),
          fmt::format("names places [{}] of [{}]", fmt::join(given, ","), fmt::join(shape, ","))))
    return;
  const int64_t slice =
      element_count(Shape(shape.begin() + static_cast<ptrdiff_t>(named), shape.end()));
  const int64_t count = element_count(given) / given.back();
  if (!in.require(element_count(in.shape_of(2)) == count * slice,
                  fmt::format("puts [{}] at {} places for {} elements",
                              fmt::join(in.shape_of(2), ","), count, slice)))
    return;
  const Shape steps = steps_of(shape);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    for (size_t k = 0; k < named; ++k) {
      std::vector<int64_t> one{(*indices)[static_cast<size_t>(i) * named + k]};
      if (!places_within(in, one, shape[k])) return;
      place += one[0] * steps[k];
    }
    for (int64_t k = 0; k < slice; ++k) places.push_back(place + k);
  }
  scatter(in, places);
}

// Columns of blocks [N, C * elements of a block, places] put together, as the image they were taken from: what several give one element
// adds up.
void read_col2im(Reader& in) {
  const Shape columns = in.shape_of(0);
  const auto image = in.known_integers(1, "the image's extents"),
             block = in.known_integers(2, "the block's extents");
  if (!image || !block) return;
  const size_t axes = image->size();
  const std::vector<int64_t> ones(axes, 1);
  const auto dilations = in.integers("dilations").value_or(ones),
             strides = in.integers("strides").value_or(ones),
             pads = in.integers("pads").value_or(std::vector<int64_t>(2 * axes, 0));
  const auto is_extent = [](int64_t n) { return n >= 1 && n <= 1 << 20; };
  if (!in.require(
          axes >= 1 && block->size() == axes && dilations.size() == axes &&
              strides.size() == axes && pads.size() == 2 * axes && columns.size() == 3 &&
              std::ranges::all_of(*image, is_extent) && std::ranges::all_of(*block, is_extent) &&
              std::ranges::all_of(dilations, is_extent) && std::ranges::all_of(strides, is_extent),
          fmt::format("makes [{}] of [{}] in blocks of [{}]", fmt::join(*image, ","),
                      fmt::join(columns, ","), fmt::join(*block, ","))))
    return;
  Shape counts;  // blocks along each axis
  for (size_t i = 0; i < axes; ++i)
    counts.push_back(
        ((*image)[i] + pads[i] + pads[axes + i] - dilations[i] * ((*block)[i] - 1) - 1) /
            strides[i] +
        1);
  const int64_t in_block = element_count(*block);
  if (!in.require(std::ranges::all_of(counts, is_extent) && element_count(counts) == columns[2] &&
                      columns[1] % in_block == 0,
                  fmt::format("has [{}] blocks for columns [{}]", fmt::join(counts, ","),
                              fmt::join(columns, ","))) ||
      !table_fits(in, element_count(columns)))
    return;
  Shape shape{columns[0], columns[1] / in_block};
  shape.insert(shape.end(), image->begin(), image->end());
  const Shape steps = steps_of(shape);
  Shape indices{columns[0], shape[1]};  // of the columns, by all axes
  indices.insert(indices.end(), block->begin(), block->end());
  indices.insert(indices.end(), counts.begin(), counts.end());
  std::vector<int64_t> places;
  for_each_index(indices, [&](const std::vector<int64_t>& at) {
    int64_t place = at[0] * steps[0] + at[1] * steps[1];
    bool is_inside = true;
    for (size_t i = 0; i < axes; ++i) {
      const int64_t along = at[2 + axes + i] * strides[i] + at[2 + i] * dilations[i] - pads[i];
      is_inside = is_inside && along >= 0 && along < (*image)[i];
      place += along * steps[2 + i];
    }
    places.push_back(is_inside ? place : -1);
  });
  if (!table_fits(in, element_count(shape))) return;
  const auto rounds = rounds_of(in, places, element_count(shape));
  if (!rounds) return;
  const auto nothing = std::ssize(places);
  // Blocks beside each other only move their elements.
  if (rounds->size() == 1 && std::ranges::find(rounds->front(), nothing) == rounds->front().end())
    return move(in, [&](TensorId id) { return picked(in, id, rounds->front(), shape); });
  const TensorId all =
      reduce_into(in, {}, in.operand(0), shape, places, kScatterReductions.front());
  if (in.ok()) in.result(all);
}

void read_reverse_sequence(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto lengths = in.known_integers(1, "the lengths");
  const auto time = static_cast<size_t>(in.axis(in.integer("time_axis", 0), shape.size()));
  const auto batch = static_cast<size_t>(in.axis(in.integer("batch_axis", 1), shape.size()));
  if (!in.ok() || !in.require(std::ssize(*lengths) == shape[batch], "has a length per sequence") ||
      !table_fits(in, element_count(shape)))
    return;
  for (const int64_t length : *lengths)
    if (!in.require(length >= 0 && length <= shape[time],
                    fmt::format("reverses {} steps of {}", length, shape[time])))
      return;
  const Shape steps = steps_of(shape);
  std::vector<int64_t> places;
  for_each_index(shape, [&](const std::vector<int64_t>& at) {
    const int64_t length = (*lengths)[static_cast<size_t>(at[batch])];
    int64_t place = 0;
    for (size_t i = 0; i < at.size(); ++i) place += at[i] * steps[i];
    if (at[time] < length) place += (length - 1 - 2 * at[time]) * steps[time];
    places.push_back(place);
  });
  move(in, [&](TensorId id) { return picked(in, id, places, shape); });
}

// One of two triangles of the last two axes; the other one is 0.
void read_trilu(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto given = in.has(1) ? in.known_integers(1, "its diagonal") : std::vector<int64_t>{0};
  if (!given ||
      !in.require(shape.size() >= 2 && given->size() == 1,
                  fmt::format("works on [{}]", fmt::join(shape, ","))) ||
      !table_fits(in, element_count(shape)))
    return;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t diagonal = std::clamp(given->front(), -rows, columns);
  const bool upper = in.integer("upper", 1) != 0;
  const auto stays = [&](int64_t row, int64_t column) {
    return upper ? column - row >= diagonal : column - row <= diagonal;
  };
  const TensorId x = in.operand(0);
  if (in.tensor(x).type == kFloat) {
    std::vector<int64_t> mask;
    for_each_index({rows, columns}, [&](const std::vector<int64_t>& at) {
      mask.push_back(stays(at[0], at[1]) ? 1 : 0);
    });
    const TensorId kept = in.make_constant(integer_values(DataType::Bool, {rows, columns}, mask));
    return in.result(in.emit(OpKind::Select, NoAttrs{}, {kept, x, in.number(0)}, kFloat));
  }
  const TensorId zero = in.make_constant(integer_values(in.tensor(x).type, {1}, {0}));
  std::vector<int64_t> places;
  for_each_index(shape, [&](const std::vector<int64_t>& at) {
    places.push_back(stays(at[at.size() - 2], at.back()) ? std::ssize(places)
                                                         : element_count(shape));
  });
  const TensorId joined =
      in.emit_alike(OpKind::Concat, graph::AxisAttrs{0}, {flat(in, x), zero}, "join");
  if (in.ok()) in.result(picked(in, joined, places, shape));
}

void read_eye_like(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto element = static_cast<int32_t>(in.integer("dtype", 0));
  const std::optional<DataType> type =
      element == 0 ? in.tensor(in.operand(0)).type : data_type(element);
  if (!in.require(shape.size() == 2 && type && bits(*type) >= 8, "makes no matrix of numbers") ||
      !table_fits(in, element_count(shape)))
    return;
  std::vector<int64_t> ones;
  for_each_index(shape, [&](const std::vector<int64_t>& at) {
    ones.push_back(at[1] - at[0] == in.integer("k", 0) ? 1 : 0);
  });
  in.result(in.make_constant(*type == kFloat ? real_values(shape, {ones.begin(), ones.end()})
                                             : integer_values(*type, shape, ones)));
}

void read_one_hot(Reader& in) {
  Shape shape = in.shape_of(0);
  const auto depth = in.known_real(1, "its depth");
  const TensorId ends = in.operand(2);
  if (!depth || !in.require(in.shape(ends) == Shape{2} && *depth >= 1 && *depth <= 1 << 20,
                            "has a depth, and a value for each state"))
    return;
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", -1), shape.size() + 1));
  if (!in.ok()) return;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
  const TensorId places = in.reshape(in.cast(in.operand(0), kFloat), shape);
  Shape row(shape.size(), 1);
  row[axis] = static_cast<int64_t>(*depth);
  const auto meets = [&](float first) {
    std::vector<float> numbers(static_cast<size_t>(row[axis]));
    std::iota(numbers.begin(), numbers.end(), first);
    return in.emit(OpKind::Equal, NoAttrs{}, {places, in.make_constant(real_values(row, numbers))},
                   DataType::Bool, {}, "here");
  };
  // Places may count from the end.
  const TensorId here = in.emit(OpKind::LogicalOr, NoAttrs{}, {meets(0), meets(-*depth)},
                                DataType::Bool, {}, "there");
  const auto state = [&](int64_t which) {
    const TensorId one =
        in.emit_alike(OpKind::Slice, graph::SliceAttrs{{which}, {1}, {1}, {}}, {ends}, "state");
    const TensorId scalar = in.reshape(one, {});
    return is_integer(in.tensor(scalar).type) ? in.cast(scalar, DataType::Int32) : scalar;
  };
  const TensorId on = state(1), off = state(0);
  in.result(
      in.cast(in.emit(OpKind::Select, NoAttrs{}, {here, on, off}, in.tensor(on).type, {}, "choice"),
              in.tensor(ends).type));
}

// 1 at the first of the largest elements along the axis, 0 elsewhere.
void read_hardmax(Reader& in) {
  const Shape shape = in.shape_of(0);
  const bool is_old = in.node().operator_set < 13;
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", is_old ? 1 : -1), shape.size()));
  if (!in.ok() ||
      !in.require(!is_old || axis + 1 == shape.size(), "works on several axes as one",
                  "convert the model with onnx.version_converter") ||
      !table_fits(in, shape[axis]))
    return;
  const TensorId place = in.emit(OpKind::ArgMax, graph::AxisAttrs{static_cast<int64_t>(axis)},
                                 {in.operand(0)}, DataType::Int32, {}, "place");
  Shape kept = shape, row(shape.size(), 1);
  kept[axis] = 1, row[axis] = shape[axis];
  std::vector<int64_t> numbers(static_cast<size_t>(shape[axis]));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const TensorId here = in.emit(
      OpKind::Equal, NoAttrs{},
      {in.reshape(place, kept), in.make_constant(integer_values(DataType::Int32, row, numbers))},
      DataType::Bool, {}, "here");
  in.result(in.emit(OpKind::Select, NoAttrs{}, {here, in.number(1), in.number(0)}, kFloat));
}

// The elements where a condition that is known holds.
void read_compress(Reader& in) {
  const Shape shape = in.shape_of(0);
  const TensorId condition = in.operand(1);
  if (!in.require(in.is_constant(condition), "takes elements that only the running model knows"))
    return;
  std::vector<int64_t> places;
  const std::vector<int64_t> flags = as_integers(in.values_of(condition));
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) places.push_back(static_cast<int64_t>(i));
  const bool along = in.node().attributes.contains("axis");
  const int64_t axis = along ? in.axis(in.integer("axis", 0), shape.size()) : 0;
  if (!in.ok() || !in.require(!places.empty(), "takes no element")) return;
  const int64_t extent = along ? shape[static_cast<size_t>(axis)] : element_count(shape);
  if (!places_within(in, places, extent)) return;
  const TensorId indices =
      in.make_constant(integer_values(DataType::Int32, {std::ssize(places)}, places));
  move(in, [&](TensorId id) {
    return in.emit_alike(OpKind::Gather, graph::GatherAttrs{axis, 0},
                         {along ? id : flat(in, id), indices});
  });
}

}  // namespace intarsia::onnx
