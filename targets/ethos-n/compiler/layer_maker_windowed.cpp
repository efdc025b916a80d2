// Pools, means, and what only moves.
#include <algorithm>

#include <fmt/format.h>

#include "layer_maker.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kBrickChannels = 16;

bool is_padded_at_the_end(const graph::Padding2d& pad) { return pad.bottom == 1 && pad.right == 1; }

}  // namespace

Reason LayerMaker::max_pool() {
  const auto& attributes = node_.attrs<graph::Pool2dAttrs>();
  if (attributes.stride_h != 2) return "a maximum pooling of stride 1 takes passes that this compiler does not make";
  const FeatureMap input = read(), output = write();
  PleStep ple;
  if (attributes.filter_h == 1) ple.operation = PleOperation::DOWNSAMPLE_2X2;
  if (attributes.filter_h == 2) ple.operation = PleOperation::MAXPOOL_2X2_2_2;
  if (attributes.filter_h == 3)
    ple.operation = is_padded_at_the_end(attributes.padding) ? PleOperation::MAXPOOL_3X3_2_2_EVEN
                                                             : PleOperation::MAXPOOL_3X3_2_2_ODD;
  const Quantum from = quantum_of(in()), to = quantum_of(out());
  return emit_identity(input, output, from, to, clamp_of(attributes.activation, out()), ple);
}

Reason LayerMaker::average(int64_t filter_h, int64_t, graph::Activation activation) {
  const Quantum from = quantum_of(in()), to = quantum_of(out());
  const bool changes = !(from == to) || activation != graph::Activation::None;
  // A finer output would show the rounding of the mean.
  if (from.scale > to.scale)
    return fmt::format("the result's scale {:.6g} is finer than the operand's {:.6g}", to.scale, from.scale);
  const FeatureMap input = read(), output = write();
  const FeatureMap mean = changes ? with(between(input, output.height, output.width, output.depth), from) : output;
  PleStep ple;
  ple.operation = filter_h == 7   ? PleOperation::MEAN_XY_7X7
                  : filter_h == 8 ? PleOperation::MEAN_XY_8X8
                                  : PleOperation::AVGPOOL_3X3_1_1_UDMA;
  if (ple.operation == PleOperation::AVGPOOL_3X3_1_1_UDMA) {
    Layer made = layer(input, mean);
    ple.operands[0].zero_point = ple.zero_point = from.zero_point;
    made.ple = ple;
    if (Reason reason = emit(std::move(made))) return reason;
  } else if (Reason reason = emit_identity(input, mean, from, from, clamp_of(graph::Activation::None, in()), ple)) {
    return reason;
  }
  if (!changes) return std::nullopt;
  return emit_identity(mean, output, from, to, clamp_of(activation, out()), {});
}

Reason LayerMaker::average_pool() {
  const auto& attributes = node_.attrs<graph::Pool2dAttrs>();
  return average(attributes.filter_h, attributes.filter_w, attributes.activation);
}

Reason LayerMaker::mean() { return average(in().shape.at(1), in().shape.at(2), graph::Activation::None); }

// Each operand to its box of the result.
Reason LayerMaker::concat() {
  const auto axis = static_cast<size_t>(node_.attrs<graph::AxisAttrs>().axis);
  const FeatureMap output = write();
  const Quantum to = quantum_of(out());
  FeatureMap gathered = output;
  if (axis == 3) gathered = between(output, output.height, output.width, output.depth, Layout::Nhwcb);
  int64_t at = 0;
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    const FeatureMap input = read(i);
    FeatureMap box = gathered;
    box.height = input.height, box.width = input.width, box.depth = input.depth;
    (axis == 1 ? box.y : axis == 2 ? box.x : box.c) = at;
    if (axis == 3 && at % kBrickChannels != 0)
      return fmt::format("operand {} begins at channel {}, no multiple of {}: this compiler leaves no gaps", i, at,
                         kBrickChannels);
    at += in(i).shape.at(axis);
    const Quantum from = quantum_of(in(i));
    // TFLite's kernels take the bytes as they are, the stack would requantise them.
    if (!(from == to)) return fmt::format("operand {} and the result differ in quantisation", i);
    if (Reason reason = emit_copy(input, box))
      return reason;
  }
  return axis == 3 ? emit_copy(gathered, output) : std::nullopt;
}

Reason LayerMaker::split() {
  const auto& attributes = node_.attrs<graph::SplitAttrs>();
  const auto axis = static_cast<size_t>(attributes.axis);
  const FeatureMap input = read();
  FeatureMap whole = input;
  if (axis == 3) {
    whole = between(input, input.height, input.width, input.depth, Layout::Nhwcb);
    if (Reason reason = emit_copy(input, whole)) return reason;
  }
  int64_t at = 0;
  for (size_t i = 0; i < attributes.sizes.size(); ++i) {
    FeatureMap box = whole;
    (axis == 1 ? box.height : axis == 2 ? box.width : box.depth) = attributes.sizes[i];
    (axis == 1 ? box.y : axis == 2 ? box.x : box.c) = at;
    if (axis == 3 && at % kBrickChannels != 0)
      return fmt::format("part {} begins at channel {}, no multiple of {}", i, at, kBrickChannels);
    at += attributes.sizes[i];
    if (Reason reason = emit_copy(box, write(i))) return reason;
  }
  return std::nullopt;
}

}  // namespace intarsia::targets::ethos_n
