// Comparisons, logic and choice of two operands element by element, broadcast.
#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/common_types.h"
#include "operators/evaluation/broadcast.h"
#include "operators/families.h"
#include "operators/lowering/broadcast.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_comparison(OpCheck& check) {
  if (check.ok() && check.in(0).type == Int8) {
    check.per_tensor(check.in(0), "first operand");
    check.per_tensor(check.in(1), "second operand");
    // TFLite represents the scales themselves as factors below one. Larger ones, of which its kernels have no result, give the
    // order of the real values as well, as long as 32 bits hold these.
    constexpr int kMostExponentOfScale = 14;
    if (check.ok()) check.factor(scale_of(check.in(0)), kMostExponentOfScale);
    if (check.ok()) check.factor(scale_of(check.in(1)), kMostExponentOfScale);
  }
  return {broadcast_operands(check)};
}

Shapes infer_logical(OpCheck& check) {
  return {broadcast_operands(check)};
}

Shapes infer_select(OpCheck& check) {
  const Shape values = broadcast_shape(check, check.in(1).shape, check.in(2).shape);
  if (!check.ok()) return {};
  return {broadcast_shape(check, check.in(0).shape, values)};
}

template <typename T>
bool compare(OpKind kind, T a, T b) {
  switch (kind) {
    case OpKind::Equal:
      return a == b;
    case OpKind::NotEqual:
      return a != b;
    case OpKind::Greater:
      return a > b;
    case OpKind::GreaterEqual:
      return a >= b;
    case OpKind::Less:
      return a < b;
    default:
      return a <= b;
  }
}

template <typename T>
void comparison(const Invocation& call) {
  broadcast_types<T, T, uint8_t>(call, [&](T a, T b) { return compare<T>(call.node.kind, a, b); });
}

// Both sides in real units with eight bits of fraction.
void comparison_of_int8(const Invocation& call) {
  const FixedFactor a_factor = fixed_factor(scale_of(call.in(0)));
  const FixedFactor b_factor = fixed_factor(scale_of(call.in(1)));
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  broadcast_types<int8_t, int8_t, uint8_t>(call, [&](int8_t a, int8_t b) {
    return compare(call.node.kind, multiply((a - a_zero) * 256, a_factor),
                   multiply((b - b_zero) * 256, b_factor));
  });
}

Result<void> eval_comparison(const Invocation& call) {
  switch (call.type()) {
    case Int8:
      return comparison_of_int8(call), Result<void>();
    case Bool:
      return comparison<uint8_t>(call), Result<void>();
    case Int32:
      return comparison<int32_t>(call), Result<void>();
    case Int64:
      return comparison<int64_t>(call), Result<void>();
    case Float32:
      return comparison<float>(call), Result<void>();
    default:
      return unsupported_types(call);
  }
}

// Whole numbers bit by bit.
Result<void> eval_logical_and(const Invocation& call) {
  if (call.type() == Int32)
    broadcast<int32_t>(call, [](int32_t a, int32_t b) { return a & b; });
  else
    broadcast<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 && b != 0; });
  return {};
}

Result<void> eval_logical_or(const Invocation& call) {
  if (call.type() == Int32)
    broadcast<int32_t>(call, [](int32_t a, int32_t b) { return a | b; });
  else
    broadcast<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 || b != 0; });
  return {};
}

template <typename T>
void select(const Invocation& call) {
  const Shape& out = call.out().shape;
  const auto condition = broadcast_places(call.in(0).shape, out);
  const auto if_true = broadcast_places(call.in(1).shape, out);
  const auto if_false = broadcast_places(call.in(2).shape, out);
  for (size_t i = 0; i < condition.size(); ++i)
    call.result<T>()[i] = call.data<uint8_t>(0)[condition[i]] != 0 ? call.data<T>(1)[if_true[i]]
                                                                   : call.data<T>(2)[if_false[i]];
}

Result<void> eval_select(const Invocation& call) {
  switch (call.out().type) {
    case Bool:
      return select<uint8_t>(call), Result<void>();
    case Int8:
      return select<int8_t>(call), Result<void>();
    case Int16:
      return select<int16_t>(call), Result<void>();
    case Int32:
      return select<int32_t>(call), Result<void>();
    case Float32:
      return select<float>(call), Result<void>();
    default:
      return unsupported_types(call);
  }
}

tir::BinaryOp comparison_operator(OpKind kind) {
  switch (kind) {
    case OpKind::Equal:
      return tir::BinaryOp::Eq;
    case OpKind::NotEqual:
      return tir::BinaryOp::Ne;
    case OpKind::Greater:
      return tir::BinaryOp::Gt;
    case OpKind::GreaterEqual:
      return tir::BinaryOp::Ge;
    case OpKind::Less:
      return tir::BinaryOp::Lt;
    default:
      return tir::BinaryOp::Le;
  }
}

Refusal refuses_comparison(const OpView& view) {
  if (view.in(0).type != Int8) return std::nullopt;
  for (const size_t i : {0, 1})
    if (view.in(i).quantization.scale.size() != 1) return "an operand carries no single scale";
  return std::nullopt;
}

Stmt lower_comparison(OpLowering& op) {
  const OpView& v = op.view;
  const tir::BinaryOp compares = comparison_operator(v.node.kind);
  if (v.in(0).type != Int8) {
    return combine_operands(
        op, [&](const std::vector<Expr>& x) { return tir::binary(compares, x[0], x[1]); });
  }
  // In real units with eight bits of fraction.
  const auto real = [&](Expr value, const Tensor& tensor) {
    return requantize(centred(std::move(value), tensor) * 256,
                      quantize_multiplier(static_cast<double>(scale(tensor))));
  };
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    return tir::binary(compares, real(x[0], v.in(0)), real(x[1], v.in(1)));
  });
}

Stmt lower_logical(OpLowering& op) {
  const tir::BinaryOp joins =
      op.view.node.kind == OpKind::LogicalAnd ? tir::BinaryOp::And : tir::BinaryOp::Or;
  return combine_operands(
      op, [&](const std::vector<Expr>& x) { return tir::binary(joins, x[0], x[1]); });
}

Stmt lower_select(OpLowering& op) {
  return combine_operands(
      op, [&](const std::vector<Expr>& x) { return tir::select(x[0], x[1], x[2]); });
}

constexpr TypeRule kEqualityTypes[] = {{Int8, Int8, Bool},
                                       {Int32, Int32, Bool},
                                       {Int64, Int64, Bool},
                                       {Float32, Float32, Bool},
                                       evaluated_only({Bool, Bool, Bool})};
constexpr TypeRule kOrderTypes[] = {
    {Int8, Int8, Bool}, {Int32, Int32, Bool}, {Int64, Int64, Bool}, {Float32, Float32, Bool}};
constexpr TypeRule kSelectTypes[] = {{Bool, Bool, Bool, Bool},
                                     {Bool, Int8, Int8, Int8},
                                     {Bool, Int16, Int16, Int16},
                                     {Bool, Int32, Int32, Int32},
                                     {Bool, Float32, Float32, Float32}};

constexpr Operator kComparisonOperators[] = {
    {.kind = OpKind::Equal,
     .types = kEqualityTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::NotEqual,
     .types = kEqualityTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::Greater,
     .types = kOrderTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::GreaterEqual,
     .types = kOrderTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::Less,
     .types = kOrderTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::LessEqual,
     .types = kOrderTypes,
     .infer = infer_comparison,
     .evaluate = eval_comparison,
     .lower = lower_comparison,
     .refuses = refuses_comparison,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::LogicalAnd,
     .types = kTwoLogic,
     .infer = infer_logical,
     .evaluate = eval_logical_and,
     .lower = lower_logical,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::LogicalOr,
     .types = kTwoLogic,
     .infer = infer_logical,
     .evaluate = eval_logical_or,
     .lower = lower_logical,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::Select,
     .types = kSelectTypes,
     .infer = infer_select,
     .evaluate = eval_select,
     .lower = lower_select},
};

}  // namespace

std::span<const Operator> comparison_operators() {
  return kComparisonOperators;
}

}  // namespace intarsia::operators
