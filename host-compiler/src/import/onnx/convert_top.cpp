// The extreme elements along an axis and their places: each time the first of those that are left. A few are found one after
// another, many in a loop.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <numeric>

#include "import/loop_function.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;
using import::known;
using import::LoopFunction;
using import::truth_of;
using import::whole_of;

namespace {

constexpr int64_t kMostWrittenOut = 128, kMostTaken = 1 << 14;

struct Search {
  bool largest;
  int64_t count;  // how many are taken
  DataType type;  // of what is searched: floats, or int32 that all have fewer bits

  OpKind extreme() const { return largest ? OpKind::ReduceMax : OpKind::ReduceMin; }
  OpKind place() const { return largest ? OpKind::ArgMax : OpKind::ArgMin; }
  float worst_real() const {
    return std::numeric_limits<float>::infinity() * (largest ? -1.0f : 1.0f);
  }
  float worst_finite() const {
    return std::numeric_limits<float>::max() * (largest ? -1.0f : 1.0f);
  }
  // An element that is infinite, as masked scores are, is better than what has been found, which counts as infinite.
  OpKind bound() const { return largest ? OpKind::Maximum : OpKind::Minimum; }
  int32_t worst_whole() const {
    return largest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
  }
  bool is_real() const { return type == kFloat; }
  graph::Tensor tensor_of(Shape shape) const { return {.type = type, .shape = std::move(shape)}; }
};

// Of floats no values: they are read at their places.
struct Found {
  TensorId values, places;
};

std::vector<int64_t> whole_numbers_to(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

// Along the axis of the operand itself.
Found found_one_by_one(Reader& in, TensorId rest, int64_t axis, const Search& search) {
  const auto along = static_cast<size_t>(axis);
  Shape one = in.shape(rest), row(one.size(), 1);
  row[along] = one[along], one[along] = 1;
  const TensorId places =
      in.make_constant(integer_values(DataType::Int32, row, whole_numbers_to(row[along])));
  const TensorId worst =
      search.is_real()
          ? in.number(search.worst_real())
          : in.make_constant(integer_values(DataType::Int32, {}, {search.worst_whole()}));
  std::vector<TensorId> values, indices;
  for (int64_t found = 0; found < search.count && in.ok(); ++found) {
    if (found > 0) {
      const TensorId taken =
          in.emit(OpKind::Equal, NoAttrs{}, {places, indices.back()}, DataType::Bool, {}, "taken");
      rest = in.emit(OpKind::Select, NoAttrs{}, {taken, worst, rest}, search.type, {}, "rest");
    }
    if (!search.is_real())
      values.push_back(
          in.emit_alike(search.extreme(), graph::ReduceAttrs{{axis}, true}, {rest}, "value"));
    const TensorId place =
        in.emit(search.place(), graph::AxisAttrs{axis}, {rest}, DataType::Int32, {}, "place");
    if (in.ok()) indices.push_back(in.reshape(place, one));
  }
  if (!in.ok()) return {};
  const auto joined = [&](const std::vector<TensorId>& parts) {
    return parts.size() == 1 ? parts[0]
                             : in.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, parts, "join");
  };
  return {search.is_real() ? TensorId{} : joined(values), joined(indices)};
}

// What the loop carries, of [rows,extent].
struct CarriedSearch {
  CarriedSearch(LoopFunction& f, int64_t rows, int64_t extent, const Search& search)
      : step(f.input("step", whole_of({}))),
        rest(f.input("rest", search.tensor_of({rows, extent}))),
        places(f.input("places", whole_of({rows, search.count}))) {
    if (!search.is_real()) values = f.input("values", search.tensor_of({rows, search.count}));
  }
  TensorId step, rest, places, values;
};

TensorId numbers_in(LoopFunction& f, const char* name, int64_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return f.constant(known(name, DataType::Int32, {1, count}, numbers));
}

graph::Function more_to_find(graph::Module& module, std::string name, const Shape& shape,
                             const Search& search) {
  LoopFunction f(module, std::move(name));
  const CarriedSearch c(f, shape[0], shape[1], search);
  const TensorId most =
      f.constant(known<int32_t>("most", DataType::Int32, {}, {static_cast<int32_t>(search.count)}));
  return f.finish({f.plain(OpKind::Less, {c.step, most}, truth_of({}))});
}

graph::Function next_to_find(graph::Module& module, std::string name, const Shape& shape,
                             const Search& search) {
  LoopFunction f(module, std::move(name));
  const int64_t rows = shape[0], count = search.count;
  const CarriedSearch c(f, rows, shape[1], search);
  const Shape column{rows, 1}, all{rows, count};
  const TensorId first = f.put(search.place(), graph::AxisAttrs{1}, {c.rest}, whole_of({rows}));
  const TensorId place =
      f.put(OpKind::Reshape, graph::ReshapeAttrs{column}, {first}, whole_of(column));
  const TensorId taken =
      f.plain(OpKind::Equal, {numbers_in(f, "numbers", shape[1]), place}, truth_of(shape));
  const TensorId worst = f.constant(
      search.is_real() ? import::known_real("worst", search.worst_real())
                       : known<int32_t>("worst", DataType::Int32, {}, {search.worst_whole()}));
  const TensorId rest = f.plain(OpKind::Select, {taken, worst, c.rest}, search.tensor_of(shape));
  const TensorId here =
      f.plain(OpKind::Equal, {numbers_in(f, "slots", count), c.step}, truth_of({1, count}));
  const TensorId one = f.constant(known<int32_t>("one", DataType::Int32, {}, {1}));
  std::vector<TensorId> next{f.arithmetic(OpKind::Add, c.step, one, whole_of({})), rest,
                             f.plain(OpKind::Select, {here, place, c.places}, whole_of(all))};
  if (!search.is_real()) {
    const TensorId best =
        f.put(search.extreme(), graph::ReduceAttrs{{1}, true}, {c.rest}, search.tensor_of(column));
    next.push_back(f.plain(OpKind::Select, {here, best, c.values}, search.tensor_of(all)));
  }
  return f.finish(next);
}

Found found_in_loop(Reader& in, TensorId x, int64_t axis, const Search& search) {
  const Shape shape = in.shape(x);
  std::vector<int64_t> order = whole_numbers_to(std::ssize(shape));
  std::swap(order[static_cast<size_t>(axis)], order.back());  // is its own inverse
  x = in.transpose(x, order);
  Shape made = in.shape(x);
  const Shape flat{element_count(shape) / made.back(), made.back()};
  made.back() = search.count;
  const Shape slots{flat[0], search.count};
  const auto zeros = static_cast<size_t>(element_count(slots));
  const TensorId none =
      in.make_constant(integer_values(DataType::Int32, slots, std::vector<int64_t>(zeros, 0)));
  std::vector<TensorId> carried{in.make_constant(integer_values(DataType::Int32, {}, {0})),
                                in.reshape(x, flat), none};
  if (!search.is_real()) carried.push_back(none);
  if (!in.ok()) return {};
  graph::Function condition = more_to_find(in.module(), in.function_name("goes_on"), flat, search);
  graph::Function body = next_to_find(in.module(), in.function_name("step"), flat, search);
  const auto after = in.emit_loop(std::move(condition), std::move(body), std::move(carried));
  const auto back = [&](TensorId id) { return in.transpose(in.reshape(id, made), order); };
  if (!in.ok()) return {};
  return {search.is_real() ? TensorId{} : back(after[3]), back(after[2])};
}

// Elements of x at their places along the axis.
TensorId elements_at(Reader& in, TensorId x, TensorId places, int64_t axis) {
  const int64_t last = std::ssize(in.shape(x)) - 1;
  std::vector<int64_t> order = whole_numbers_to(last + 1);
  std::swap(order[static_cast<size_t>(axis)], order.back());  // is its own inverse
  x = in.transpose(x, order), places = in.transpose(places, order);
  if (!in.ok()) return {};
  return in.transpose(
      in.emit_alike(OpKind::Gather, graph::GatherAttrs{last, last}, {x, places}, "values"), order);
}

}  // namespace

void read_top_k(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto count =
      in.has(1) ? in.known_integers(1, "how many it takes") : std::vector{in.integer("k", 0)};
  const int64_t axis = in.axis(in.integer("axis", -1), shape.size());
  if (!count || !in.ok()) return;
  const auto along = static_cast<size_t>(axis);
  if (!in.require(count->size() == 1 && (*count)[0] >= 1 && (*count)[0] <= shape[along],
                  fmt::format("takes [{}] of [{}] along axis {}", fmt::join(*count, ","),
                              fmt::join(shape, ","), axis)) ||
      !in.require((*count)[0] <= kMostTaken, fmt::format("takes {} elements", (*count)[0]),
                  fmt::format("at most {} are possible", kMostTaken)))
    return;
  // Integers between conversions are in the order of what they stand for.
  const Value given = in.value(0);
  const bool stays =
      given.form == Form::Real && !in.tensor(given.tensor).quantization.per_channel();
  const TensorId x = stays ? given.tensor : in.operand(0);
  const DataType type = in.tensor(x).type;
  if (!in.require(type == kFloat || (is_integer(type) && bits(type) <= 16),
                  fmt::format("searches {}", to_string(type)),
                  "floats and integers of 8 and 16 bits are possible"))
    return;
  const Search search{in.integer("largest", 1) != 0, (*count)[0],
                      type == kFloat ? kFloat : DataType::Int32};
  TensorId searched = in.cast(x, search.type);
  if (search.is_real())
    searched = in.emit_alike(search.bound(), NoAttrs{},
                             {searched, in.number(search.worst_finite())}, "rest");
  const Found found = search.count <= kMostWrittenOut ? found_one_by_one(in, searched, axis, search)
                                                      : found_in_loop(in, searched, axis, search);
  if (!in.ok()) return;
  const graph::Quantization quantization = in.tensor(x).quantization;
  const TensorId values = type == kFloat ? elements_at(in, x, found.places, axis)
                                         : in.emit(OpKind::Cast, NoAttrs{}, {found.values}, type,
                                                   quantization, "values");
  in.result(0, {values, stays ? Form::Real : Form::Plain, {}});
  in.result(1, {in.cast(found.places, DataType::Int64), Form::Plain, {}});
}

}  // namespace intarsia::onnx
