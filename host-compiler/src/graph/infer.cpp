#include <fmt/format.h>

#include "graph/op_check.h"

namespace intarsia::graph {
namespace {

Shapes infer(OpCheck& check) {
  switch (check.node.kind) {
    case OpKind::Conv2d:
      return infer_conv2d(check);
    case OpKind::DepthwiseConv2d:
      return infer_depthwise_conv2d(check);
    case OpKind::FullyConnected:
      return infer_fully_connected(check);
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
      return infer_pool2d(check);
    case OpKind::Add:
    case OpKind::Mul:
      return infer_binary(check);
    case OpKind::Reshape:
      return infer_reshape(check);
    case OpKind::Softmax:
      return infer_softmax(check);
    case OpKind::Pad:
      return infer_pad(check);
    case OpKind::Mean:
      return infer_mean(check);
    case OpKind::Quantize:
      return infer_quantize(check);
    case OpKind::Dequantize:
      return infer_dequantize(check);
    case OpKind::Relu:
      return infer_relu(check);
    case OpKind::Call:
      return infer_call(check);
  }
  check.fail("is an operator without rules");
  return {};
}

}  // namespace

Result<std::vector<Shape>> infer_shapes(const Module& module, const Function& function,
                                        const Node& node) {
  OpCheck check(module, function, node);
  if (!check.well_formed()) return check.take();
  Shapes shapes = infer(check);
  if (!check.ok()) return check.take();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string problem = shape_problem(check.out(i).type, shapes[i]);
    if (!problem.empty()) check.fail(fmt::format("its output {}: {}", i, problem));
  }
  if (!check.ok()) return check.take();
  return shapes;
}

}  // namespace intarsia::graph
