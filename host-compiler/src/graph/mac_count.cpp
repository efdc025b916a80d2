#include "intarsia/graph.h"

namespace intarsia::graph {

int64_t mac_count(const Function& function, const Node& node) {
  const auto weights = [&]() -> const Shape& { return function.tensor(node.inputs[1]).shape; };
  const auto outputs = [&] { return element_count(function.tensor(node.outputs[0]).shape); };
  switch (node.kind) {
    case OpKind::Conv2d:
      return outputs() * weights()[1] * weights()[2] * weights()[3];
    case OpKind::DepthwiseConv2d:
      return outputs() * weights()[1] * weights()[2];
    case OpKind::FullyConnected:
      return outputs() * weights()[1];
    case OpKind::TransposeConv2d:
      return element_count(function.tensor(node.inputs[0]).shape) * weights()[0] * weights()[1] *
             weights()[2];
    case OpKind::BatchMatmul: {
      const Shape& a = function.tensor(node.inputs[0]).shape;
      const bool transposed = node.attrs<BatchMatmulAttrs>().transpose_a;
      return outputs() * (transposed ? a[a.size() - 2] : a.back());
    }
    case OpKind::Svdf: {
      const int64_t batches = function.tensor(node.inputs[0]).shape[0];
      const Shape& time = function.tensor(node.inputs[2]).shape;
      return batches * weights()[0] * (weights()[1] + time[1]);
    }
    case OpKind::Lstm: {
      const Shape& input = function.tensor(node.inputs[0]).shape;
      return input[0] * input[1] * 4 * weights()[0] * (weights()[1] + weights()[0]);
    }
    default:
      return 0;
  }
}

}  // namespace intarsia::graph
