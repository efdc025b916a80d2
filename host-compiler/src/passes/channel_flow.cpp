#include "passes/channel_flow.h"

#include "intarsia/plugin/op_families.h"
#include "operators/operator.h"

namespace intarsia::passes {
using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;

ChannelNumbers::ChannelNumbers(const Function& function) {
  for (const Tensor& tensor : function.tensors) {
    first_.push_back(count_);
    if (!tensor.constant.valid()) count_ += static_cast<size_t>(channel_count(tensor));
  }
}

bool is_binary(OpKind kind) {
  return graph::is_elementwise_binary(kind);
}

bool is_unary(OpKind kind) {
  return graph::is_elementwise_unary(kind);
}

ChannelRule channel_rule(const Function& function, const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid()) return {};
  const operators::Operator& row = operators::operator_of(node.kind);
  if (row.channels != nullptr) return row.channels(function, node);
  if (is_unary(node.kind)) return operators::each_channel(function, node);
  if (is_binary(node.kind)) return operators::each_channel_of_two(function, node);
  return {};
}

WeightLayout weight_layout(const Function& function, const Node& node) {
  const Shape& shape = function.tensor(node.inputs[1]).shape;
  const int64_t channels = channel_count(function.tensor(node.inputs[0]));
  if (node.kind == OpKind::Conv2d) return {shape[0], shape[1] * shape[2], shape[3], channels};
  return {shape[0], 1, shape[1], channels};
}

}  // namespace intarsia::passes
