#include "import/onnx/scaled_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "import/onnx/weighted.h"

namespace intarsia::onnx {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr size_t kHybridWeights = 1, kHybridBias = 2, kHybridScales = 3, kHybridZeroPoints = 4;

// A layer and what only moves its results.
struct Layer {
  graph::Node layer;
  std::vector<graph::Node> moves;  // the last one first
  size_t channel_axis = 0;         // of what is moved
};

bool is_hybrid(OpKind kind) {
  return kind == OpKind::HybridFullyConnected || kind == OpKind::HybridConv2d ||
         kind == OpKind::HybridDepthwiseConv2d;
}

// Channels are the last axis of a layer, and stay one of as many elements through transpositions; a reshape may give a line another rank.
std::optional<Layer> moved_layer(Reader& in, TensorId id) {
  Layer found;
  for (;;) {
    const graph::Node* maker = in.maker_of(id);
    if (maker == nullptr) return std::nullopt;
    if (is_hybrid(maker->kind)) {
      found.layer = *maker;
      break;
    }
    if (maker->kind != OpKind::Transpose && maker->kind != OpKind::Reshape) return std::nullopt;
    found.moves.push_back(*maker);
    id = maker->inputs[0];
  }
  const int64_t channels = in.shape(found.layer.outputs[0]).back();
  found.channel_axis = in.shape(found.layer.outputs[0]).size() - 1;
  for (auto move = found.moves.rbegin(); move != found.moves.rend(); ++move) {
    const Shape& shape = in.shape(move->outputs[0]);
    if (move->kind == OpKind::Transpose) {
      const auto& order = move->attrs<graph::TransposeAttrs>().permutation;
      const auto axis = static_cast<int64_t>(found.channel_axis);
      found.channel_axis = static_cast<size_t>(std::ranges::find(order, axis) - order.begin());
    } else {
      // The elements before the channels, and the channels, stay together.
      const Shape& before = in.shape(move->inputs[0]);
      const auto outer = [](const Shape& of, size_t axis) {
        return element_count(Shape(of.begin(), of.begin() + static_cast<ptrdiff_t>(axis)));
      };
      size_t axis = 0;
      while (axis < shape.size() &&
             (shape[axis] != channels || outer(shape, axis) != outer(before, found.channel_axis)))
        ++axis;
      if (axis == shape.size()) return std::nullopt;
      found.channel_axis = axis;
    }
  }
  return found;
}

// A number of each channel, or one: the shape is right for a tensor of this rank.
bool is_of_channels(const Shape& shape, size_t rank, size_t axis, int64_t channels) {
  if (element_count(shape) == 1) return shape.size() <= rank;
  if (shape.size() > rank) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t at = rank - shape.size() + i;
    if (shape[i] != (at == axis ? channels : 1)) return false;
  }
  return true;
}

void activate(graph::Node& layer, graph::Activation activation) {
  if (auto* full = std::get_if<graph::FullyConnectedAttrs>(&layer.attributes))
    full->activation = activation;
  if (auto* image = std::get_if<graph::Conv2dAttrs>(&layer.attributes))
    image->activation = activation;
  if (auto* channels = std::get_if<graph::DepthwiseConv2dAttrs>(&layer.attributes))
    channels->activation = activation;
}

// The bytes' scale and zero point are what the layer is told that they are, once for all.
bool has_known_scale(const Reader& in, const graph::Node& layer) {
  const TensorId scales = layer.inputs[kHybridScales], zeros = layer.inputs[kHybridZeroPoints];
  const graph::Quantization& q = in.tensor(layer.inputs[0]).quantization;
  return in.is_constant(scales) && in.is_constant(zeros) && q.present() && !q.per_channel() &&
         as_reals(in.values_of(scales)) == std::vector<float>{q.scale[0]} &&
         as_integers(in.values_of(zeros)) == q.zero_point;
}

OpKind of_integers(OpKind hybrid) {
  if (hybrid == OpKind::HybridFullyConnected) return OpKind::FullyConnected;
  return hybrid == OpKind::HybridConv2d ? OpKind::Conv2d : OpKind::DepthwiseConv2d;
}

// The layer with results on the scale that follows.
TensorId emit_integer_layer(Reader& in, const Layer& found, const QuantizedAs& as) {
  const graph::Node& layer = found.layer;
  const TensorId x = layer.inputs[0], w = layer.inputs[kHybridWeights];
  TensorId bias = layer.inputs[kHybridBias];
  if (bias.valid()) {
    const std::vector<float> reals = as_reals(in.values_of(bias));
    bias = bias_in_steps(in, {reals.begin(), reals.end()}, x, w);
  }
  if (layer.inputs[kHybridBias].valid() != bias.valid()) return {};
  TensorId id = in.emit(of_integers(layer.kind), layer.attributes, {x, w, bias}, as.type,
                        as.quantization, "layer");
  for (auto move = found.moves.rbegin(); move != found.moves.rend(); ++move)
    id = in.emit(move->kind, move->attributes, {id}, as.type, as.quantization, "moved");
  return id;
}

Value emit_layer(Reader& in, const Layer& found, const Tail& tail) {
  if (tail.as && has_known_scale(in, found.layer)) {
    const TensorId made = emit_integer_layer(in, found, *tail.as);
    return {made, Form::Real, {}};
  }
  TensorId id =
      in.emit(found.layer.kind, found.layer.attributes, found.layer.inputs, kFloat, {}, "layer");
  for (auto move = found.moves.rbegin(); move != found.moves.rend(); ++move)
    id = in.emit(move->kind, move->attributes, {id}, kFloat, {}, "moved");
  return {id, Form::Plain, {}};
}

// The layer whose sums, as whole numbers, `id` has as floats.
std::optional<Layer> summing_layer(Reader& in, TensorId id) {
  const auto cast_to = [&](TensorId of, DataType type) {
    const graph::Node* maker = in.maker_of(of);
    return maker != nullptr && maker->kind == OpKind::Cast && in.tensor(of).type == type
               ? maker->inputs[0]
               : TensorId{};
  };
  const TensorId whole = cast_to(id, kFloat);
  if (!whole.valid()) return std::nullopt;
  const TensorId sums = cast_to(whole, DataType::Int32);
  return sums.valid() ? moved_layer(in, sums) : std::nullopt;
}

// One number that the running model has as a scale of each of these rows.
TensorId scale_of_rows(Reader& in, TensorId running, const Shape& rows) {
  TensorId source = running;
  for (const graph::Node* maker = in.maker_of(source); maker != nullptr;
       maker = in.maker_of(source)) {
    if (maker->kind == OpKind::QuantizeRows && maker->attrs<graph::QuantizeRowsAttrs>().together &&
        source == maker->outputs[1] && in.shape(source) == rows)
      return source;
    if (maker->kind != OpKind::Reshape && maker->kind != OpKind::Slice) break;
    source = maker->inputs[0];
  }
  const TensorId scales = in.reshape(running, {1});
  return rows == Shape{1}
             ? scales
             : in.emit(OpKind::BroadcastTo, graph::ShapeAttrs{rows}, {scales}, kFloat, {}, "rows");
}

// A layer whose scales are known, times known numbers above 0.
Value with_factor(Reader& in, TensorId id, TensorId factor, const Tail& tail) {
  auto found = in.is_constant(factor) ? moved_layer(in, id) : std::nullopt;
  if (!found || !has_known_scale(in, found->layer)) return {};
  graph::Node& layer = found->layer;
  const int64_t channels = in.shape(layer.outputs[0]).back();
  const std::vector<float> factors = as_reals(in.values_of(factor));
  if (!is_of_channels(in.shape(factor), in.shape(id).size(), found->channel_axis, channels) ||
      std::ranges::any_of(factors, [](float one) { return !std::isnormal(one) || one < 0; }))
    return {};
  const auto factor_of = [&](size_t channel) { return factors[factors.size() == 1 ? 0 : channel]; };
  const TensorId weights = layer.inputs[kHybridWeights];
  graph::Quantization q = in.tensor(weights).quantization;
  const size_t scales = std::max(q.scale.size(), factors.size());
  q.scale.resize(scales, q.scale[0]), q.zero_point.resize(scales, 0);
  for (size_t i = 0; i < scales; ++i) q.scale[i] *= factor_of(i);
  q.axis = layer.kind == OpKind::HybridDepthwiseConv2d ? 3 : 0;
  layer.inputs[kHybridWeights] = in.make_constant(in.values_of(weights), q);
  if (layer.inputs[kHybridBias].valid()) {
    std::vector<float> bias = as_reals(in.values_of(layer.inputs[kHybridBias]));
    for (size_t i = 0; i < bias.size(); ++i) bias[i] *= factor_of(i);
    layer.inputs[kHybridBias] = in.make_constant(real_values({channels}, bias));
  }
  activate(layer, tail.activation);
  return emit_layer(in, *found, tail);
}

Value with_scale(Reader& in, TensorId sums, TensorId scale, const Tail& tail) {
  auto found = summing_layer(in, sums);
  if (!found) return {};
  graph::Node& layer = found->layer;
  // One number of the running model, or that and one of each channel which is known.
  TensorId running = scale;
  std::vector<float> known{1.0f};
  const int64_t channels = in.shape(layer.outputs[0]).back();
  const graph::Node* product = in.maker_of(scale);
  if (element_count(in.shape(scale)) != 1 || (product != nullptr && product->kind == OpKind::Mul)) {
    if (product == nullptr || product->kind != OpKind::Mul) return {};
    const size_t which = in.is_constant(product->inputs[0]) ? 0 : 1;
    if (!in.is_constant(product->inputs[which])) return {};
    known = as_reals(in.values_of(product->inputs[which]));
    running = product->inputs[1 - which];
  }
  if (element_count(in.shape(running)) != 1 || in.tensor(running).type != kFloat ||
      !is_of_channels(in.shape(scale), in.shape(sums).size(), found->channel_axis, channels) ||
      (known.size() != 1 && std::ssize(known) != channels))
    return {};
  // Weights have scales above 0.
  if (std::ranges::any_of(known, [](float one) { return !std::isnormal(one) || one < 0; }))
    return {};
  const TensorId weights = layer.inputs[kHybridWeights];
  graph::Quantization q{known, std::vector<int64_t>(known.size(), 0), 0};
  if (layer.kind == OpKind::HybridDepthwiseConv2d) q.axis = 3;
  const Shape rows = in.shape(layer.inputs[kHybridScales]);
  const TensorId scales = scale_of_rows(in, running, rows);
  layer.inputs[kHybridWeights] = in.make_constant(in.values_of(weights), q);
  layer.inputs[kHybridScales] = scales;
  activate(layer, tail.activation);
  return emit_layer(in, *found, tail);
}

Value with_bias(Reader& in, TensorId id, TensorId bias, const Tail& tail) {
  auto found = in.is_constant(bias) ? moved_layer(in, id) : std::nullopt;
  if (!found) return {};
  graph::Node& layer = found->layer;
  const int64_t channels = in.shape(layer.outputs[0]).back();
  if (layer.inputs[kHybridBias].valid() || element_count(in.shape(bias)) != channels ||
      !is_of_channels(in.shape(bias), in.shape(id).size(), found->channel_axis, channels))
    return {};
  layer.inputs[kHybridBias] =
      in.make_constant(real_values({channels}, as_reals(in.values_of(bias))));
  activate(layer, tail.activation);
  return emit_layer(in, *found, tail);
}

}  // namespace

Value layer_with(Reader& in, OpKind kind, const Tail& tail) {
  if (kind != OpKind::Mul && kind != OpKind::Add) return {};
  for (const size_t i : {0, 1}) {
    const std::string& made = in.node().inputs[i];
    const TensorId id = in.value(i).tensor;
    if (!in.is_read_once(made) || in.is_real(i) || in.tensor(id).type != kFloat) continue;
    const bool is_known = in.is_constant(in.value(1 - i).tensor);
    if (in.is_real(1 - i) && !is_known) continue;
    const Node* cast = in.operator_of(made);
    const bool is_sum = cast != nullptr && cast->type == "Cast" && in.is_read_once(cast->inputs[0]);
    Value layer;
    layer.tensor = in.attempt([&]() -> TensorId {
      const TensorId other = in.operand(1 - i);
      if (in.tensor(other).type != kFloat) return {};
      layer = kind == OpKind::Add ? with_bias(in, id, other, tail)
              : is_sum            ? with_scale(in, id, other, tail)
                                  : with_factor(in, id, other, tail);
      return layer.tensor;
    });
    if (layer.tensor.valid()) return layer;
  }
  return {};
}

}  // namespace intarsia::onnx
