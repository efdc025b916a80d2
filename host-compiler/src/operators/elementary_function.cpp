// Functions of single elements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/fixed_point.h"
#include "intarsia/plugin/rounded_exp.h"
#include "operators/common_types.h"
#include "operators/evaluation/elementwise.h"
#include "operators/evaluation/straight_lines.h"
#include "operators/families.h"
#include "operators/lowering/broadcast.h"
#include "operators/lowering/result_table.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

template <typename T>
Result<void> abs_quantized(const Invocation& call) {
  const bool rescales = call.in().quantization.scale != call.out().quantization.scale;
  const FixedFactor factor = fixed_factor(rescale_factor(call.in(), call.out()));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  return map<T>(call, [&](T x) {
    const int32_t value = std::abs(x - zero);
    return requantized<T>(rescales ? multiply(value, factor) : value, call.out_zero_point(), range);
  });
}

// What 1 / sqrt(value) in 2^-20 is multiplied by. Beyond 2^29 every result is the largest anyhow, and below 2^-11 none is a step.
constexpr int kRootShift = 20;
FixedFactor rsqrt_scaling(const Tensor& input, const Tensor& output) {
  constexpr double kMost = 1 << 29, kLeast = 1.0 / (1 << 11);
  const double factor = rsqrt_factor(input, output);
  if (factor < kLeast) return {};
  FixedFactor scaling = fixed_factor(std::min(factor, kMost));
  scaling.shift -= kRootShift;
  return scaling;
}

template <typename T>
Result<void> rsqrt_quantized(const Invocation& call) {
  const FixedFactor factor = rsqrt_scaling(call.in(), call.out());
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  return map<T>(call, [&](T x) -> int32_t {
    const int32_t value = x - zero;
    if (value <= 0) return std::numeric_limits<T>::max();  // below zero it is not defined
    FixedFactor inverse = inverse_square_root(value);
    inverse.shift += kRootShift;
    return requantized<T>(multiply(multiply(1, inverse), factor), call.out_zero_point(), range);
  });
}

// To nearest, ties to the even neighbour.
float round_to_even(float x) {
  const float floor = std::floor(x), difference = x - floor;
  const bool down = difference < 0.5f || (difference == 0.5f && std::fmod(floor, 2.0f) == 0.0f);
  return down ? floor : floor + 1;
}

Stmt lower_abs_s16(OpLowering& op) {
  const OpView& v = op.view;
  const Multiplier m = quantize_multiplier(rescale_factor(v.in(0), v.out()));
  return map_elements(op, [&](Expr x) {
    const Expr value = to_i32(std::move(x)) - zero_point(v.in(0));
    const Expr magnitude = tir::max(value, tir::int_imm(0) - value);
    return finished(v, requantize(magnitude, m));
  });
}

Shapes infer_abs(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && is_integer(input.type) && quantized(check))
    check.factor(rescale_factor(input, output), kMostExponent32);
  return {input.shape};
}

Shapes infer_neg(OpCheck& check) {
  if (check.ok() && check.in(0).type == Int32)
    check.require(!check.in(0).quantization.present() && !check.out().quantization.present(),
                  "i32 operands have to be plain numbers, without quantisation");
  return {check.in(0).shape};
}

Shapes infer_rsqrt(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && is_integer(input.type) && quantized(check, input.type == Int16))
    check.factor(rsqrt_factor(input, output), 50);
  return {input.shape};
}

Result<void> eval_abs(const Invocation& call) {
  if (call.type() == Int8) return abs_quantized<int8_t>(call);
  if (call.type() == Int16) return abs_quantized<int16_t>(call);
  return map<float>(call, [](float x) { return std::abs(x); });
}

StraightLines exp_lines(const Tensor& in, const Tensor& out) {
  return {in, out, rounded_exp};
}

// What has no logarithm gives the least result.
StraightLines log_lines(const Tensor& in, const Tensor& out) {
  const float least = out.quantization.scale[0] * -32768.0f;
  return {in, out, [least](float x) {
            return x > 0 ? static_cast<float>(std::log(static_cast<double>(x))) : least;
          }};
}

Result<void> eval_exp(const Invocation& call) {
  if (call.type() == Int8) return tabulated(call, rounded_exp);
  if (call.type() == Int16) return map<int16_t>(call, exp_lines(call.in(), call.out()));
  return map<float>(call, rounded_exp);
}

// Of int8, what has no logarithm gives the least result.
Result<void> eval_log(const Invocation& call) {
  const auto log = rounded([](double x) { return std::log(x); });
  if (call.type() == Int16) return map<int16_t>(call, log_lines(call.in(), call.out()));
  if (call.type() == Float32) return map<float>(call, log);
  return tabulated(
      call, [&](float x) { return x > 0 ? log(x) : -std::numeric_limits<float>::infinity(); });
}

Result<void> eval_erf(const Invocation& call) {
  return map<float>(call, rounded([](double x) { return std::erf(x); }));
}

Result<void> eval_neg(const Invocation& call) {
  if (call.type() == Int32) return map<int32_t>(call, [](int32_t x) { return wrapping_sub(0, x); });
  return map<float>(call, [](float x) { return -x; });
}

// LiteRT cuts off what lies between two steps. Below zero there is no root; it refuses to run then.
Result<void> eval_sqrt(const Invocation& call) {
  if (call.type() != Int8) return map<float>(call, [](float x) { return std::sqrt(x); });
  const float in_scale = call.in().quantization.scale[0];
  const float out_scale = call.out().quantization.scale[0];
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  return map<int8_t>(call, [&](int8_t x) -> int32_t {
    const float real = in_scale * static_cast<float>(std::max(x - zero, 0));
    const auto steps = static_cast<int64_t>(std::min(std::sqrt(real) / out_scale, 512.0f));
    return static_cast<int32_t>(std::clamp<int64_t>(steps + call.out_zero_point(), -128, 127));
  });
}

Result<void> eval_rsqrt(const Invocation& call) {
  if (call.type() == Int8) return rsqrt_quantized<int8_t>(call);
  if (call.type() == Int16) return rsqrt_quantized<int16_t>(call);
  return map<float>(call, [](float x) { return 1 / std::sqrt(x); });
}

// Whole numbers wrap around.
Stmt lower_neg(OpLowering& op) {
  if (op.view.in(0).type == Float32)
    return map_elements(op, [](Expr x) { return tir::unary(tir::UnaryOp::Neg, std::move(x)); });
  return map_elements(op, [](Expr x) {
    return tir::cast(Int32, tir::int_imm(0, UInt32) - tir::cast(UInt32, std::move(x)));
  });
}

Stmt lower_abs(OpLowering& op) {
  if (op.view.in(0).type == Int8) return lower_by_table(op);
  if (op.view.in(0).type == Int16) return lower_abs_s16(op);
  return map_elements(op, [](Expr x) {
    const Expr zero = tir::float_imm(0);
    return tir::select(tir::binary(tir::BinaryOp::Lt, x, zero), zero - x, x);
  });
}

Stmt lower_exp(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Int16) return lower_by_lines(op, exp_lines(v.in(0), v.out()).points());
  return lower_by_call(op, "intarsia_exp_f32");
}

Stmt lower_log(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Int16) return lower_by_lines(op, log_lines(v.in(0), v.out()).points());
  return lower_by_call(op, "intarsia_log_f32");
}

Stmt lower_sqrt(OpLowering& op) {
  return op.view.in(0).type == Int8 ? lower_by_table(op) : lower_by_call(op, "intarsia_sqrt_f32");
}

Stmt lower_rsqrt(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Int16) {
    const FixedFactor factor = rsqrt_scaling(v.in(0), v.out());
    return map_elements(op, [&](Expr x) {
      return tir::cast(Int16, tir::call(Int32, "intarsia_rsqrt_s16",
                                        {to_i32(std::move(x)), tir::int_imm(factor.value),
                                         tir::int_imm(factor.shift)}));
    });
  }
  return map_elements(op, [](Expr x) {
    return tir::call(Float32, "intarsia_divide_f32",
                     {tir::float_imm(1), tir::call(Float32, "intarsia_sqrt_f32", {x})});
  });
}

constexpr TypeRule kNegTypes[] = {{Float32, Float32}, {Int32, Int32}};

constexpr Operator kElementaryFunctionOperators[] = {
    {.kind = OpKind::Exp,
     .types = kNumber,
     .infer = infer_unary,
     .evaluate = eval_exp,
     .lower = lower_exp,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Erf,
     .types = kReal,
     .infer = infer_unary,
     .evaluate = eval_erf,
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_erf_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Log,
     .types = kNumber,
     .infer = infer_unary,
     .evaluate = eval_log,
     .lower = lower_log,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Abs,
     .types = kNumber,
     .infer = infer_abs,
     .evaluate = eval_abs,
     .lower = lower_abs,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Neg,
     .types = kNegTypes,
     .infer = infer_neg,
     .evaluate = eval_neg,
     .lower = lower_neg,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Square,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) { return map<float>(call, [](float x) { return x * x; }); },
     .lower = [](OpLowering& op) { return map_elements(op, [](Expr x) { return x * x; }); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Sqrt,
     .types = kInt8OrReal,
     .infer = infer_unary,
     .evaluate = eval_sqrt,
     .lower = lower_sqrt,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Rsqrt,
     .types = kNumber,
     .infer = infer_rsqrt,
     .evaluate = eval_rsqrt,
     .lower = lower_rsqrt,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Sin,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<float>(call, rounded([](double x) { return std::sin(x); }));
         },
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_sin_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Cos,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<float>(call, rounded([](double x) { return std::cos(x); }));
         },
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_cos_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Ceil,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<float>(call, [](float x) { return std::ceil(x); });
         },
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_ceil_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Floor,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<float>(call, [](float x) { return std::floor(x); });
         },
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_floor_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Round,
     .types = kReal,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<float>(call, [](float x) { return round_to_even(x); });
         },
     .lower = [](OpLowering& op) { return lower_by_call(op, "intarsia_round_even_f32"); },
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::LogicalNot,
     .types = kLogic,
     .infer = infer_unary,
     .evaluate =
         [](const Invocation& call) {
           return map<uint8_t>(call, [](uint8_t x) { return x == 0 ? 1 : 0; });
         },
     .lower =
         [](OpLowering& op) {
           return map_elements(op,
                               [](Expr x) { return tir::unary(tir::UnaryOp::Not, std::move(x)); });
         },
     .elementwise = Elementwise::Unary},
};

}  // namespace

std::span<const Operator> elementary_function_operators() {
  return kElementaryFunctionOperators;
}

}  // namespace intarsia::operators
