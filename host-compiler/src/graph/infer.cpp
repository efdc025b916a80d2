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
    case OpKind::L2Pool2d:
      return infer_pool2d(check);
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
      return infer_binary(check);
    case OpKind::Reshape:
      return infer_reshape(check);
    case OpKind::Softmax:
      return infer_softmax(check);
    case OpKind::Pad:
      return infer_pad(check);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
      return infer_reduce(check);
    case OpKind::Quantize:
      return infer_quantize(check);
    case OpKind::Dequantize:
      return infer_dequantize(check);
    case OpKind::Relu:
      return infer_relu(check);
    case OpKind::TransposeConv2d:
      return infer_transpose_conv2d(check);
    case OpKind::BatchMatmul:
      return infer_batch_matmul(check);
    case OpKind::Minimum:
    case OpKind::Maximum:
      return infer_minimum_maximum(check);
    case OpKind::SquaredDifference:
      return infer_squared_difference(check);
    case OpKind::Equal:
    case OpKind::NotEqual:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
      return infer_comparison(check);
    case OpKind::LogicalAnd:
    case OpKind::LogicalOr:
      return infer_logical(check);
    case OpKind::Select:
      return infer_select(check);
    case OpKind::LeakyRelu:
      return infer_leaky_relu(check);
    case OpKind::Prelu:
      return infer_prelu(check);
    case OpKind::Logistic:
    case OpKind::Tanh:
      return infer_sigmoid(check);
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Ceil:
    case OpKind::Floor:
    case OpKind::Round:
    case OpKind::LogicalNot:
    case OpKind::Sin:
    case OpKind::Cos:
      return infer_unary(check);
    case OpKind::Cast:
      return infer_cast(check);
    case OpKind::LogSoftmax:
      return infer_log_softmax(check);
    case OpKind::L2Normalization:
      return infer_l2_normalization(check);
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return infer_arg(check);
    case OpKind::PadV2:
      return infer_pad_v2(check);
    case OpKind::MirrorPad:
      return infer_mirror_pad(check);
    case OpKind::Concat:
      return infer_concat(check);
    case OpKind::Pack:
      return infer_pack(check);
    case OpKind::Split:
      return infer_split(check);
    case OpKind::Unpack:
      return infer_unpack(check);
    case OpKind::Slice:
      return infer_slice(check);
    case OpKind::Transpose:
      return infer_transpose(check);
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
      return infer_space_depth(check);
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
      return infer_batch_space(check);
    case OpKind::Gather:
      return infer_gather(check);
    case OpKind::ResizeNearest:
    case OpKind::ResizeBilinear:
      return infer_resize(check);
    case OpKind::Svdf:
      return infer_svdf(check);
    case OpKind::Lstm:
      return infer_lstm(check);
    case OpKind::Pow:
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      return infer_float_pair(check);
    case OpKind::AddN:
      return infer_add_n(check);
    case OpKind::BroadcastTo:
      return infer_broadcast_to(check);
    case OpKind::Tile:
      return infer_tile(check);
    case OpKind::Cumsum:
      return infer_cumsum(check);
    case OpKind::GatherNd:
      return infer_gather_nd(check);
    case OpKind::DynamicUpdateSlice:
      return infer_dynamic_update_slice(check);
    case OpKind::ReadVariable:
    case OpKind::AssignVariable:
      return infer_variable(check);
    case OpKind::If:
      return infer_if(check);
    case OpKind::While:
      return infer_while(check);
    case OpKind::Compiled:
      return infer_compiled(check);
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
