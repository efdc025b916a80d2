// Softmax along the last axis: a helper per row.
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

// The sum of exponentials has 12 integer bits.
constexpr int64_t kMaxRow = 4095;

std::optional<SoftmaxScaling> scaling(const OpView& v) {
  return softmax_scaling(v.in(0).quantization.scale[0], v.node.attrs<graph::SoftmaxAttrs>().beta);
}

// From the input's scale to 65536 steps over -10 .. 0.
double wide_factor(const OpView& v) {
  return static_cast<double>(v.in(0).quantization.scale[0]) *
         static_cast<double>(v.node.attrs<graph::SoftmaxAttrs>().beta) / (10.0 / 65535.0);
}

}  // namespace

Refusal refuses_softmax(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(
          view, {{{Int8}, Int8}, {{Int8}, Int16}, {{Int16}, Int16}, {{Float32}, Float32}}))
    return types;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  if (!is_integer(view.out().type)) return std::nullopt;
  if (view.in(0).type == Int16) return std::nullopt;
  const graph::Quantization& out = view.out().quantization;
  if (view.out().type == Int8 && (out.zero_point[0] != -128 || out.scale[0] != 1.0f / 256.0f)) {
    return "the output's quantisation is not scale 1/256, zero point -128";
  }
  if (view.in(0).shape.back() > kMaxRow) return "rows are longer than 4095 elements";
  if (!scaling(view)) return "beta times the input's scale is too small";
  return std::nullopt;
}

Stmt lower_softmax(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const int64_t count = v.in(0).shape.back();
  const int64_t rows = element_count(v.in(0).shape) / count;
  op.declare({Shape{rows, count}}, {rows, count});
  return b.loop("row", rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    std::vector<std::variant<tir::BufferRun, Expr>> operands{
        tir::BufferRun{op.in(0), start, count, tir::Access::Read},
        tir::BufferRun{op.out(), start, count, tir::Access::Write}, tir::int_imm(count)};
    if (!is_integer(v.out().type)) {
      operands.emplace_back(tir::float_imm(v.node.attrs<graph::SoftmaxAttrs>().beta));
      return tir::intrinsic("intarsia_softmax_f32", std::move(operands));
    }
    if (v.in(0).type == DataType::Int16) {
      const Multiplier m = quantize_multiplier(wide_factor(v));
      operands.emplace_back(tir::int_imm(m.value));
      operands.emplace_back(tir::int_imm(m.shift));
      return tir::intrinsic("intarsia_softmax_s16", std::move(operands));
    }
    const SoftmaxScaling s = *scaling(v);
    operands.emplace_back(tir::int_imm(s.multiplier.value));
    operands.emplace_back(tir::int_imm(s.multiplier.shift));
    operands.emplace_back(tir::int_imm(s.diff_min));
    const bool wide = v.out().type == DataType::Int16;
    return tir::intrinsic(wide ? "intarsia_softmax_s8_s16" : "intarsia_softmax_s8",
                          std::move(operands));
  });
}

}  // namespace intarsia::standard_lowering
