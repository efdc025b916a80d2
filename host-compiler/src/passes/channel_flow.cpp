#include "passes/channel_flow.h"

#include <algorithm>

#include "intarsia/op_families.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;

// Output channel k is made of input channel k.
ChannelRule each_channel(const Function& function, const Node& node) {
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  for (int64_t k = 0; k < channel_count(function.tensor(node.outputs[0])); ++k)
    rule.ties.push_back({0, k, k});
  return rule;
}

ChannelRule depthwise(const Function& function, const Node& node) {
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  const int64_t multiplier = node.attrs<graph::DepthwiseConv2dAttrs>().multiplier;
  for (int64_t k = 0; k < channel_count(function.tensor(node.outputs[0])); ++k)
    rule.ties.push_back({0, k / multiplier, k});
  return rule;
}

// The last axis may become part of a longer one, or be split.
ChannelRule reshape(const Function& function, const Node& node) {
  const int64_t in = channel_count(function.tensor(node.inputs[0]));
  const int64_t out = channel_count(function.tensor(node.outputs[0]));
  if (in % out != 0 && out % in != 0) return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  for (int64_t k = 0; k < std::max(in, out); ++k) rule.ties.push_back({0, k % in, k % out});
  return rule;
}

ChannelRule binary(const Function& function, const Node& node) {
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  const int64_t channels = channel_count(function.tensor(node.outputs[0]));
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    const Tensor& tensor = function.tensor(node.inputs[operand]);
    if (tensor.constant.valid()) continue;
    if (channel_count(tensor) != channels) {
      rule.broadcast.push_back(operand);
      continue;
    }
    for (int64_t k = 0; k < channels; ++k) rule.ties.push_back({operand, k, k});
  }
  return rule;
}

ChannelRule concat(const Function& function, const Node& node) {
  const auto axis = static_cast<size_t>(node.attrs<graph::AxisAttrs>().axis);
  const bool along_channels = axis + 1 == function.tensor(node.outputs[0]).shape.size();
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  int64_t first = 0;
  for (size_t operand = 0; operand < node.inputs.size(); ++operand) {
    const Tensor& tensor = function.tensor(node.inputs[operand]);
    if (tensor.constant.valid()) return {};
    for (int64_t k = 0; k < channel_count(tensor); ++k)
      rule.ties.push_back({operand, k, first + k});
    if (along_channels) first += channel_count(tensor);
  }
  return rule;
}

// A slice of places, not of channels.
bool keeps_last_axis(const graph::SliceAttrs& a, const Shape& input) {
  return !input.empty() && a.begin.back() == 0 && a.size.back() == input.back() &&
         a.stride.back() == 1 &&
         std::ranges::find(a.drop, static_cast<int64_t>(input.size()) - 1) == a.drop.end();
}

ChannelRule pad(const Function& function, const Node& node) {
  if (function.tensor(node.inputs[0]).shape.empty()) return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  const int64_t before = node.attrs<graph::PadAttrs>().before.back();
  for (int64_t k = 0; k < channel_count(function.tensor(node.inputs[0])); ++k)
    rule.ties.push_back({0, k, before + k});
  return rule;
}

}  // namespace

int64_t channel_count(const Tensor& tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back();
}

ChannelNumbers::ChannelNumbers(const Function& function) {
  for (const Tensor& tensor : function.tensors) {
    first_.push_back(count_);
    if (!tensor.constant.valid()) count_ += static_cast<size_t>(channel_count(tensor));
  }
}

bool is_binary(OpKind kind) {
  const bool may_fail = kind == OpKind::Pow || kind == OpKind::FloorDiv ||
                        kind == OpKind::FloorMod;  // by their operands
  return graph::is_elementwise_binary(kind) && !may_fail;
}

bool is_unary(OpKind kind) {
  return graph::is_elementwise_unary(kind);
}

ChannelRule channel_rule(const Function& function, const Node& node) {
  const auto is_constant = [&](size_t operand) {
    return operand >= node.inputs.size() || !node.inputs[operand].valid() ||
           function.tensor(node.inputs[operand]).constant.valid();
  };
  const Tensor* input =
      node.inputs.empty() || !node.inputs[0].valid() ? nullptr : &function.tensor(node.inputs[0]);
  if (input == nullptr) return {};
  if (is_unary(node.kind)) return is_constant(0) ? ChannelRule{} : each_channel(function, node);
  if (is_binary(node.kind))
    return is_constant(0) && is_constant(1) ? ChannelRule{} : binary(function, node);
  switch (node.kind) {
    case OpKind::Conv2d:
    case OpKind::FullyConnected:
    case OpKind::DepthwiseConv2d: {
      if (is_constant(0) || !is_constant(1) || !is_constant(2) || !is_integer(input->type))
        return {};
      if (node.kind == OpKind::DepthwiseConv2d) return depthwise(function, node);
      const Tensor& weights = function.tensor(node.inputs[1]);
      const int64_t depth = weights.shape.back();
      const bool sums_all = node.kind == OpKind::Conv2d ? depth == channel_count(*input)
                                                        : depth % channel_count(*input) == 0;
      return sums_all ? ChannelRule{ChannelFlow::Weighted, {}, {}} : ChannelRule{};
    }
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
    case OpKind::ResizeNearest:
    case OpKind::ResizeBilinear:
      return is_constant(0) ? ChannelRule{} : each_channel(function, node);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin: {
      const auto& axes = node.attrs<graph::ReduceAttrs>().axes;
      const auto last = static_cast<int64_t>(input->shape.size()) - 1;
      if (is_constant(0) || std::ranges::binary_search(axes, last)) return {};
      return each_channel(function, node);
    }
    case OpKind::Reshape:
      return is_constant(0) ? ChannelRule{} : reshape(function, node);
    case OpKind::Pad:
      return is_constant(0) ? ChannelRule{} : pad(function, node);
    case OpKind::PadV2:
      return is_constant(0) || !is_constant(1) ? ChannelRule{} : pad(function, node);
    case OpKind::Concat:
      return concat(function, node);
    case OpKind::Slice:
      return !is_constant(0) && keeps_last_axis(node.attrs<graph::SliceAttrs>(), input->shape)
                 ? each_channel(function, node)
                 : ChannelRule{};
    default:
      return {};
  }
}

WeightLayout weight_layout(const Function& function, const Node& node) {
  const Shape& shape = function.tensor(node.inputs[1]).shape;
  const int64_t channels = channel_count(function.tensor(node.inputs[0]));
  if (node.kind == OpKind::Conv2d) return {shape[0], shape[1] * shape[2], shape[3], channels};
  return {shape[0], 1, shape[1], channels};
}

}  // namespace intarsia::passes
