// Operators on elements of equal place that choose or compare: extremes, squared difference,
// comparisons, logic, select, prelu.
#include "standard_lowering/broadcast.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

using graph::OpKind;
using tir::BinaryOp;
using enum DataType;

int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}
float scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}

Expr centred(Expr value, const graph::Tensor& tensor) {
  return to_i32(std::move(value)) - zero_point(tensor);
}

Expr finished(const OpView& v, Expr value) {
  return clamp(std::move(value) + zero_point(v.out()), type_range(v.out().type), v.out().type);
}

AddRescaling difference_rescaling(const OpView& v) {
  return *squared_difference_rescaling(v.out().type, scale(v.in(0)), scale(v.in(1)),
                                       scale(v.out()));
}

BinaryOp comparison(OpKind kind) {
  switch (kind) {
    case OpKind::Equal:
      return BinaryOp::Eq;
    case OpKind::NotEqual:
      return BinaryOp::Ne;
    case OpKind::Greater:
      return BinaryOp::Gt;
    case OpKind::GreaterEqual:
      return BinaryOp::Ge;
    case OpKind::Less:
      return BinaryOp::Lt;
    default:
      return BinaryOp::Le;
  }
}

}  // namespace

Refusal refuses_minimum_maximum(const OpView& view) {
  return refuses_types(view, {{{Int8, Int8}, Int8},
                              {{Int16, Int16}, Int16},
                              {{Int32, Int32}, Int32},
                              {{Float32, Float32}, Float32}});
}

Stmt lower_minimum_maximum(OpLowering& op) {
  const bool is_min = op.view.node.kind == OpKind::Minimum;
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    const Expr a = is_integer(x[0]->type) ? to_i32(x[0]) : x[0];
    const Expr b = is_integer(x[1]->type) ? to_i32(x[1]) : x[1];
    const Expr chosen = is_min ? tir::min(a, b) : tir::max(a, b);
    return chosen->type == op.view.out().type ? chosen : tir::cast(op.view.out().type, chosen);
  });
}

Refusal refuses_squared_difference(const OpView& view) {
  if (Refusal types = refuses_types(
          view, {{{Int8, Int8}, Int8}, {{Int16, Int16}, Int16}, {{Float32, Float32}, Float32}}))
    return types;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  if (!is_integer(view.out().type)) return std::nullopt;
  const AddRescaling r = difference_rescaling(view);
  if (r.output.shift > 0) return "the scales of operands and output are too far apart";
  return std::nullopt;
}

Stmt lower_squared_difference(OpLowering& op) {
  const OpView& v = op.view;
  if (!is_integer(v.out().type)) {
    return combine_operands(op, [&](const std::vector<Expr>& x) {
      const Expr difference = x[0] - x[1];
      return difference * difference;
    });
  }
  const AddRescaling r = difference_rescaling(v);
  const int64_t unit = int64_t{1} << r.left_shift;
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    const Expr difference = requantize(centred(x[0], v.in(0)) * unit, r.a) -
                            requantize(centred(x[1], v.in(1)) * unit, r.b);
    const Expr squared = tir::call(Int32, "intarsia_square_i32", {difference});
    return finished(v, requantize(squared, r.output));
  });
}

Refusal refuses_comparison(const OpView& view) {
  if (Refusal types = refuses_types(view, {{{Int8, Int8}, Bool},
                                           {{Int32, Int32}, Bool},
                                           {{Int64, Int64}, Bool},
                                           {{Float32, Float32}, Bool}}))
    return types;
  if (view.in(0).type != Int8) return std::nullopt;
  for (const size_t i : {0, 1})
    if (view.in(i).quantization.scale.size() != 1) return "an operand carries no single scale";
  return std::nullopt;
}

Stmt lower_comparison(OpLowering& op) {
  const OpView& v = op.view;
  const BinaryOp compares = comparison(v.node.kind);
  if (v.in(0).type != Int8) {
    return combine_operands(
        op, [&](const std::vector<Expr>& x) { return tir::binary(compares, x[0], x[1]); });
  }
  // In real units with eight bits of fraction.
  const auto real = [&](Expr value, const graph::Tensor& tensor) {
    return requantize(centred(std::move(value), tensor) * 256,
                      quantize_multiplier(static_cast<double>(scale(tensor))));
  };
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    return tir::binary(compares, real(x[0], v.in(0)), real(x[1], v.in(1)));
  });
}

Refusal refuses_logical(const OpView& view) {
  return refuses_types(view, {{{Bool, Bool}, Bool}});
}

Stmt lower_logical(OpLowering& op) {
  const BinaryOp joins = op.view.node.kind == OpKind::LogicalAnd ? BinaryOp::And : BinaryOp::Or;
  return combine_operands(
      op, [&](const std::vector<Expr>& x) { return tir::binary(joins, x[0], x[1]); });
}

Refusal refuses_select(const OpView& view) {
  return refuses_types(view, {{{Bool, Int8, Int8}, Int8},
                              {{Bool, Int16, Int16}, Int16},
                              {{Bool, Int32, Int32}, Int32},
                              {{Bool, Float32, Float32}, Float32}});
}

Stmt lower_select(OpLowering& op) {
  return combine_operands(
      op, [&](const std::vector<Expr>& x) { return tir::select(x[0], x[1], x[2]); });
}

Refusal refuses_prelu(const OpView& view) {
  if (Refusal types = refuses_types(
          view, {{{Int8, Int8}, Int8}, {{Int16, Int8}, Int16}, {{Float32, Float32}, Float32}}))
    return types;
  return refuses_quantization(view);
}

Stmt lower_prelu(OpLowering& op) {
  const OpView& v = op.view;
  if (!is_integer(v.out().type)) {
    return combine_operands(op, [&](const std::vector<Expr>& x) {
      return tir::select(tir::binary(BinaryOp::Ge, x[0], tir::float_imm(0)), x[0], x[0] * x[1]);
    });
  }
  const double in = scale(v.in(0)), out = scale(v.out());
  const Multiplier positive = quantize_multiplier(in / out);
  const Multiplier negative = quantize_multiplier(in * static_cast<double>(scale(v.in(1))) / out);
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    const Expr value = centred(x[0], v.in(0));
    const Expr scaled =
        tir::select(tir::binary(BinaryOp::Ge, value, tir::int_imm(0)), requantize(value, positive),
                    requantize(value * centred(x[1], v.in(1)), negative));
    return finished(v, scaled);
  });
}

}  // namespace intarsia::standard_lowering
