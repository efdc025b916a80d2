// Operators that reduce axes to one element or to the place of one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

struct Reduction {
  std::string_view type;
  std::optional<OpKind> before;  // of each element
  OpKind kind;
  std::optional<OpKind> after;
};
constexpr auto kReductions = std::to_array<Reduction>({
    {"ReduceMean", {}, OpKind::Mean, {}},
    {"ReduceSum", {}, OpKind::Sum, {}},
    {"ReduceMax", {}, OpKind::ReduceMax, {}},
    {"ReduceMin", {}, OpKind::ReduceMin, {}},
    {"ReduceProd", {}, OpKind::ReduceProd, {}},
    {"ReduceL1", OpKind::Abs, OpKind::Sum, {}},
    {"ReduceL2", OpKind::Square, OpKind::Sum, OpKind::Sqrt},
    {"ReduceSumSquare", OpKind::Square, OpKind::Sum, {}},
    {"ReduceLogSum", {}, OpKind::Sum, OpKind::Log},
    {"ReduceLogSumExp", OpKind::Exp, OpKind::Sum, OpKind::Log},
});

}  // namespace

// No axes: all of them, or none where the model says so.
void read_reduce(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  const auto given = in.integers_from(1, "axes", "its axes");
  if (!in.ok()) return;
  graph::ReduceAttrs attrs{{}, in.integer("keepdims", 1) != 0};
  if (given && !given->empty())
    for (const int64_t axis : *given) attrs.axes.push_back(in.axis(axis, rank));
  else if (in.integer("noop_with_empty_axes", 0) == 0)
    for (size_t axis = 0; axis < rank; ++axis) attrs.axes.push_back(static_cast<int64_t>(axis));
  std::ranges::sort(attrs.axes);
  attrs.axes.erase(std::unique(attrs.axes.begin(), attrs.axes.end()), attrs.axes.end());
  if (!in.ok()) return;
  const Reduction& what = *std::ranges::find(kReductions, in.node().type, &Reduction::type);
  if (in.is_real(0) && !what.before && !what.after) {
    const bool selects = what.kind == OpKind::ReduceMax || what.kind == OpKind::ReduceMin;
    const Tail tail = in.tail(false);
    const TensorId made = in.attempt([&]() -> TensorId {
      const TensorId x = in.value(0).tensor;
      if (selects) return in.emit_alike(what.kind, attrs, {x});
      if (!tail.as || what.kind == OpKind::ReduceProd) return {};
      return in.emit(what.kind, attrs, {x}, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  TensorId x = in.operand(0);
  if (what.before) x = in.emit_alike(*what.before, NoAttrs{}, {x}, "element");
  const bool is_logic = in.tensor(x).type == DataType::Bool;
  const OpKind kind = is_logic && what.kind == OpKind::ReduceMax   ? OpKind::ReduceAny
                      : is_logic && what.kind == OpKind::ReduceMin ? OpKind::ReduceAll
                                                                   : what.kind;
  if (!attrs.axes.empty()) x = in.emit_alike(kind, attrs, {x});
  if (what.after) x = in.emit_alike(*what.after, NoAttrs{}, {x}, "root");
  in.result(x);
}

// The place of the first extreme element, as int64; quantised values are compared as they are.
void read_arg(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  const int64_t axis = in.axis(in.integer("axis", 0), rank);
  if (!in.ok()) return;
  TensorId x = in.is_real(0) && in.tensor(in.value(0).tensor).type == DataType::Int8
                   ? in.value(0).tensor
                   : in.operand(0);
  const int64_t extent = in.shape(x)[static_cast<size_t>(axis)];
  const bool last = in.integer("select_last_index", 0) != 0;
  Shape shape = in.shape(x);
  if (last) {  // the first one from behind
    graph::SliceAttrs reversed;
    reversed.begin.assign(rank, 0), reversed.size = shape, reversed.stride.assign(rank, 1);
    reversed.begin[static_cast<size_t>(axis)] = extent - 1,
    reversed.stride[static_cast<size_t>(axis)] = -1;
    x = in.emit_alike(OpKind::Slice, reversed, {x}, "reverse");
  }
  TensorId place = in.emit(in.is("ArgMax") ? OpKind::ArgMax : OpKind::ArgMin,
                           graph::AxisAttrs{axis}, {x}, DataType::Int32);
  if (last) {
    const TensorId most = in.make_constant(integer_values(DataType::Int32, {}, {extent - 1}));
    place =
        in.emit(OpKind::Sub, graph::BinaryAttrs{}, {most, place}, DataType::Int32, {}, "forward");
  }
  shape[static_cast<size_t>(axis)] = 1;
  if (in.integer("keepdims", 1) != 0) place = in.reshape(place, shape);
  in.result(in.cast(place, DataType::Int64));
}

// The extreme element along the axis and its first place, k times, each time without those found before.
void read_top_k(Reader& in) {
  constexpr int64_t kMost = 128;
  const Shape shape = in.shape_of(0);
  const auto count =
      in.has(1) ? in.known_integers(1, "how many it takes") : std::vector{in.integer("k", 0)};
  const int64_t axis = in.axis(in.integer("axis", -1), shape.size());
  if (!count || !in.ok()) return;
  const auto along = static_cast<size_t>(axis);
  if (!in.require(count->size() == 1 && (*count)[0] >= 1 && (*count)[0] <= shape[along],
                  fmt::format("takes [{}] of [{}] along axis {}", fmt::join(*count, ","),
                              fmt::join(shape, ","), axis)) ||
      !in.require((*count)[0] <= kMost, fmt::format("takes {} elements", (*count)[0]),
                  fmt::format("at most {} are possible", kMost)))
    return;
  const TensorId x = in.operand(0);
  const DataType type = in.tensor(x).type;
  // Integers that floats hold exactly are searched as floats.
  if (!in.require(type == kFloat || (is_integer(type) && bits(type) <= 16),
                  fmt::format("searches {}", to_string(type)),
                  "floats and integers of 8 and 16 bits are possible"))
    return;
  const bool largest = in.integer("largest", 1) != 0;
  const float worst = std::numeric_limits<float>::infinity() * (largest ? -1.0f : 1.0f);
  Shape row(shape.size(), 1), one = shape;
  row[along] = shape[along], one[along] = 1;
  std::vector<int64_t> numbers(static_cast<size_t>(shape[along]));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const TensorId places = in.make_constant(integer_values(DataType::Int32, row, numbers));
  TensorId rest = type == kFloat ? x : in.cast(x, kFloat);
  std::vector<TensorId> values, indices;
  for (int64_t found = 0; found < (*count)[0] && in.ok(); ++found) {
    if (found > 0) {
      const TensorId taken =
          in.emit(OpKind::Equal, NoAttrs{}, {places, indices.back()}, DataType::Bool, {}, "taken");
      rest =
          in.emit(OpKind::Select, NoAttrs{}, {taken, in.number(worst), rest}, kFloat, {}, "rest");
    }
    values.push_back(in.emit(largest ? OpKind::ReduceMax : OpKind::ReduceMin,
                             graph::ReduceAttrs{{axis}, true}, {rest}, kFloat, {}, "value"));
    const TensorId place = in.emit(largest ? OpKind::ArgMax : OpKind::ArgMin,
                                   graph::AxisAttrs{axis}, {rest}, DataType::Int32, {}, "place");
    if (in.ok()) indices.push_back(in.reshape(place, one));
  }
  if (!in.ok()) return;
  const auto joined = [&](const std::vector<TensorId>& parts) {
    return parts.size() == 1 ? parts[0]
                             : in.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, parts, "join");
  };
  const TensorId best = joined(values);
  in.result(0, {type == kFloat ? best : in.cast(best, type), Form::Plain, {}});
  in.result(1, {in.cast(joined(indices), DataType::Int64), Form::Plain, {}});
}

}  // namespace intarsia::onnx
