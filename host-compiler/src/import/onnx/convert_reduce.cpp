// Operators that reduce axes to one element or to the place of one.

#include <algorithm>
#include <array>
#include <limits>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/whole_numbers.h"
#include "import/onnx/wide_function.h"
#include "import/onnx/written_norms.h"

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
    {"ReduceLogSumExp", {}, OpKind::Sum, OpKind::Log},
});

bool are_of_one_place(const Shape& shape, const std::vector<int64_t>& axes) {
  return std::ranges::all_of(axes,
                             [&](int64_t axis) { return shape[static_cast<size_t>(axis)] == 1; });
}

Shape reduced(Shape shape, const graph::ReduceAttrs& attrs) {
  for (size_t i = attrs.axes.size(); i-- > 0;) {
    const auto at = shape.begin() + attrs.axes[i];
    if (attrs.keep_dims)
      *at = 1;
    else
      shape.erase(at);
  }
  return shape;
}

// Whether all that becomes of the result is an average of it, which is quantised.
bool is_averaged_alone(const Reader& in) {
  const Node* reader = in.only_reader(in.node().outputs.front());
  return reader != nullptr && (reader->type == "ReduceMean" || reader->type == "AveragePool") &&
         in.quantized_behind(reader->outputs.front());
}

// Whether the result is the argument of a function alone which has a form of 16 bits, and which is quantised.
bool is_argument_alone(const Reader& in) {
  const Node* reader = in.only_reader(in.node().outputs.front());
  return reader != nullptr && (reader->type == "Sigmoid" || reader->type == "Tanh") &&
         in.quantized_behind(reader->outputs.front());
}

// log(sum(exp(x))), with the largest element taken out of the sum, which no float may hold otherwise. An infinite one is taken for the
// float next to it: there is no difference of infinities.
TensorId log_of_exponentials(Reader& in, const graph::ReduceAttrs& attrs, TensorId x) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto one = [&](OpKind kind, TensorId id) {
    return in.emit(kind, NoAttrs{}, {id}, kFloat, {}, "part");
  };
  TensorId largest = in.emit_alike(OpKind::ReduceMax, graph::ReduceAttrs{attrs.axes, true}, {x});
  largest = in.emit_alike(OpKind::Maximum, NoAttrs{}, {largest, in.number(-kMost)}, "largest");
  largest = in.emit_alike(OpKind::Minimum, NoAttrs{}, {largest, in.number(kMost)}, "largest");
  const TensorId apart =
      in.emit(OpKind::Sub, graph::BinaryAttrs{}, {x, largest}, kFloat, {}, "part");
  const TensorId sum = in.emit_alike(OpKind::Sum, attrs, {one(OpKind::Exp, apart)}, "sum");
  if (!in.ok()) return {};
  return in.emit(OpKind::Add, graph::BinaryAttrs{},
                 {one(OpKind::Log, sum), in.reshape(largest, in.shape(sum))}, kFloat);
}

// Exactly, with as many more bits as the sum leaves; no tensor where it may have more than 16 bits.
TensorId sum_in_words(Reader& in, const graph::ReduceAttrs& attrs, TensorId x) {
  const graph::Tensor bytes = in.tensor(x);
  const int64_t results = element_count(reduced(bytes.shape, attrs));
  if (bytes.type != DataType::Int8 || results == 0) return {};
  const int64_t most = 255 * (element_count(bytes.shape) / results);
  if (most == 0 || most > 32767) return {};
  int64_t parts = 1;  // of a step of the bytes
  while (2 * parts * most <= 32767) parts *= 2;
  const graph::Quantization scale{
      {bytes.quantization.scale[0] / static_cast<float>(parts)}, {0}, 0};
  const TensorId words = in.emit(OpKind::Quantize, NoAttrs{}, {x}, DataType::Int16, scale, "wide");
  return in.emit(OpKind::Sum, attrs, {words}, DataType::Int16, scale);
}

// An average between integers, on the scale of its readers; no tensor where it has no form of that kind.
TensorId average_of(Reader& in, const graph::ReduceAttrs& attrs, TensorId x,
                    const QuantizedAs& as) {
  const DataType type = in.tensor(x).type;
  if (type == as.type) return in.emit(OpKind::Mean, attrs, {x}, as.type, as.quantization);
  return in.requantize(
      type == DataType::Int8 ? mean_of_bytes_in_words(in, attrs, x) : mean_of_words(in, attrs, x),
      as);
}

// An average of another one's results, which nothing else reads, as x.mean(3).mean(2) is exported: one over the axes of both, of the
// integers that the first one averages.
TensorId average_of_averages(Reader& in, const graph::ReduceAttrs& attrs, const Tail& tail) {
  if (!tail.as || !in.is_read_once(in.node().inputs[0])) return {};
  const graph::Node* first = in.maker_of(in.value(0).tensor);
  if (first == nullptr || first->kind != OpKind::Mean) return {};
  const auto inner = first->attrs<graph::ReduceAttrs>();
  const graph::Node* real = in.maker_of(first->inputs[0]);
  if (real == nullptr || real->kind != OpKind::Dequantize) return {};
  const TensorId x = real->inputs[0];
  graph::ReduceAttrs both{inner.axes, true};
  int64_t given = 0;  // the axis of the operand
  for (int64_t axis = 0; axis < std::ssize(in.shape(x)); ++axis) {
    const bool gone = std::ranges::find(inner.axes, axis) != inner.axes.end();
    if (gone && !inner.keep_dims) continue;
    if (std::ranges::find(attrs.axes, given++) != attrs.axes.end() && !gone)
      both.axes.push_back(axis);
  }
  std::ranges::sort(both.axes);
  const Shape shape = reduced(in.shape_of(0), attrs);
  return in.attempt([&]() -> TensorId {
    const TensorId made = average_of(in, both, x, *tail.as);
    return made.valid() ? in.reshape(made, shape) : made;
  });
}

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
  if (!what.before && !what.after && are_of_one_place(in.shape_of(0), attrs.axes))
    return move(in, [&](TensorId id) { return in.reshape(id, reduced(in.shape(id), attrs)); });
  const bool selects = what.kind == OpKind::ReduceMax || what.kind == OpKind::ReduceMin;
  if (in.is_real(0) && !what.before && !what.after) {
    const Tail tail = in.tail(false);
    const TensorId made = in.attempt([&]() -> TensorId {
      const TensorId x = in.value(0).tensor;
      if (selects) return in.emit_alike(what.kind, attrs, {x});
      if (what.kind == OpKind::Sum && is_averaged_alone(in)) return sum_in_words(in, attrs, x);
      if (what.kind == OpKind::Mean && !tail.as && is_argument_alone(in))
        return mean_of_bytes_in_words(in, attrs, x);
      if (!tail.as || what.kind == OpKind::ReduceProd) return {};
      if (what.kind == OpKind::Mean) return average_of(in, attrs, x, *tail.as);
      return in.emit(what.kind, attrs, {x}, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  if (what.kind == OpKind::Mean && !in.is_real(0)) {
    const Tail tail = in.tail(false);
    if (const TensorId made = average_of_averages(in, attrs, tail); made.valid())
      return in.result(0, {made, Form::Real, {}});
  }
  if (what.kind == OpKind::Mean)
    if (const TensorId variance = written_variance(in, in.tail(false)); variance.valid())
      return in.result(0, {variance, Form::Real, {}});
  if (what.kind == OpKind::Mean && !attrs.axes.empty() &&
      made_of_words(in, in.tail(false), [&](TensorId id) { return mean_of_words(in, attrs, id); }))
    return;
  if (const auto bytes = selects ? as_signed_bytes(in, 1) : std::nullopt)
    return in.carried(attrs.axes.empty() ? bytes->front()
                                         : in.emit_alike(what.kind, attrs, {bytes->front()}));
  TensorId x = in.operand(0);
  if (in.is("ReduceLogSumExp"))
    return in.result(attrs.axes.empty() ? x : log_of_exponentials(in, attrs, x));
  const bool are_bytes = in.tensor(x).type == DataType::UInt8;
  if (are_bytes) x = in.cast(x, DataType::Int32);
  if (what.before) x = in.emit_alike(*what.before, NoAttrs{}, {x}, "element");
  const bool is_logic = in.tensor(x).type == DataType::Bool;
  const OpKind kind = is_logic && what.kind == OpKind::ReduceMax   ? OpKind::ReduceAny
                      : is_logic && what.kind == OpKind::ReduceMin ? OpKind::ReduceAll
                                                                   : what.kind;
  const bool sums = kind == OpKind::Sum;
  if (is_whole(in.tensor(x).type) &&
      (sums || kind == OpKind::ReduceMax || kind == OpKind::ReduceMin)) {
    const DataType given = in.tensor(x).type;
    const Shape shape = in.shape(x);
    const OpKind pairs = sums                        ? OpKind::Add
                         : kind == OpKind::ReduceMax ? OpKind::Maximum
                                                     : OpKind::Minimum;
    x = narrowed(in, x);
    for (size_t i = attrs.axes.size(); i-- > 0 && in.ok();)
      x = reduced_by_halves(in, pairs, x, static_cast<size_t>(attrs.axes[i]));
    x = in.cast(in.reshape(x, reduced(shape, attrs)), given);
  } else if (!attrs.axes.empty()) {
    x = in.emit_alike(kind, attrs, {x});
  }
  if (are_bytes) x = in.cast(x, DataType::UInt8);
  if (what.after) x = in.emit_alike(*what.after, NoAttrs{}, {x}, "root");
  in.result(x);
}

// The place of the first extreme element, as int64; quantised values are compared as they are.
void read_arg(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  const int64_t axis = in.axis(in.integer("axis", 0), rank);
  if (!in.ok()) return;
  const bool as_they_are =
      in.value(0).form != Form::Plain && in.tensor(in.value(0).tensor).type == DataType::Int8;
  TensorId x = as_they_are ? in.value(0).tensor : in.operand(0);
  if (in.tensor(x).type == DataType::UInt8) x = in.cast(x, kFloat);
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

}  // namespace intarsia::onnx
