#include "legalise/confirmed.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "hardware/hardware.h"
#include "legalise/legalise.h"

namespace intarsia::targets::ethos_u {
namespace {

struct Form {
  std::string_view name, what;
  bool confirmed;
};

const Form& form_named(std::string_view name) {
  constexpr bool Yes = true, No = false;
  static constexpr Form kForms[] = {
#define ENCODING(name, confirmed, what) {#name, what, confirmed},
#define OPERANDS(...)
#include "intarsia/targets/ethos_u/confirmed.def"
#undef ENCODING
#undef OPERANDS
  };
  const auto found = std::find_if(std::begin(kForms), std::end(kForms),
                                  [&](const Form& form) { return form.name == name; });
  INTARSIA_CHECK(found != std::end(kForms), "forms are those of the table");
  (void)Yes, (void)No;
  return *found;
}

std::string_view name_of(DataType type) {
  switch (type) {
    case DataType::UInt8:
      return "U8";
    case DataType::Int8:
      return "S8";
    case DataType::Int16:
      return "S16";
    default:
      return "S32";
  }
}

bool confirms_operands(OperationKind kind, DataType ifm, DataType ofm) {
  constexpr std::string_view kNames[] = {
      "Conv", "Depthwise", "MaxPool",   "AveragePool", "ReduceSum", "Mul", "Add", "Sub",
      "Min",  "Max",       "LeakyRelu", "Abs",         "Clz",       "Shr", "Shl"};
  const std::string_view operation = kNames[static_cast<size_t>(kind)];
  const std::string_view from = name_of(ifm), to = name_of(ofm);
#define ENCODING(...)
#define OPERANDS(name, in, out) \
  if (operation == #name && from == #in && to == #out) return true;
#include "intarsia/targets/ethos_u/confirmed.def"
#undef ENCODING
#undef OPERANDS
  return false;
}

// What of the table's forms the operation shows, by name, one after the other.
template <typename Call>
void for_each_form(const Program& program, const Operation& op, const Call& call) {
  const NpuTensor& in = program.tensors.at(static_cast<size_t>(op.ifm.tensor));
  const NpuTensor& out = program.tensors.at(static_cast<size_t>(op.ofm.tensor));
  const bool pool = is_pool(op.kind);
  const Pads& pads = op.pads;
  if (!is_elementwise(op.kind)) {
    for (const int32_t stride : {op.kernel.stride_x, op.kernel.stride_y})
      if (stride > 1) call(fmt::format("{}Stride{}", pool ? "Pool" : "", stride));
    if (op.kernel.stride_x != op.kernel.stride_y)
      call(pool ? "PoolStridesThatDiffer" : "StridesThatDiffer");
    if (op.kernel.dilation_x > 1 || op.kernel.dilation_y > 1) call("Dilation");
    if (op.kernel.height > kSubKernelMaxHeight || op.kernel.width > kSubKernelMaxWidth)
      call(pool ? "PoolLargeKernel" : "LargeKernel");
    if ((pads.top | pads.left | pads.bottom | pads.right) != 0)
      call(!pool                               ? "Padding"
           : op.kind == OperationKind::MaxPool ? "PaddedMaximum"
                                               : "PaddedAverage");
    if (op.upscale != Upscale::None)
      call(op.upscale == Upscale::Nearest ? "UpscaleNearest" : "UpscaleZeros");
  }
  constexpr std::string_view kRoundings[] = {"RoundTfl", "RoundTruncate", "RoundNatural"};
  call(kRoundings[static_cast<size_t>(op.rounding)]);
  if (op.activation == Activation::Tanh) call("Tanh");
  if (op.activation == Activation::Sigmoid) call("Sigmoid");
  if (op.activation == Activation::Lut)
    call(bits(in.type) == 16 && !op.force_int8_lut_range ? "Table16"
         : out.type == DataType::Int32                   ? "Table32"
                                                         : "Table8");
  if (op.ifm2_scalar) call("Scalar");
  if (op.reverse_operands) call("ReversedOperands");
  if (op.ifm2) {
    if (op.ifm2->extent.height < op.ofm.extent.height) call("BroadcastHeight");
    if (op.ifm2->extent.width < op.ofm.extent.width) call("BroadcastWidth");
    if (op.ifm2->extent.depth < op.ofm.extent.depth) call("BroadcastDepth");
  }
  if ((op.kind == OperationKind::Add || op.kind == OperationKind::Sub) && bits(in.type) < 32) {
    constexpr std::string_view kScales[] = {"OperandsBoth", "OperandA", "OperandB"};
    call(
        fmt::format("Scaled{}{}", kScales[static_cast<size_t>(op.operand_scaling)], bits(in.type)));
    if (op.operand_scaling == OperandScaling::Both &&
        op.ifm_scale.multiplier != op.ifm2_scale.multiplier)
      call("ScaledOperandsApart");
  }
  const auto call_map = [&](std::string_view which, const Operand& operand) {
    // Every second pixel, or part of the channels: other bytes lie between them where the map is NHWC.
    const NpuTensor& tensor = program.tensors.at(static_cast<size_t>(operand.tensor));
    const bool part = operand.walk
                          ? operand.walk->x > operand.extent.depth
                          : operand.step.width != 1 || operand.extent.depth < tensor.extent.depth;
    if (part && operand.extent.width > 1) call(fmt::format("{}PixelsApart", which));
    if (!operand.walk) return;
    const Walk& walk = *operand.walk;
    const Extent& e = operand.extent;
    const bool rows = e.height > 1, columns = e.width > 1;
    if (rows && columns && walk.x > walk.y) {
      call(fmt::format("{}ExchangedAxes", which));
    } else if (which == "Ifm") {
      if (columns && walk.x < e.depth) call("IfmOverlappingPixels");
      if (rows && walk.y < (e.width - 1) * walk.x + e.depth) call("IfmOverlappingRows");
    }
  };
  call_map("Ifm", op.ifm);
  if (op.ifm2) call_map("Ifm", *op.ifm2);
  call_map("Ofm", op.ofm);
}

}  // namespace

Reason unconfirmed(const Program& program, const Operation& op) {
  const DataType ifm = program.tensors.at(static_cast<size_t>(op.ifm.tensor)).type;
  const DataType ofm = program.tensors.at(static_cast<size_t>(op.ofm.tensor)).type;
  Reason reason;
  if (!confirms_operands(op.kind, ifm, ofm))
    reason = fmt::format("it takes an operation from {} to {}", to_string(ifm), to_string(ofm));
  for_each_form(program, op, [&](std::string_view name) {
    const Form& form = form_named(name);
    if (!form.confirmed && !reason) reason = fmt::format("it takes {}", form.what);
  });
  if (reason) *reason += ", which no stream of Arm's compiler confirms (-confirmed-only)";
  return reason;
}

Reason refuses_unconfirmed(const Site& site) {
  graph::Module module;
  module.name = module.entry = "alone";
  module.constants = site.module.constants;
  graph::Function alone = site.function;
  alone.name = "alone";
  alone.nodes = {site.node};
  alone.inputs.clear();
  for (const graph::TensorId id : site.node.inputs)
    if (id.valid() && !site.function.tensor(id).constant.valid() &&
        std::find(alone.inputs.begin(), alone.inputs.end(), id) == alone.inputs.end())
      alone.inputs.push_back(id);
  alone.outputs = site.node.outputs;
  module.functions = {alone};
  const Program program =
      legalise(module, module.functions.front(), {.may_gather = false, .confirmed_only = true});
  for (const Operation& operation : program.operations)
    if (Reason reason = unconfirmed(program, operation)) return reason;
  return std::nullopt;
}

}  // namespace intarsia::targets::ethos_u
