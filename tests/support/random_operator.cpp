#include "support/random_operator.h"

#include <algorithm>

#include "operators/operator.h"
#include "support/random_builder.h"

namespace intarsia::testing {

graph::Module random_operator(Random& random, graph::OpKind kind, DataType type) {
  using namespace families;
  Builder b(random, kind, type);
  switch (kind) {
    case OpKind::Conv2d:
      return conv2d(b);
    case OpKind::DepthwiseConv2d:
      return depthwise_conv2d(b);
    case OpKind::FullyConnected:
      return fully_connected(b);
    case OpKind::QuantizeRows:
      return quantize_rows(b);
    case OpKind::SignalWindow:
    case OpKind::SignalAutoScale:
    case OpKind::SignalRfft:
    case OpKind::SignalIrfft:
    case OpKind::SignalEnergy:
    case OpKind::SignalFilterBank:
    case OpKind::SignalSquareRoot:
    case OpKind::SignalSpectralSubtraction:
    case OpKind::SignalPcan:
    case OpKind::SignalLog:
      return signal(b, kind);
    case OpKind::DetectBoxes:
      return detect_boxes(b);
    case OpKind::HybridConv2d:
      return hybrid_conv2d(b);
    case OpKind::HybridDepthwiseConv2d:
      return hybrid_depthwise_conv2d(b);
    case OpKind::HybridFullyConnected:
      return hybrid_fully_connected(b);
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
    case OpKind::L2Pool2d:
      return pool(b);
    case OpKind::AddN:
      return sum_of_many(b);
    case OpKind::Cumsum:
      return cumsum(b);
    case OpKind::BroadcastTo:
    case OpKind::Tile:
      return repeated(b, kind);
    case OpKind::GatherNd:
      return gather_nd(b);
    case OpKind::ScatterNd:
      return scatter_nd(b);
    case OpKind::DynamicUpdateSlice:
      return dynamic_update_slice(b);
    case OpKind::Select:
      return select(b);
    case OpKind::Prelu:
      return prelu(b);
    case OpKind::Lookup:
      return lookup(b);
    case OpKind::Cast:
      return cast(b);
    case OpKind::TransposeConv2d:
      return transpose_conv2d(b);
    case OpKind::BatchMatmul:
      return batch_matmul(b);
    case OpKind::Gather:
      return gather(b);
    case OpKind::ResizeNearest:
    case OpKind::ResizeBilinear:
      return resize(b);
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return arg(b);
    case OpKind::LogSoftmax:
    case OpKind::L2Normalization:
      return row_normalization(b);
    case OpKind::Svdf:
      return svdf(b);
    case OpKind::Lstm:
      return lstm(b);
    case OpKind::Recurrent:
      return recurrent(b);
    case OpKind::Concat:
    case OpKind::Pack:
    case OpKind::Split:
    case OpKind::Unpack:
    case OpKind::Slice:
    case OpKind::Transpose:
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
    case OpKind::MirrorPad:
    case OpKind::PadV2:
      return moved(b, kind);
    case OpKind::Reshape:
      return reshape(b);
    case OpKind::Softmax:
      return softmax(b);
    case OpKind::Pad:
      return pad(b);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
      return mean(b);
    case OpKind::Quantize:
      return quantize(b);
    case OpKind::Dequantize:
      return dequantize(b);
    case OpKind::Relu:
      return relu(b);
    default:
      break;
  }
  // Of element-wise operators the table says all.
  const operators::Operator& row = operators::operator_of(kind);
  if (row.elementwise == operators::Elementwise::Unary) return unary(b, kind);
  if (row.elementwise == operators::Elementwise::Binary) {
    const bool compares =
        row.types[0].output() == DataType::Bool && row.types[0].input(0) != DataType::Bool;
    return compares ? comparison(b) : binary(b);
  }
  INTARSIA_CHECK(false, "random_operator knows the kind");
}

std::vector<graph::TensorValue> random_inputs(Random& random, const graph::Module& module) {
  families::Builder b(random, graph::OpKind::Relu, DataType::Int8);
  std::vector<graph::TensorValue> values;
  for (const graph::TensorId id : module.entry_function().inputs) {
    const graph::Tensor& tensor = module.entry_function().tensor(id);
    const int64_t half = tensor.type == DataType::Bool ? 1 : int64_t{1} << (bits(tensor.type) - 1);
    const bool is_unsigned = !is_signed(tensor.type);
    // Some inputs are extreme, so that sums saturate.
    const bool extreme = random.chance(15);
    values.emplace_back();
    for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
      const int64_t low = is_unsigned ? 0 : -half, high = is_unsigned ? 2 * half - 1 : half - 1;
      b.append_element(values.back(), tensor.type, extreme ? std::max(low, high - 2) : low, high);
    }
  }
  return values;
}

}  // namespace intarsia::testing
