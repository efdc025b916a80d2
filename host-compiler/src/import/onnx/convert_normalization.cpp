// Normalisations: products and sums with statistics of the operand, or of the training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/normalize_integers.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/window.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// Numbers of one channel each, for axis 1 of a tensor of the rank.
TensorId per_channel(Reader& in, TensorId id, size_t rank) {
  Shape shape(rank, 1);
  shape[1] = element_count(in.shape(id));
  return in.reshape(id, shape);
}

TensorId times(Reader& in, TensorId a, TensorId b, std::string_view suffix = "scale") {
  return in.emit(OpKind::Mul, BinaryAttrs{}, {a, b}, kFloat, {}, suffix);
}
TensorId plus(Reader& in, TensorId a, TensorId b,
              graph::Activation activation = graph::Activation::None) {
  return in.emit(OpKind::Add, BinaryAttrs{activation}, {a, b}, kFloat, {}, "shift");
}
TensorId less(Reader& in, TensorId a, TensorId b) {
  return in.emit(OpKind::Sub, BinaryAttrs{}, {a, b}, kFloat, {}, "centre");
}
TensorId inverse_root(Reader& in, TensorId variance, float epsilon) {
  return in.emit(OpKind::Rsqrt, NoAttrs{}, {plus(in, variance, in.number(epsilon))}, kFloat, {},
                 "rsqrt");
}

struct Normalised {
  TensorId values, mean, inverse_deviation;
};

// (x - mean) / sqrt(variance + epsilon) along the axes.
Normalised normalised(Reader& in, TensorId x, const std::vector<int64_t>& axes, float epsilon) {
  const graph::ReduceAttrs along{axes, true};
  const TensorId mean = in.emit(OpKind::Mean, along, {x}, kFloat, {}, "mean");
  const TensorId centred = less(in, x, mean);
  const TensorId square = in.emit(OpKind::Square, NoAttrs{}, {centred}, kFloat, {}, "square");
  const TensorId variance = in.emit(OpKind::Mean, along, {square}, kFloat, {}, "variance");
  const TensorId inverse = inverse_root(in, variance, epsilon);
  return {times(in, centred, inverse), mean, inverse};
}

std::vector<int64_t> axes_from(size_t first, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t axis = first; axis < rank; ++axis) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

// What is left of x over the statistic, which may be 0.
TensorId over(Reader& in, TensorId x, TensorId statistic, std::string_view suffix = {}) {
  return in.emit(OpKind::Div, BinaryAttrs{}, {x, statistic}, kFloat, {}, suffix);
}

// Rows of channels, or axis 1 of any other rank, as an image with its channels last.
TensorId channels_last(Reader& in, TensorId x) {
  const Shape shape = in.shape(x);
  if (shape.size() == 2) return in.reshape(x, {1, 1, shape[0], shape[1]});
  if (shape.size() == 4) return in.to_channels_last(x);
  const int64_t places = element_count(Shape(shape.begin() + 2, shape.end()));
  return in.to_channels_last(in.reshape(x, {shape[0], shape[1], 1, places}));
}

// Between integers: a convolution by one weight of each channel, whose scale makes the factor; only the offset and the result are
// rounded. No tensor where they may be more than a step from the real result.
TensorId batch_normalised_integers(Reader& in, TensorId factor, TensorId offset, const Tail& tail) {
  constexpr float kWeight = 127, kMostOffset = 1 << 30, kStepsInOne = 1 << 16;
  const bool known = in.is_constant(factor) && in.is_constant(offset);
  if (!known || !in.is_real(0) || !tail.as) return {};
  const TensorId x = in.value(0).tensor;
  const graph::Tensor source = in.tensor(x);
  if (source.constant.valid() || source.quantization.per_channel()) return {};
  const std::vector<float> factors = as_reals(in.values_of(factor)),
                           offsets = as_reals(in.values_of(offset));
  if (factors.size() != offsets.size()) return {};
  graph::Quantization q;
  q.axis = 3;
  std::vector<int64_t> weights, biases;
  const float from = source.quantization.scale[0], to = tail.as->quantization.scale[0];
  for (size_t i = 0; i < factors.size(); ++i) {
    // Of a channel that is multiplied by next to nothing, the step is a small part of the result's, or what lets the offset be a bias.
    const float step = std::max({from * std::abs(factors[i]) / kWeight,
                                 std::abs(offsets[i]) / kMostOffset, to / kStepsInOne});
    if (!std::isnormal(step / from) || step > to) return {};
    q.scale.push_back(step / from);
    q.zero_point.push_back(0);
    weights.push_back(static_cast<int64_t>(std::round(factors[i] / q.scale.back())));
    biases.push_back(static_cast<int64_t>(std::round(offsets[i] / step)));
  }
  const auto channels = static_cast<int64_t>(factors.size());
  const DataType sums = source.type == DataType::Int16 ? DataType::Int64 : DataType::Int32;
  return in.attempt([&]() -> TensorId {
    const TensorId image = channels_last(in, x);
    const TensorId by =
        in.make_constant(integer_values(DataType::Int8, {1, 1, 1, channels}, weights), q);
    const TensorId bias = in.make_constant(integer_values(sums, {channels}, biases));
    const TensorId y =
        in.emit(OpKind::DepthwiseConv2d, graph::DepthwiseConv2dAttrs{.activation = tail.activation},
                {image, by, bias}, tail.as->type, tail.as->quantization);
    if (!y.valid()) return y;
    return in.reshape(source.shape.size() == 2 ? y : in.to_channels_first(y), source.shape);
  });
}

}  // namespace

// With known statistics: x * factor + offset, which goes into the convolution before it where that has no
// other reader.
void read_batch_normalization(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  in.require_inference(in.integer("training_mode", 0) == 0 &&
                       (in.node().outputs.size() == 1 || in.node().outputs[1].empty()));
  // An attribute until operator set 8.
  in.require(in.integer("spatial", 1) == 1,
             "has statistics of each element rather than of each channel",
             "export the model again with a newer operator set, which has those of channels alone");
  if (!in.require(rank >= 2, fmt::format("normalises a tensor of rank {}", rank))) return;
  const TensorId factor =
      times(in, in.operand(1), inverse_root(in, in.operand(4), in.real("epsilon", 1e-5f)));
  const TensorId offset = less(in, in.operand(2), times(in, in.operand(3), factor));
  const Tail tail = in.tail(true);
  const TensorId integers = batch_normalised_integers(in, factor, offset, tail);
  if (integers.valid()) return in.finish(tail, {integers, Form::Real, {}});
  const TensorId folded = in.fold_into_convolution(in.operand(0), factor, offset, tail.activation);
  if (folded.valid()) return in.finish(tail, {folded, Form::Plain, {}});
  const TensorId y = plus(in, times(in, in.operand(0), per_channel(in, factor, rank)),
                          per_channel(in, offset, rank), tail.activation);
  in.finish(tail, {y, Form::Plain, {}});
}

void read_instance_normalization(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  if (!in.require(rank >= 3, fmt::format("normalises a tensor of rank {}", rank))) return;
  const TensorId factor = per_channel(in, in.operand(1), rank),
                 offset = per_channel(in, in.operand(2), rank);
  const float epsilon = in.real("epsilon", 1e-5f);
  const std::vector<int64_t> axes = axes_from(2, rank);
  const TensorId made =
      normalized_integers(in, {integers(in), axes, epsilon, factor, offset}, in.tail(false));
  if (made.valid()) return in.result(0, {made, Form::Real, {}});
  const TensorId x = normalised(in, in.operand(0), axes, epsilon).values;
  in.result(plus(in, times(in, x, factor), offset));
}

void read_layer_normalization(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  const int64_t first = in.axis(in.integer("axis", -1), rank);
  if (!in.ok()) return;
  const std::vector<int64_t> axes = axes_from(static_cast<size_t>(first), rank);
  const float epsilon = in.real("epsilon", 1e-5f);
  const TensorId factor = in.operand(1), offset = in.optional_operand(2);
  if (!in.is_read(1) && !in.is_read(2)) {
    const TensorId made =
        normalized_integers(in, {integers(in), axes, epsilon, factor, offset}, in.tail(false));
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const Normalised x = normalised(in, in.operand(0), axes, epsilon);
  TensorId y = times(in, x.values, factor);
  if (offset.valid()) y = plus(in, y, offset);
  in.result(y);
  in.result(1, {x.mean, Form::Plain, {}});
  in.result(2, {x.inverse_deviation, Form::Plain, {}});
}

namespace {

// Statistics of channels [N,C,1,..] become those of their groups, for each channel again: the mean of means of as many
// elements each. The images themselves are not given another shape, so that they can lie with their channels last.
TensorId of_groups(Reader& in, TensorId channels, int64_t groups) {
  const Shape shape = in.shape(channels);
  if (shape.empty()) return {};
  const Shape grouped{shape[0], groups, shape[1] / groups};
  const TensorId mean = in.emit(OpKind::Mean, graph::ReduceAttrs{{2}, true},
                                {in.reshape(channels, grouped)}, kFloat, {}, "group");
  return in.reshape(
      in.emit(OpKind::BroadcastTo, graph::ShapeAttrs{grouped}, {mean}, kFloat, {}, "channels"),
      shape);
}

}  // namespace

// Factors and offsets are of groups until operator set 20, of channels from 21 on.
void read_group_normalization(Reader& in) {
  const Shape shape = in.shape_of(0);
  const int64_t groups = in.integer("num_groups", 0);
  if (!in.require(
          shape.size() >= 3 && groups >= 1 && shape[1] % groups == 0,
          fmt::format("normalises [{}] in {} groups of channels", fmt::join(shape, ","), groups)))
    return;
  const bool by_group = in.node().operator_set < 21;
  const auto per_each = [&](size_t operand) -> TensorId {
    TensorId id = in.operand(operand);
    const int64_t count = by_group ? groups : shape[1];
    if (!in.require(
            in.shape(id) == Shape{count},
            fmt::format("has [{}] factors or offsets for {} {}", fmt::join(in.shape(id), ","),
                        count, by_group ? "groups" : "channels")))
      return {};
    if (by_group) {
      const Shape grouped{groups, shape[1] / groups};
      id = in.emit(OpKind::BroadcastTo, graph::ShapeAttrs{grouped}, {in.reshape(id, {groups, 1})},
                   kFloat, {}, "channels");
    }
    return in.reshape(id, {shape[1]});
  };
  const TensorId factor = per_each(1), offset = per_each(2);
  if (!in.ok()) return;
  const Shape rows{shape[0], groups, element_count(shape) / (shape[0] * groups)};
  const TensorId made = normalized_integers(in,
                                            {integers(in),
                                             {2},
                                             in.real("epsilon", 1e-5f),
                                             per_channel(in, factor, shape.size()),
                                             per_channel(in, offset, shape.size()),
                                             true,
                                             rows},
                                            in.tail(false));
  if (made.valid()) return in.result(0, {made, Form::Real, {}});
  const TensorId x = in.operand(0);
  const graph::ReduceAttrs image{axes_from(2, shape.size()), true};
  const TensorId mean =
      of_groups(in, in.emit(OpKind::Mean, image, {x}, kFloat, {}, "mean"), groups);
  const TensorId centred = less(in, x, mean);
  const TensorId square = in.emit(OpKind::Square, NoAttrs{}, {centred}, kFloat, {}, "square");
  const TensorId variance =
      of_groups(in, in.emit(OpKind::Mean, image, {square}, kFloat, {}, "variance"), groups);
  if (!in.ok()) return;
  const TensorId scale = times(in, inverse_root(in, variance, in.real("epsilon", 1e-5f)),
                               per_channel(in, factor, shape.size()), "factor");
  in.result(plus(in, times(in, centred, scale), per_channel(in, offset, shape.size())));
}

void read_rms_normalization(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  const int64_t first = in.axis(in.integer("axis", -1), rank);
  if (!in.ok()) return;
  const std::vector<int64_t> axes = axes_from(static_cast<size_t>(first), rank);
  const float epsilon = in.real("epsilon", 1e-5f);
  const TensorId made = normalized_integers(
      in, {integers(in), axes, epsilon, in.operand(1), {}, false}, in.tail(false));
  if (made.valid()) return in.result(0, {made, Form::Real, {}});
  const TensorId x = in.operand(0);
  const TensorId square = in.emit(OpKind::Square, NoAttrs{}, {x}, kFloat, {}, "square");
  const TensorId mean =
      in.emit(OpKind::Mean, graph::ReduceAttrs{axes, true}, {square}, kFloat, {}, "mean");
  const TensorId inverse = inverse_root(in, mean, epsilon);
  in.result(times(in, times(in, x, inverse), in.operand(1)));
}

// What has the norm 0 stays 0.
void read_lp_normalization(Reader& in) {
  const int64_t axis = in.axis(in.integer("axis", -1), in.shape_of(0).size());
  const int64_t p = in.integer("p", 2);
  if (!in.require(p == 1 || p == 2, fmt::format("has the norm {}; 1 and 2 are possible", p)) ||
      !in.ok())
    return;
  if (const TensorId id = integers(in); p == 2 && id.valid()) {
    const auto count = static_cast<float>(in.shape(id)[static_cast<size_t>(axis)]);
    const TensorId made = normalized_integers(
        in, {id, {axis}, 0, {}, {}, false, {}, 1 / std::sqrt(count)}, in.tail(false));
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const TensorId x = in.operand(0);
  TensorId norm =
      in.emit(p == 1 ? OpKind::Abs : OpKind::Square, NoAttrs{}, {x}, kFloat, {}, "element");
  norm = in.emit(OpKind::Sum, graph::ReduceAttrs{{axis}, true}, {norm}, kFloat, {}, "sum");
  if (p == 2) norm = in.emit(OpKind::Sqrt, NoAttrs{}, {norm}, kFloat, {}, "root");
  const TensorId least = in.number(std::numeric_limits<float>::min());
  in.result(over(in, x, in.emit(OpKind::Maximum, NoAttrs{}, {norm, least}, kFloat, {}, "norm")));
}

void read_mean_variance_normalization(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  graph::ReduceAttrs along{{}, true};
  for (const int64_t axis : in.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}))
    along.axes.push_back(in.axis(axis, rank));
  std::ranges::sort(along.axes);
  if (!in.ok()) return;
  constexpr float kLeastDeviation = 1e-9f;  // the standard's own
  const TensorId x = in.operand(0);
  const TensorId centred = less(in, x, in.emit(OpKind::Mean, along, {x}, kFloat, {}, "mean"));
  const TensorId square = in.emit(OpKind::Square, NoAttrs{}, {centred}, kFloat, {}, "square");
  const TensorId variance = in.emit(OpKind::Mean, along, {square}, kFloat, {}, "variance");
  const TensorId deviation = in.emit(OpKind::Sqrt, NoAttrs{}, {variance}, kFloat, {}, "deviation");
  in.result(over(in, centred, plus(in, deviation, in.number(kLeastDeviation))));
}

// x / (bias + alpha / size * the sum of squares of `size` channels around it) ^ beta
void read_lrn(Reader& in) {
  const Shape shape = in.shape_of(0);
  const int64_t size = in.integer("size", 0);
  constexpr int64_t kMostChannels = 64;  // each is an operator
  if (!in.require(shape.size() >= 2 && size >= 1 && size <= kMostChannels,
                  fmt::format("normalises [{}] by {} channels", fmt::join(shape, ","), size)))
    return;
  const TensorId x = in.operand(0);
  graph::PadAttrs pad{std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 0)};
  pad.before[1] = (size - 1) / 2, pad.after[1] = size - 1 - pad.before[1];
  TensorId squares = in.emit(OpKind::Square, NoAttrs{}, {x}, kFloat, {}, "square");
  if (size > 1) squares = in.emit(OpKind::Pad, pad, {squares}, kFloat, {}, "pad");
  TensorId sum;
  for (int64_t i = 0; i < size; ++i) {
    graph::SliceAttrs part{
        std::vector<int64_t>(shape.size(), 0), shape, std::vector<int64_t>(shape.size(), 1), {}};
    part.begin[1] = i;
    const TensorId near =
        size == 1 ? squares : in.emit(OpKind::Slice, part, {squares}, kFloat, {}, "near");
    sum = i == 0 ? near : plus(in, sum, near);
  }
  const float alpha = in.real("alpha", 1e-4f) / static_cast<float>(size);
  const TensorId base = plus(in, times(in, sum, in.number(alpha)), in.number(in.real("bias", 1)));
  in.result(over(in, x,
                 in.emit(OpKind::Pow, NoAttrs{}, {base, in.number(in.real("beta", 0.75f))}, kFloat,
                         {}, "power")));
}

}  // namespace intarsia::onnx
