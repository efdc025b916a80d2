// Operators with weights.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "legalise/layer_maker.h"
#include "weights/weight_layout.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kMostWeights = 131071;  // of one OFM, in the device's order
constexpr int64_t kMostDirectKernel = 7;
constexpr int64_t kMostPadding = 7;

int64_t up_to_even(int64_t size) {
  return ceil_div(size, 2);
}

}  // namespace

std::vector<int16_t> LayerMaker::weights(size_t operand) const {
  const graph::Tensor& tensor = in(operand);
  const std::vector<uint8_t>& from = bytes(operand);
  const auto zero = static_cast<int16_t>(tensor.quantization.zero_point.at(0));
  std::vector<int16_t> values(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const auto value = tensor.type == DataType::Int8
                           ? static_cast<int16_t>(static_cast<int8_t>(from[i]))
                           : static_cast<int16_t>(from[i]);
    values[i] = static_cast<int16_t>(value - zero);
  }
  return values;
}

std::vector<int32_t> LayerMaker::bias(size_t operand, size_t count) const {
  std::vector<int32_t> values(count, 0);
  if (has(operand))
    std::memcpy(values.data(), bytes(operand).data(), std::min(bytes(operand).size(), 4 * count));
  return values;
}

Reason LayerMaker::set_scales(MceStep& step, int64_t ofms) const {
  const std::vector<float>& scales = in(1).quantization.scale;
  const float input = in().quantization.scale[0], output = out().quantization.scale[0];
  for (int64_t i = 0; i < ofms; ++i)
    step.scales.push_back(
        channel_scale(input, scales[scales.size() > 1 ? static_cast<size_t>(i) : 0], output));
  step.bias = bias(2, static_cast<size_t>(ofms));
  step.zero_point = quantum_of(out()).zero_point;
  return std::nullopt;
}

Reason LayerMaker::emit_weighted(MceStep step, const FeatureMap& input, const FeatureMap& output,
                                 Clamp clamp) {
  if (Reason reason = set_scales(step, step.depth)) return reason;
  if (const int64_t count = weights_of_ofm(all_.variant_, step); count > kMostWeights)
    return fmt::format("{} weights of one output channel are above {}", count, kMostWeights);
  step.relu_min = clamp.low;
  step.relu_max = clamp.high;
  FeatureMap from = input;
  if (step.stride == 2) {
    // The PLE splits the input into four sub-maps first.
    from = between(input, up_to_even(input.height), up_to_even(input.width),
                   interleaved_channels(all_.variant_, input.depth));
    PleStep interleave;
    interleave.operation = PleOperation::INTERLEAVE_2X2_2_2;
    const Quantum quantum = quantum_of(in());
    if (Reason reason = emit_identity(input, from, quantum, quantum,
                                      clamp_of(graph::Activation::None, in()), interleave))
      return reason;
  }
  Layer made = layer(from, output);
  made.ple = PleStep{};
  made.ple->operands[0].zero_point = made.ple->zero_point = output.zero_point;
  made.mce = std::move(step);
  return emit(std::move(made));
}

Reason LayerMaker::convolution() {
  const auto& attributes = node_.attrs<graph::Conv2dAttrs>();
  const FeatureMap input = read(), output = write();
  const Shape& shape = in(1).shape;
  MceStep step;
  step.mode = MceMode::Convolution;
  step.channels = input.depth;
  step.input_height = input.height, step.input_width = input.width;
  step.kernel_h = shape[1], step.kernel_w = shape[2];
  step.stride = attributes.stride_h;
  step.pad_top = attributes.padding.top, step.pad_left = attributes.padding.left;
  step.height = output.height, step.width = output.width, step.depth = output.depth;
  step.weights = weights(1);
  if (is_wide(step) && (output.width > input.width || output.height > input.height))
    return "a kernel above 7 rows or columns makes its image larger";
  return emit_weighted(std::move(step), input, output, clamp_of(attributes.activation, out()));
}

Reason LayerMaker::depthwise() {
  const auto& attributes = node_.attrs<graph::DepthwiseConv2dAttrs>();
  const FeatureMap input = read(), output = write();
  const Shape& shape = in(1).shape;
  MceStep step;
  step.channels = input.depth;
  step.input_height = input.height, step.input_width = input.width;
  step.kernel_h = shape[1], step.kernel_w = shape[2];
  step.stride = attributes.stride_h;
  step.pad_top = attributes.padding.top, step.pad_left = attributes.padding.left;
  step.height = output.height, step.width = output.width, step.depth = output.depth;
  // [y][x][c] becomes [c][y][x]; of one input channel this is a convolution.
  const std::vector<int16_t> from = weights(1);
  step.mode = attributes.multiplier > 1 ? MceMode::Convolution : MceMode::Depthwise;
  if (step.mode == MceMode::Depthwise && is_wide(step))
    return fmt::format(
        "a depthwise kernel of {} x {} is above {}, which this compiler walks only for "
        "convolutions",
        step.kernel_h, step.kernel_w, kMostDirectKernel);
  const auto taps = static_cast<size_t>(step.kernel_h * step.kernel_w),
             channels = static_cast<size_t>(step.depth);
  step.weights.resize(from.size());
  for (size_t tap = 0; tap < taps; ++tap)
    for (size_t c = 0; c < channels; ++c) step.weights[c * taps + tap] = from[tap * channels + c];
  return emit_weighted(std::move(step), input, output, clamp_of(attributes.activation, out()));
}

// A convolution over the input with zeros between its rows and columns, by the filter turned round.
Reason LayerMaker::transpose_convolution() {
  const auto& attributes = node_.attrs<graph::TransposeConv2dAttrs>();
  const FeatureMap input = read(), output = write();
  const Shape& shape = in(1).shape;
  MceStep step;
  step.mode = MceMode::Convolution;
  step.channels = input.depth;
  step.upscale = Upscale::Zeros;
  step.input_height = 2 * input.height, step.input_width = 2 * input.width;
  step.kernel_h = shape[1], step.kernel_w = shape[2];
  step.pad_top = step.kernel_h - 1 - attributes.pad_top;
  step.pad_left = step.kernel_w - 1 - attributes.pad_left;
  if (step.pad_top < 0 || step.pad_left < 0 || step.pad_top > kMostPadding ||
      step.pad_left > kMostPadding)
    return fmt::format("the convolution it becomes has padding of {} x {}, outside 0 .. {}",
                       step.pad_top, step.pad_left, kMostPadding);
  if (is_wide(step))
    return fmt::format("a kernel of {} x {} is above {}", step.kernel_h, step.kernel_w,
                       kMostDirectKernel);
  step.height = output.height, step.width = output.width, step.depth = output.depth;
  const std::vector<int16_t> from = weights(1);
  step.weights.resize(from.size());
  const auto taps = static_cast<size_t>(step.kernel_h * step.kernel_w),
             channels = static_cast<size_t>(input.depth);
  for (size_t o = 0; o < static_cast<size_t>(step.depth); ++o)
    for (size_t tap = 0; tap < taps; ++tap)
      std::copy_n(
          from.begin() + static_cast<ptrdiff_t>((o * taps + tap) * channels), channels,
          step.weights.begin() + static_cast<ptrdiff_t>((o * taps + taps - 1 - tap) * channels));
  return emit_weighted(std::move(step), input, output, clamp_of(attributes.activation, out()));
}

// A transposed convolution of stride 2 whose filter takes, for each of the four pixels that one becomes, its channels.
Reason LayerMaker::depth_to_space() {
  constexpr int64_t kBlock = 2;
  constexpr int16_t kOne = 2;  // with a scale of a half
  const Quantum quantum = quantum_of(in());
  const FeatureMap input = read(), output = write();
  MceStep step;
  step.mode = MceMode::Convolution;
  step.channels = input.depth;
  step.upscale = Upscale::Zeros;
  step.input_height = step.height = output.height, step.input_width = step.width = output.width;
  step.depth = output.depth;
  step.kernel_h = step.kernel_w = kBlock;
  step.pad_top = step.pad_left = kBlock - 1;
  if (const int64_t count = weights_of_ofm(all_.variant_, step); count > kMostWeights)
    return fmt::format("{} weights of one output channel are above {}", count, kMostWeights);
  step.weights.assign(static_cast<size_t>(step.depth * kBlock * kBlock * step.channels), 0);
  for (int64_t o = 0; o < step.depth; ++o)
    for (int64_t y = 0; y < kBlock; ++y)
      for (int64_t x = 0; x < kBlock; ++x) {
        // The filter is turned round.
        const int64_t tap = (kBlock - 1 - y) * kBlock + (kBlock - 1 - x),
                      from = (y * kBlock + x) * step.depth + o;
        step.weights[static_cast<size_t>((o * kBlock * kBlock + tap) * step.channels + from)] =
            kOne;
      }
  const auto channels = static_cast<size_t>(step.depth);
  step.bias.assign(channels, 0);
  step.scales.assign(channels, channel_scale(quantum.scale, 0.5f, quantum.scale));
  step.zero_point = quantum.zero_point;
  const Clamp all = clamp_of(graph::Activation::None, out());
  step.relu_min = all.low, step.relu_max = all.high;
  Layer made = layer(input, output);
  made.ple = PleStep{};
  made.ple->operands[0].zero_point = made.ple->zero_point = output.zero_point;
  made.mce = std::move(step);
  return emit(std::move(made));
}

Reason LayerMaker::fully_connected() {
  const auto& attributes = node_.attrs<graph::FullyConnectedAttrs>();
  const auto elements = static_cast<int64_t>(element_count(in().shape));
  FeatureMap input = read(), output = write();
  input = [&] {
    FeatureMap vector = FeatureMap::whole(input.storage, 1, 1, elements);
    vector.is_signed = input.is_signed;
    vector.zero_point = input.zero_point;
    return vector;
  }();
  MceStep step;
  step.mode = MceMode::FullyConnected;
  step.channels = elements;
  step.input_height = step.input_width = step.height = step.width = 1;
  step.depth = output.depth;
  step.weights = weights(1);
  return emit_weighted(std::move(step), input, output, clamp_of(attributes.activation, out()));
}

}  // namespace intarsia::targets::ethos_n
