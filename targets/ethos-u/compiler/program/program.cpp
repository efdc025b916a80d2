#include "program/program.h"

#include <fmt/format.h>

namespace intarsia::targets::ethos_u {
namespace {

std::string text(const Extent& e) {
  return fmt::format("{}x{}x{}", e.height, e.width, e.depth);
}

std::string text(const ChannelScale& scale) {
  return fmt::format("*{}>>{}", scale.multiplier, scale.shift);
}

std::string text(const Program& program, const Operand& operand) {
  const NpuTensor& tensor = program.tensors.at(static_cast<size_t>(operand.tensor));
  std::string result = fmt::format("%{}", operand.tensor);
  if (operand.extent != tensor.extent || operand.origin != Extent{0, 0, 0} || operand.walk) {
    result += fmt::format("[{}:{}", text(operand.origin), text(operand.extent));
    if (operand.step != Extent{}) result += fmt::format("/{}", text(operand.step));
    if (operand.walk) result += fmt::format(" walk {} {}", operand.walk->y, operand.walk->x);
    result += "]";
  }
  if (operand.zero_point != 0) result += fmt::format(" zp {}", operand.zero_point);
  return result;
}

const char* name_of(OperationKind kind) {
  constexpr const char* kNames[] = {
      "conv", "depthwise", "max_pool",   "average_pool", "reduce_sum", "mul", "add", "sub",
      "min",  "max",       "leaky_relu", "abs",          "clz",        "shr", "shl"};
  return kNames[static_cast<size_t>(kind)];
}

std::string line(const Program& program, const Operation& op) {
  std::string result = fmt::format("{} {}", name_of(op.kind), text(program, op.ifm));
  if (op.ifm2) result += fmt::format(", {}", text(program, *op.ifm2));
  if (op.ifm2_scalar)
    result += fmt::format(", scalar {} zp {}", *op.ifm2_scalar, op.ifm2_zero_point);
  if (op.reverse_operands) result += " reversed";
  result += fmt::format(" -> {}", text(program, op.ofm));
  if (!is_elementwise(op.kind)) {
    const Kernel& k = op.kernel;
    result += fmt::format(" kernel {}x{}", k.height, k.width);
    if (k.stride_y != 1 || k.stride_x != 1)
      result += fmt::format(" stride {}x{}", k.stride_y, k.stride_x);
    if (k.dilation_y != 1 || k.dilation_x != 1)
      result += fmt::format(" dilation {}x{}", k.dilation_y, k.dilation_x);
    const Pads& p = op.pads;
    if (p.top != 0 || p.left != 0 || p.bottom != 0 || p.right != 0)
      result += fmt::format(" pads {},{},{},{}", p.top, p.left, p.bottom, p.right);
  }
  if (op.upscale != Upscale::None)
    result += op.upscale == Upscale::Nearest ? " upscale nearest" : " upscale zeros";
  if (!op.scales.empty()) result += fmt::format(" scales {}..", text(op.scales.front()));
  if (op.global_scale) result += fmt::format(" scale {}", text(*op.global_scale));
  if (op.kind == OperationKind::Add || op.kind == OperationKind::Sub) {
    constexpr const char* kScaled[] = {"both", "first", "second"};
    result += fmt::format(" operands {} {} {}", kScaled[static_cast<size_t>(op.operand_scaling)],
                          text(op.ifm_scale), text(op.ifm2_scale));
  }
  if (op.rounding != Rounding::Tfl)
    result += op.rounding == Rounding::Natural ? " natural" : " truncate";
  constexpr const char* kActivations[] = {"", " tanh", " sigmoid", " lut"};
  result += kActivations[static_cast<size_t>(op.activation)];
  if (op.lut >= 0) result += fmt::format(" {}", op.lut);
  result += fmt::format(" clamp {},{}", op.clamp_low, op.clamp_high);
  return fmt::format("  {}  ; {}\n", result, op.node);
}

}  // namespace

bool is_elementwise(OperationKind kind) {
  return kind >= OperationKind::Mul;
}
bool is_unary(OperationKind kind) {
  return kind == OperationKind::LeakyRelu || kind == OperationKind::Abs ||
         kind == OperationKind::CountLeadingZeros;
}
bool is_pool(OperationKind kind) {
  return kind == OperationKind::MaxPool || kind == OperationKind::AveragePool ||
         kind == OperationKind::ReduceSum;
}
bool has_weights(OperationKind kind) {
  return kind == OperationKind::Conv || kind == OperationKind::Depthwise;
}

bool is_pointwise(const Operation& op) {
  const Kernel& k = op.kernel;
  const bool single = k.height == 1 && k.width == 1 && k.stride_y == 1 && k.stride_x == 1;
  const bool padded = op.pads.top + op.pads.left + op.pads.bottom + op.pads.right > 0;
  return is_elementwise(op.kind) ||
         ((op.kind == OperationKind::AveragePool || op.kind == OperationKind::MaxPool) && single &&
          !padded && op.upscale == Upscale::None);
}

std::string print(const Program& program) {
  constexpr const char* kKinds[] = {"input", "output", "inner", "constant", "state"};
  std::string result = fmt::format("program {}\n", program.name);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const NpuTensor& t = program.tensors[i];
    result += fmt::format("  %{} {} {} {}", i, kKinds[static_cast<size_t>(t.kind)],
                          to_string(t.type), text(t.extent));
    if (t.parameter >= 0) result += fmt::format(" #{}", t.parameter);
    if (t.alias_of >= 0) result += fmt::format(" = %{} + {}", t.alias_of, t.alias_offset);
    result += fmt::format("  ; {}\n", t.name);
  }
  for (size_t i = 0; i < program.tables.size(); ++i)
    result += fmt::format("  table {} {} bytes  ; {}\n", i, program.tables[i].bytes.size(),
                          program.tables[i].name);
  for (const Operation& op : program.operations) result += line(program, op);
  return result;
}

}  // namespace intarsia::targets::ethos_u
