#include "encodings.h"

#include <array>

namespace intarsia::test::ethos_u {
namespace {

using namespace simulators::ethos_u;

std::string name_of(ElementType type) {
  constexpr std::array kNames = {"U8", "S8", "U16", "S16", "S32"};
  return kNames.at(static_cast<size_t>(type));
}

std::string name_of(const Operation& op) {
  constexpr std::array kPools = {"MaxPool", "AveragePool", "ReduceSum"};
  constexpr std::array kModes = {"Mul",       "Add", "Sub", "Min", "Max",
                                 "LeakyRelu", "Abs", "Clz", "Shr", "Shl"};
  switch (op.kind) {
    case OperationKind::Conv:
      return "Conv";
    case OperationKind::Depthwise:
      return "Depthwise";
    case OperationKind::Pool:
      return kPools.at(static_cast<size_t>(op.pooling));
    case OperationKind::Elementwise:
      break;
  }
  return kModes.at(static_cast<size_t>(op.elementwise));
}

// How a map of an operation lies in memory.
void add_map(const std::string& which, const FeatureMap& map, std::set<std::string>& forms) {
  const bool rows = map.height > 1, columns = map.width > 1;
  if (columns && map.width > map.width0) forms.insert(which + "TilesBesideEachOther");
  if (rows && map.height > map.height0) forms.insert(which + "TilesBelowEachOther");
  forms.insert(which + (map.brick ? "Bricks" : "Nhwc"));
  if (map.brick) return;
  const int64_t pixel = int64_t{map.depth} * element_bytes(map.type);
  const int64_t row = (map.width - 1) * map.stride_x + pixel;
  if (rows && columns && map.stride_x > map.stride_y) {
    forms.insert(which + "ExchangedAxes");
    return;
  }
  if (columns && map.stride_x < pixel) forms.insert(which + "OverlappingPixels");
  if (columns && map.stride_x > pixel) forms.insert(which + "PixelsApart");
  if (rows && map.stride_y < row) forms.insert(which + "OverlappingRows");
  if (rows && map.stride_y > row) forms.insert(which + "RowsApart");
}

void add_window(const Operation& op, std::set<std::string>& forms) {
  const Kernel& kernel = op.kernel;
  const bool pool = op.kind == OperationKind::Pool;
  const std::string kind = pool ? "Pool" : "";
  for (const int32_t stride : {kernel.stride_x, kernel.stride_y})
    if (stride > 1) forms.insert(kind + "Stride" + std::to_string(stride));
  if (kernel.stride_x != kernel.stride_y) forms.insert(kind + "StridesThatDiffer");
  if (kernel.dilation_x > 1 || kernel.dilation_y > 1) forms.insert("Dilation");
  if (kernel.height > 8 || kernel.width > 8) forms.insert(kind + "LargeKernel");
  if (op.padding.any() && pool)
    forms.insert(op.pooling == PoolingMode::Average ? "PaddedAverage" : "PaddedMaximum");
  if (op.has_weights() && op.padding.any()) forms.insert("Padding");
  if (op.kind == OperationKind::Conv)
    forms.insert(kernel.part_kernel_first ? "PartKernelFirst" : "DepthFirst");
  if (op.upscale != Upscale::None)
    forms.insert(op.upscale == Upscale::Nearest ? "UpscaleNearest" : "UpscaleZeros");
  if (op.accumulators == AccumulatorFormat::I40) forms.insert("Accumulators40");
  if (op.cores > 1) forms.insert("TwoCores");
}

void add_elementwise(const Operation& op, std::set<std::string>& forms) {
  if (op.has_scalar) forms.insert("Scalar");
  if (op.reversed) forms.insert("ReversedOperands");
  if (op.has_ifm2) {
    if (op.ifm2.height < op.ofm.height) forms.insert("BroadcastHeight");
    if (op.ifm2.width < op.ofm.width) forms.insert("BroadcastWidth");
    if (op.ifm2.depth < op.ofm.depth) forms.insert("BroadcastDepth");
  }
  const bool adds =
      op.elementwise == ElementwiseMode::Add || op.elementwise == ElementwiseMode::Sub;
  if (adds && element_bytes(op.ifm.type) < 4) {
    constexpr std::array kScales = {"OperandsBoth", "OperandA", "OperandB"};
    forms.insert(std::string("Scaled") + kScales.at(static_cast<size_t>(op.operand_scale)) +
                 (element_bytes(op.ifm.type) == 1 ? "8" : "16"));
    if (op.operand_scale == OperandScale::Both16 &&
        op.opa_scale.multiplier != op.opb_scale.multiplier)
      forms.insert("ScaledOperandsApart");
  }
}

}  // namespace

void EncodingCollector::before(const Operation& op, const Memory&) {
  std::set<std::string>& forms = encodings_.forms;
  const std::string ifm = name_of(op.ifm.type), ofm = name_of(op.ofm.type);
  encodings_.operands.insert(name_of(op) + ", " + ifm + ", " + ofm);
  if (op.kind == OperationKind::Elementwise)
    add_elementwise(op, forms);
  else
    add_window(op, forms);
  add_map("Ifm", op.ifm, forms);
  if (op.has_ifm2) add_map("Ifm", op.ifm2, forms);
  add_map("Ofm", op.ofm, forms);
  switch (op.activation.function) {
    case ActivationFunction::Clamp:
      break;
    case ActivationFunction::Tanh:
      forms.insert("Tanh");
      break;
    case ActivationFunction::Sigmoid:
      forms.insert("Sigmoid");
      break;
    case ActivationFunction::Table:
      forms.insert(element_bytes(op.ifm.type) == 2 && !op.activation.forced_range ? "Table16"
                   : op.ofm.type == ElementType::S32                              ? "Table32"
                                                                                  : "Table8");
  }
  constexpr std::array kRoundings = {"RoundTfl", "RoundTruncate", "RoundNatural"};
  forms.insert(kRoundings.at(static_cast<size_t>(op.rounding)));
}

void EncodingCollector::before(const DmaTransfer& dma, const Memory&) {
  encodings_.forms.insert(dma.target_internal   ? "TransferToShram"
                          : dma.source_internal ? "TransferFromShram"
                                                : "Transfer");
}

Encodings confirmed_encodings() {
  Encodings result;
  enum { No, Yes };
#define ENCODING(name, confirmed, what) \
  if (confirmed == Yes) result.forms.insert(#name);
#define OPERANDS(operation, ifm, ofm) result.operands.insert(#operation ", " #ifm ", " #ofm);
#include "intarsia/targets/ethos_u/confirmed.def"
#undef ENCODING
#undef OPERANDS
  return result;
}

std::set<std::string> named_encodings() {
  return {
#define ENCODING(name, confirmed, what) #name,
#define OPERANDS(...)
#include "intarsia/targets/ethos_u/confirmed.def"
#undef ENCODING
#undef OPERANDS
  };
}

}  // namespace intarsia::test::ethos_u
