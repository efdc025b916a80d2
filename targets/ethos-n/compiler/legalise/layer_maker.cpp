#include "legalise/layer_maker.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "legalise/rewrites.h"
#include "stripes/stripes.h"
#include "support/support.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kMostPadding = 7;  // rows, columns

// Height, width and channels of a tensor of batch 1; of one that is no image: a vector.
struct Extent {
  int64_t height = 1, width = 1, depth = 1;
};
Extent extent_of(const graph::Tensor& tensor) {
  if (tensor.shape.size() == 4) return {tensor.shape[1], tensor.shape[2], tensor.shape[3]};
  return {1, 1, element_count(tensor.shape)};
}

}  // namespace

Quantum quantum_of(const graph::Tensor& tensor) {
  return {tensor.quantization.scale.at(0),
          static_cast<int32_t>(tensor.quantization.zero_point.at(0))};
}

Clamp clamp_of(graph::Activation activation, const graph::Tensor& output) {
  const bool is_int8 = output.type == DataType::Int8;
  Clamp clamp{is_int8 ? -128 : 0, is_int8 ? 127 : 255};
  const Quantum quantum = quantum_of(output);
  constexpr float kFar = 1e9f;  // beyond all types, of scales that are almost nothing
  const auto quantised = [&](float real) {
    const float steps = std::round(real / quantum.scale);
    return quantum.zero_point + static_cast<int32_t>(std::clamp(steps, -kFar, kFar));
  };
  const auto limit = [&](float low, float high) {
    clamp.low = std::clamp(quantised(low), clamp.low, clamp.high);
    if (high < INFINITY) clamp.high = std::clamp(quantised(high), clamp.low, clamp.high);
  };
  if (activation == graph::Activation::Relu) limit(0, INFINITY);
  if (activation == graph::Activation::Relu6) limit(0, 6);
  if (activation == graph::Activation::ReluN1To1) limit(-1, 1);
  return clamp;
}

PleOperand ple_factor(double factor, int32_t zero_point) {
  constexpr int kPrecision = 16, kMostShift = 31;
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  // Nothing of a byte is left then.
  if (kPrecision - exponent > kMostShift) return {zero_point, 0, kPrecision};
  return {zero_point, static_cast<uint32_t>(std::ldexp(fraction, kPrecision)),
          static_cast<uint32_t>(kPrecision - exponent)};
}

// The PLE rounds twice a product in sixteen bits, in which the largest number becomes the least.
static Reason refuses_ple_factor(double factor) {
  constexpr double kMostSteps = 255, kMost = 32766;
  if (2 * kMostSteps * factor <= kMost) return std::nullopt;
  return fmt::format("an operand's scale is {:.3g} of the output's, above {:.0f}", factor,
                     std::floor(kMost / (2 * kMostSteps)));
}

FeatureMap LayerMaker::with(FeatureMap map, const Quantum& quantum) {
  map.zero_point = quantum.zero_point;
  return map;
}

FeatureMap LayerMaker::read(size_t operand) const {
  const graph::Tensor& from = in(operand);
  const Extent extent = extent_of(from);
  FeatureMap map = FeatureMap::whole(all_.maps_.at(node_.inputs[operand].index).storage,
                                     extent.height, extent.width, extent.depth);
  map.is_signed = from.type == DataType::Int8;
  map.zero_point = quantum_of(from).zero_point;
  return map;
}

FeatureMap LayerMaker::write(size_t result) {
  const graph::Tensor& to = out(result);
  const Extent extent = extent_of(to);
  const auto storage = static_cast<int32_t>(all_.program_.storages.size());
  const auto parameter = all_.output_parameters_.find(node_.outputs[result].index);
  const bool leaves = parameter != all_.output_parameters_.end();
  all_.program_.storages.push_back({leaves ? Storage::Kind::Output : Storage::Kind::Intermediate,
                                    leaves ? parameter->second : -1, to.bytes(), to.name});
  FeatureMap map = FeatureMap::whole(storage, extent.height, extent.width, extent.depth);
  map.is_signed = to.type == DataType::Int8;
  map.zero_point = quantum_of(to).zero_point;
  all_.maps_[node_.outputs[result].index] = map;
  return map;
}

FeatureMap LayerMaker::between(const FeatureMap& like, int64_t height, int64_t width, int64_t depth,
                               Layout layout) {
  const auto storage = static_cast<int32_t>(all_.program_.storages.size());
  all_.program_.storages.push_back({Storage::Kind::Intermediate, -1,
                                    bytes_of(layout, height, width, depth),
                                    fmt::format("{}_{}", node_.name, storage)});
  FeatureMap map = FeatureMap::whole(storage, height, width, depth);
  map.layout = layout;
  map.is_signed = like.is_signed;
  map.zero_point = like.zero_point;
  return map;
}

Layer LayerMaker::layer(FeatureMap input, FeatureMap output) const {
  Layer layer;
  layer.name = node_.name;
  layer.inputs = {input};
  layer.output = output;
  return layer;
}

Reason LayerMaker::emit(Layer layer) {
  const std::optional<StripePlan> plan = plan_stripes(all_.variant_, layer);
  if (!plan)
    return fmt::format(
        "no stripe of it fits into the {} KiB of SRAM, of which this compiler cuts rows and "
        "output channels but neither columns nor input channels",
        all_.variant_.sram_bytes() / 1024);
  const FeatureMap output = layer.output;
  if (plan->depth_count > 1 && output.layout == Layout::Nhwc && output.columns > 1) {
    // NHWC is not written in parts of its channels: bricks first.
    layer.output = between(output, output.height, output.width, output.depth, Layout::Nhwcb);
    const FeatureMap bricks = layer.output;
    all_.program_.layers.push_back(std::move(layer));
    return emit_copy(bricks, output);
  }
  all_.program_.layers.push_back(std::move(layer));
  return std::nullopt;
}

MceStep LayerMaker::identity(const FeatureMap& input, const Quantum& from, const Quantum& to,
                             Clamp clamp) const {
  // 2 with a scale of a half is 1.
  constexpr int16_t kWeight = 2;
  constexpr float kScale = 0.5f;
  MceStep step;
  step.mode = MceMode::Depthwise;
  step.channels = step.depth = input.depth;
  step.input_height = step.height = input.height;
  step.input_width = step.width = input.width;
  const auto channels = static_cast<size_t>(input.depth);
  step.weights.assign(channels, kWeight);
  step.bias.assign(channels, 0);
  step.scales.assign(channels, channel_scale(from.scale, kScale, to.scale));
  step.zero_point = to.zero_point;
  step.relu_min = clamp.low;
  step.relu_max = clamp.high;
  return step;
}

Reason LayerMaker::emit_identity(const FeatureMap& input, const FeatureMap& output,
                                 const Quantum& from, const Quantum& to, Clamp clamp, PleStep ple) {
  constexpr float kMostFactor = 65536;  // as of layers with weights
  if (!(from.scale / to.scale < kMostFactor))
    return fmt::format(
        "the input's scale is {:.3g} of the output's, the NPU's factors are below {}",
        from.scale / to.scale, kMostFactor);
  Layer made = layer(input, output);
  made.mce = identity(input, from, to, clamp);
  if (ple.operation != PleOperation::LEAKY_RELU && ple.operation != PleOperation::SIGMOID) {
    ple.operands[0].zero_point = to.zero_point;
    ple.zero_point = output.zero_point;
  }
  made.ple = ple;
  return emit(std::move(made));
}

Reason LayerMaker::run() {
  if (Reason reason = refuses_by_support(all_.variant_, all_.module_, all_.function_, node_))
    return reason;
  const bool has_weights =
      node_.kind == graph::OpKind::Conv2d || node_.kind == graph::OpKind::DepthwiseConv2d ||
      node_.kind == graph::OpKind::TransposeConv2d || node_.kind == graph::OpKind::FullyConnected;
  for (size_t i = 0; i < (has_weights ? 1 : node_.inputs.size()); ++i)
    if (in(i).constant.valid()) return fmt::format("operand {} is a constant", i);
  switch (node_.kind) {
    case graph::OpKind::Conv2d:
      return convolution();
    case graph::OpKind::DepthwiseConv2d:
      return depthwise();
    case graph::OpKind::TransposeConv2d:
      return transpose_convolution();
    case graph::OpKind::FullyConnected:
      return fully_connected();
    case graph::OpKind::DepthToSpace:
      return depth_to_space();
    case graph::OpKind::MaxPool2d:
      return max_pool();
    case graph::OpKind::AveragePool2d:
      return average_pool();
    case graph::OpKind::Mean:
      return mean();
    case graph::OpKind::Add:
      return add();
    case graph::OpKind::Logistic:
    case graph::OpKind::Tanh:
      return sigmoid_or_tanh();
    case graph::OpKind::LeakyRelu:
      return leaky_relu();
    case graph::OpKind::Relu:
      return relu();
    case graph::OpKind::Quantize:
      return requantise();
    case graph::OpKind::Pad:
      return pad();
    case graph::OpKind::ResizeNearest:
      return resize();
    case graph::OpKind::Reshape:
      return reshape();
    case graph::OpKind::Concat:
      return concat();
    case graph::OpKind::Split:
      return split();
    case graph::OpKind::Mul:
      return "the multiplication kernel takes products for unsigned, so that negative ones "
             "saturate";
    default:
      return fmt::format("this compiler has no layers for {} yet", graph::to_string(node_.kind));
  }
}

Reason LayerMaker::relu() {
  const auto& attributes = node_.attrs<graph::ReluAttrs>();
  return emit_identity(read(), write(), quantum_of(in()), quantum_of(out()),
                       clamp_of(attributes.activation, out()), {});
}

bool LayerMaker::run_as_relu() {
  const bool is_maximum = node_.kind == graph::OpKind::Maximum;
  if (!is_maximum && node_.kind != graph::OpKind::Minimum) return false;
  const size_t constant = in(0).constant.valid() ? 0 : 1, operand = 1 - constant;
  if (!in(constant).constant.valid() || in(operand).constant.valid() || in(operand).variable)
    return false;
  const std::vector<uint8_t>& values = bytes(constant);
  const bool is_one =
      std::all_of(values.begin(), values.end(), [&](uint8_t value) { return value == values[0]; });
  const int64_t elements = element_count(in(operand).shape);
  const DataType type = in(operand).type;
  if (!is_one || elements != element_count(out().shape) || in(constant).type != type ||
      out().type != type || (type != DataType::Int8 && type != DataType::UInt8) ||
      in(operand).quantization.scale.size() != 1)
    return false;
  // The numbers that are stored are compared, whatever they stand for.
  Clamp clamp = clamp_of(graph::Activation::None, in(operand));
  (is_maximum ? clamp.low : clamp.high) =
      type == DataType::Int8 ? static_cast<int8_t>(values[0]) : values[0];
  const Shape shape = as_image(in(operand).shape);
  const Quantum quantum = quantum_of(in(operand));
  Query query;
  query.kind = QueryKind::Relu;
  query.inputs.resize(1);
  query.inputs[0].type = type;
  std::copy(shape.begin(), shape.end(), query.inputs[0].shape.begin());
  query.inputs[0].scales = {quantum.scale};
  query.inputs[0].zero_point = quantum.zero_point;
  query.low = clamp.low, query.high = clamp.high;
  if (ask(all_.variant_, query).support != Support::Supported) return false;
  const auto shaped = [&](const FeatureMap& map) {
    FeatureMap image = FeatureMap::whole(map.storage, shape[1], shape[2], shape[3]);
    image.is_signed = map.is_signed, image.zero_point = quantum.zero_point;
    return image;
  };
  return !emit_identity(shaped(read(operand)), shaped(write()), quantum, quantum, clamp, {});
}

Reason LayerMaker::requantise() {
  return emit_identity(read(), write(), quantum_of(in()), quantum_of(out()),
                       clamp_of(graph::Activation::None, out()), {});
}

// The result of the exponential is a function of the input's scale; the MCE changes nothing.
Reason LayerMaker::sigmoid_or_tanh() {
  const Quantum quantum = quantum_of(in());
  const double factor = node_.kind == graph::OpKind::Tanh ? 2 : 1;
  PleStep ple;
  ple.operation = PleOperation::SIGMOID;
  ple.operands[0] =
      ple_factor(factor * static_cast<double>(quantum.scale) * std::log2(std::exp(1.0)) * 256,
                 quantum.zero_point);
  ple.zero_point = quantum_of(out()).zero_point;
  return emit_identity(read(), write(), quantum, quantum, clamp_of(graph::Activation::None, in()),
                       ple);
}

Reason LayerMaker::leaky_relu() {
  const Quantum from = quantum_of(in()), to = quantum_of(out());
  const double factor = static_cast<double>(from.scale) / static_cast<double>(to.scale);
  if (Reason reason = refuses_ple_factor(factor)) return reason;
  PleStep ple;
  ple.operation = PleOperation::LEAKY_RELU;
  ple.operands[0] = ple_factor(factor, from.zero_point);
  ple.operands[1] = ple_factor(
      factor * static_cast<double>(node_.attrs<graph::LeakyReluAttrs>().alpha), from.zero_point);
  ple.zero_point = to.zero_point;
  return emit_identity(read(), write(), from, from, clamp_of(graph::Activation::None, in()), ple);
}

Reason LayerMaker::add() {
  const Quantum a = quantum_of(in(0)), b = quantum_of(in(1)), sum = quantum_of(out());
  const auto activation = node_.attrs<graph::BinaryAttrs>().activation;
  const bool clamps = activation != graph::Activation::None;
  FeatureMap first = read(0), second = read(1);
  const FeatureMap output = write();
  const FeatureMap result =
      clamps ? between(output, output.height, output.width, output.depth) : output;
  Layer made = layer(first, result);
  made.inputs.push_back(second);
  PleStep ple;
  const bool same = a == b && b == sum;
  const auto factor_of = [&](const Quantum& from) {
    return static_cast<double>(from.scale) / static_cast<double>(sum.scale);
  };
  for (const Quantum& from : {a, b})
    if (Reason reason = refuses_ple_factor(factor_of(from)); reason && !same) return reason;
  ple.operation = same ? PleOperation::ADDITION : PleOperation::ADDITION_RESCALE;
  const auto operand = [&](const Quantum& from) {
    return same ? PleOperand{from.zero_point, 0, 0} : ple_factor(factor_of(from), from.zero_point);
  };
  ple.operands = {operand(a), operand(b)};
  ple.zero_point = sum.zero_point;
  made.ple = ple;
  if (Reason reason = emit(std::move(made)); reason || !clamps) return reason;
  return emit_identity(result, output, sum, sum, clamp_of(activation, out()), {});
}

Reason LayerMaker::reshape() {
  const int32_t storage = all_.maps_.at(node_.inputs[0].index).storage;
  if (all_.output_parameters_.contains(node_.outputs[0].index)) {
    // The bytes are the same whatever the shapes are: rows of eight columns where there are eight.
    const Shape flat = flat_shape(element_count(in().shape));
    FeatureMap from = FeatureMap::whole(storage, flat[1], flat[2], flat[3]), to = write();
    to = FeatureMap::whole(to.storage, from.rows, from.columns, from.channels);
    from.zero_point = to.zero_point = quantum_of(in()).zero_point;
    from.is_signed = to.is_signed = in().type == DataType::Int8;
    return emit_copy(from, to);
  }
  FeatureMap map;
  map.storage = storage;
  all_.maps_[node_.outputs[0].index] = map;
  return std::nullopt;
}

Reason LayerMaker::pad() {
  const auto& attributes = node_.attrs<graph::PadAttrs>();
  const FeatureMap input = read(), output = write();
  if (attributes.before.at(1) > kMostPadding || attributes.before.at(2) > kMostPadding)
    return fmt::format("padding of {} x {} is above {}", attributes.before[1], attributes.before[2],
                       kMostPadding);
  Layer made = layer(input, output);
  made.mce = identity(input, quantum_of(in()), quantum_of(out()),
                      clamp_of(graph::Activation::None, out()));
  made.mce->pad_top = attributes.before[1];
  made.mce->pad_left = attributes.before[2];
  made.mce->height = output.height;
  made.mce->width = output.width;
  made.ple = PleStep{};
  made.ple->operands[0].zero_point = made.ple->zero_point = output.zero_point;
  return emit(std::move(made));
}

Reason LayerMaker::resize() {
  const auto& attributes = node_.attrs<graph::ResizeAttrs>();
  if (attributes.align_corners)
    return "corners are aligned, for which the device has no arithmetic that is known";
  const Extent from = extent_of(in()), to = extent_of(out());
  if (attributes.half_pixel_centers && (to.height != 2 * from.height || to.width != 2 * from.width))
    return "half pixel centres of an image that does not double do not repeat each pixel, as the "
           "device does";
  const FeatureMap input = read(), output = write();
  Layer made = layer(input, output);
  made.mce = identity(input, quantum_of(in()), quantum_of(out()),
                      clamp_of(graph::Activation::None, out()));
  made.mce->upscale = Upscale::Nearest;
  made.mce->input_height = made.mce->height = output.height;
  made.mce->input_width = made.mce->width = output.width;
  made.ple = PleStep{};
  made.ple->operands[0].zero_point = made.ple->zero_point = output.zero_point;
  return emit(std::move(made));
}

}  // namespace intarsia::targets::ethos_n
