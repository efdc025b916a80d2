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
    default:
      return 0;
  }
}

}  // namespace intarsia::graph
