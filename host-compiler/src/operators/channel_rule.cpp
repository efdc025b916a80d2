// How channels pass through an operator.
#include "operators/channel_rule.h"

namespace intarsia::operators {

using graph::Function;
using graph::Node;
using graph::Tensor;

int64_t channel_count(const Tensor& tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back();
}

bool is_constant(const Function& function, const Node& node, size_t operand) {
  return operand >= node.inputs.size() || !node.inputs[operand].valid() ||
         function.tensor(node.inputs[operand]).constant.valid();
}

ChannelRule opaque(const Function&, const Node&) {
  return {};
}

ChannelRule each_channel(const Function& function, const Node& node) {
  if (is_constant(function, node, 0)) return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  for (int64_t k = 0; k < channel_count(function.tensor(node.outputs[0])); ++k)
    rule.ties.push_back({0, k, k});
  return rule;
}

ChannelRule each_channel_of_two(const Function& function, const Node& node) {
  if (is_constant(function, node, 0) && is_constant(function, node, 1)) return {};
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

}  // namespace intarsia::operators
