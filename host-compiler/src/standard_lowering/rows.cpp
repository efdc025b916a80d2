// Operators along one axis: index of the extreme, l2 normalisation, log-softmax.
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

using enum DataType;

Refusal refuses_arg(const OpView& view) {
  return refuses_types(view, {{{Int8}, Int32}, {{Float32}, Int32}});
}

Stmt lower_arg(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto axis = static_cast<size_t>(v.node.attrs<graph::AxisAttrs>().axis);
  const Shape& in = v.in(0).shape;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < in.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= in[i];
  op.declare({Shape{outer, in[axis], inner}}, {outer, inner});
  const BufferId best = b.register_("best", Int32), value = b.register_("value", v.in(0).type);
  const auto better = v.node.kind == graph::OpKind::ArgMax ? tir::BinaryOp::Gt : tir::BinaryOp::Lt;
  const Expr zero = tir::int_imm(0);
  return b.loop("o", outer, [&](const Expr& o) {
    return b.loop("i", inner, [&](const Expr& i) {
      const Stmt search = b.loop("k", tir::int_imm(1), tir::int_imm(in[axis]), [&](const Expr& k) {
        const Expr here = b.load(op.in(0), {o, k, i});
        return tir::if_then(tir::binary(better, here, b.load(value)),
                            tir::seq({b.store(best, {}, k), b.store(value, {}, here)}));
      });
      std::vector<Stmt> steps{b.store(best, {}, zero),
                              b.store(value, {}, b.load(op.in(0), {o, zero, i}))};
      if (in[axis] > 1) steps.push_back(search);
      steps.push_back(b.store(op.out(), {o, i}, b.load(best)));
      return tir::seq(std::move(steps));
    });
  });
}

namespace {

Stmt by_rows(OpLowering& op, const char* helper, const std::vector<Expr>& more) {
  const int64_t count = op.view.in(0).shape.back();
  const int64_t rows = element_count(op.view.in(0).shape) / count;
  op.declare({Shape{rows, count}}, {rows, count});
  return op.b.loop("row", rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    std::vector<std::variant<tir::BufferRun, Expr>> operands{
        tir::BufferRun{op.in(0), start, count, tir::Access::Read},
        tir::BufferRun{op.out(), start, count, tir::Access::Write}, tir::int_imm(count)};
    for (const Expr& value : more) operands.emplace_back(value);
    return tir::intrinsic(helper, std::move(operands));
  });
}

}  // namespace

Refusal refuses_log_softmax(const OpView& view) {
  return refuses_types(view, {{{Float32}, Float32}});
}

Stmt lower_log_softmax(OpLowering& op) {
  return by_rows(op, "intarsia_log_softmax_f32", {});
}

Refusal refuses_l2_normalization(const OpView& view) {
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Float32}, Float32}})) return types;
  return refuses_quantization(view);
}

Stmt lower_l2_normalization(OpLowering& op) {
  if (!is_integer(op.view.out().type)) return by_rows(op, "intarsia_l2_normalize_f32", {});
  return by_rows(op, "intarsia_l2_normalize_s8",
                 {tir::int_imm(op.view.in(0).quantization.zero_point[0])});
}

}  // namespace intarsia::standard_lowering
