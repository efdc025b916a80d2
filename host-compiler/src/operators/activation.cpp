// Activation functions of single elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/fixed_point.h"
#include "intarsia/plugin/rounded_exp.h"
#include "operators/common_types.h"
#include "operators/evaluation/broadcast.h"
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

Shapes infer_relu(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && input.type != Float32) {
    const bool symmetric = input.type == Int16;
    if (check.per_tensor(input, "input", symmetric) &&
        check.per_tensor(output, "output", symmetric))
      check.factor(rescale_factor(input, output), kMostExponent32);
  }
  return {input.shape};
}

Shapes infer_leaky_relu(OpCheck& check) {
  const float alpha = check.node.attrs<LeakyReluAttrs>().alpha;
  check.require(std::isfinite(alpha), "alpha is not a finite number");
  if (check.ok() && check.in(0).type != Float32 && quantized(check)) {
    const LeakyReluFactors factors = leaky_relu_factors(check.in(0), check.out(), alpha);
    check.factor(factors.positive, kMostExponent32);
    if (alpha != 0) check.factor(std::abs(factors.negative), kMostExponent32);
  }
  return {check.in(0).shape};
}

Shapes infer_prelu(OpCheck& check) {
  if (check.ok() && check.in(0).type != Float32 && quantized(check)) {
    const PreluFactors factors = prelu_factors(check.in(0), check.in(1), check.out());
    check.factor(factors.positive, kMostExponent32);
    check.factor(factors.negative, kMostExponent32);
  }
  const Shape shape = broadcast_operands(check);
  if (check.ok())
    check.require(shape == check.in(0).shape, "alpha has axes that the input has not");
  return {check.in(0).shape};
}

Shapes infer_sigmoid(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  if (!check.ok() || input.type == Float32) return {input.shape};
  const bool wide = input.type == Int16, is_tanh = check.node.kind == OpKind::Tanh;
  if (!check.per_tensor(input, "input", wide) || !check.per_tensor(output, "output", wide))
    return {input.shape};
  const double scale = wide ? 1.0 / 32768 : is_tanh ? 1.0 / 128 : 1.0 / 256;
  const int64_t zero_point = wide || is_tanh ? 0 : -128;
  check.require(
      std::abs(scale_of(output) - scale) <= 0.001 * scale &&
          output.quantization.zero_point[0] == zero_point,
      fmt::format("the output has to have the scale {} and the zero point {}", scale, zero_point));
  if (wide)
    check.require(scale_of(input) * 3 * 4096 <= 32767, "the input's scale is too large");
  else
    check.factor(scale_of(input) * (1 << 27), kMostExponent32);
  return {input.shape};
}

Shapes infer_hard_swish(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && is_integer(input.type) && quantized(check, input.type == Int16) &&
      input.type == Int8) {
    check.factor(hard_swish_factors(input, output).output, 0);
    check.factor(hard_swish_factors(input, output).gate, 15);
  }
  return {input.shape};
}

// TFLite Micro's RELU rescales; its RELU6 assumes equal scales, for which rescaling changes
// nothing.
template <typename T>
void relu_quantized(const Invocation& call) {
  const FixedFactor factor = fixed_factor(rescale_factor(call.in(), call.out()));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const graph::Range<int64_t> range =
      quantized_range<T>(call.node.attrs<ReluAttrs>().activation, call.out());
  for (int64_t i = 0; i < element_count(call.out().shape); ++i)
    call.result<T>()[i] =
        requantized<T>(multiply(call.data<T>(0)[i] - zero, factor), call.out_zero_point(), range);
}

Result<void> eval_relu(const Invocation& call) {
  const graph::Range<float> range = float_range(call.node.attrs<ReluAttrs>().activation);
  if (call.type() == Int8)
    relu_quantized<int8_t>(call);
  else if (call.type() == Int16)
    relu_quantized<int16_t>(call);
  else if (call.type() == Float32)
    std::transform(call.data<float>(0), call.data<float>(0) + element_count(call.out().shape),
                   call.result<float>(), [&](float value) { return range.clamp(value); });
  else
    return unsupported_types(call);
  return {};
}

template <typename T, typename A>
void prelu(const Invocation& call) {
  const PreluFactors factors = prelu_factors(call.in(0), call.in(1), call.out());
  const FixedFactor positive = fixed_factor(factors.positive);
  const FixedFactor negative = fixed_factor(factors.negative);
  const auto zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto alpha_zero = static_cast<int32_t>(call.in_zero_point(1));
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  broadcast_types<T, A, T>(call, [&](T x, A alpha) {
    const int32_t value = x - zero;
    const int32_t scaled = value >= 0 ? multiply(value, positive)
                                      : multiply(wrapping_mul(value, alpha - alpha_zero), negative);
    return requantized<T>(scaled, call.out_zero_point(), range);
  });
}

template <typename T>
Result<void> leaky_relu(const Invocation& call) {
  const LeakyReluFactors factors =
      leaky_relu_factors(call.in(), call.out(), call.node.attrs<LeakyReluAttrs>().alpha);
  const FixedFactor positive = fixed_factor(factors.positive);
  const FixedFactor negative = fixed_factor(factors.negative);
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  return map<T>(call, [&](T x) {
    const int32_t value = x - zero;
    return requantized<T>(multiply(value, value >= 0 ? positive : negative), call.out_zero_point(),
                          range);
  });
}

// Logistic and tanh of int8: in Q4.27, beyond its range the limits.
Result<void> sigmoid_of_int8(const Invocation& call) {
  const FixedFactor factor = fixed_factor(scale_of(call.in()) * (1 << 27));
  // Of an input scale that is almost nothing no value is beyond it.
  constexpr double kFar = 1 << 30;
  const auto radius =
      static_cast<int32_t>(std::floor(std::min(std::ldexp(15.0 * (1 << 27), -factor.shift), kFar)));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const bool is_tanh = call.node.kind == OpKind::Tanh;
  return map<int8_t>(call, [&](int8_t x) {
    const int32_t value = x - zero;
    if (value <= -radius) return -128;
    if (value >= radius) return 127;
    const int32_t q4 = multiply(value, factor);
    const int32_t result = is_tanh ? rounding_shift_right(tanh_of(q4), 24)
                                   : rounding_shift_right(logistic_of(q4), 23) - 128;
    return std::clamp(result, -128, 127);
  });
}

Result<void> sigmoid_of_int16(const Invocation& call) {
  const bool is_tanh = call.node.kind == OpKind::Tanh;
  const graph::SigmoidScaling scaling = graph::sigmoid_scaling(scale_of(call.in()), is_tanh);
  const SigmoidTable& table = sigmoid_table();
  return map<int16_t>(call, [&](int16_t x) {
    return is_tanh ? table.tanh(x, scaling.multiplier, scaling.shift)
                   : table.sigmoid(x, scaling.multiplier, scaling.shift);
  });
}

// 16-bit fixed point.
int32_t rounded_high_product16(int32_t a, int32_t b) {
  if (a == -32768 && b == -32768) return 32767;
  const int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

int32_t high_product16(int32_t a, int32_t b) {
  if (a == -32768 && b == -32768) return 32767;
  return a * b / (1 << 15);
}

int32_t factor16(const FixedFactor& factor) {
  const int64_t rounded = (static_cast<int64_t>(factor.value) + (1 << 15)) >> 16;
  return static_cast<int32_t>(std::min<int64_t>(rounded, 32767));
}

Result<void> hard_swish_of_int8(const Invocation& call) {
  const HardSwishFactors factors = hard_swish_factors(call.in(), call.out());
  const FixedFactor output = fixed_factor(factors.output), gate = fixed_factor(factors.gate);
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  return map<int8_t>(call, [&](int8_t x) {
    // The difference of two int8 with 7 bits more, kept in 16 bits.
    const auto fine = static_cast<int16_t>((x - zero) * (1 << 7));
    const int32_t on_output_scale = rounded_high_product16(fine, factor16(output));
    int32_t reluish = fine;
    if (gate.shift > 0) reluish = saturated_to_int16(int64_t{reluish} << (gate.shift - 1));
    reluish = rounded_high_product16(reluish, factor16(gate));
    if (gate.shift > 0) reluish = saturated_to_int16(int64_t{reluish} << 1);
    if (gate.shift < 0) reluish = rounding_shift_right(reluish, std::min(-gate.shift, 31));
    reluish = (reluish + (1 << 15)) >> 1;
    const int32_t product = high_product16(reluish, on_output_scale);
    const int32_t result = rounding_shift_right(product, std::min(-output.shift, 31));
    return std::clamp<int64_t>(result + call.out_zero_point(), -128, 127);
  });
}

float hard_swish(float x) {
  return x * std::min(6.0f, std::max(0.0f, x + 3)) / 6;
}

// Of int16 it is what converters leave, which have no operator of it: floats between two tensors of 16 bits, each step rounded.
Result<void> hard_swish_of_int16(const Invocation& call) {
  const double in_scale = scale_of(call.in());
  const float out_scale = call.out().quantization.scale[0];
  return map<int16_t>(call, [&](int16_t x) -> int32_t {
    const float steps = std::round(hard_swish(static_cast<float>(in_scale * x)) / out_scale);
    if (std::isnan(steps)) return -32768;
    return static_cast<int32_t>(std::clamp(steps, -32768.0f, 32767.0f));
  });
}

float elu(float x) {
  return x < 0 ? rounded_exp(x) - 1 : x;
}

Result<void> eval_leaky_relu(const Invocation& call) {
  if (call.type() == Int8) return leaky_relu<int8_t>(call);
  if (call.type() == Int16) return leaky_relu<int16_t>(call);
  const float alpha = call.node.attrs<LeakyReluAttrs>().alpha;
  return map<float>(call, [&](float x) { return x > 0 ? x : x * alpha; });
}

Result<void> eval_prelu(const Invocation& call) {
  if (call.type() == Int8)
    prelu<int8_t, int8_t>(call);
  else if (call.type() == Int16)
    prelu<int16_t, int8_t>(call);
  else
    broadcast<float>(call, [](float x, float alpha) { return x >= 0 ? x : x * alpha; });
  return {};
}

Result<void> eval_logistic(const Invocation& call) {
  if (call.type() == Int8) return sigmoid_of_int8(call);
  if (call.type() == Int16) return sigmoid_of_int16(call);
  return map<float>(call, rounded([](double x) { return 1 / (1 + std::exp(-x)); }));
}

Result<void> eval_tanh(const Invocation& call) {
  if (call.type() == Int8) return sigmoid_of_int8(call);
  if (call.type() == Int16) return sigmoid_of_int16(call);
  return map<float>(call, rounded([](double x) { return std::tanh(x); }));
}

Result<void> eval_hard_swish(const Invocation& call) {
  if (call.type() == Int8) return hard_swish_of_int8(call);
  if (call.type() == Int16) return hard_swish_of_int16(call);
  return map<float>(call, hard_swish);
}

Result<void> eval_elu(const Invocation& call) {
  return call.type() == Int8 ? tabulated(call, elu) : map<float>(call, elu);
}

double gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

double gelu_by_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// TFLite computes the points for int16 in single precision, step by step.
float gelu_of_point(float x) {
  const float part = x * -std::sqrt(0.5f);
  return 0.5f * x * static_cast<float>(std::erfc(static_cast<double>(part)));
}

float gelu_of_point_by_tanh(float x) {
  constexpr auto kRoot = static_cast<float>(0.79788456080286535588);  // of 2 / pi
  const float cube = 0.044715f * x * x * x, part = kRoot * (x + cube);
  return 0.5f * x * (1 + static_cast<float>(std::tanh(static_cast<double>(part))));
}

StraightLines gelu_lines(const graph::Node& node, const Tensor& in, const Tensor& out) {
  return {in, out, node.attrs<GeluAttrs>().approximate ? gelu_of_point_by_tanh : gelu_of_point};
}

Result<void> eval_gelu(const Invocation& call) {
  if (call.type() == Int16) return map<int16_t>(call, gelu_lines(call.node, call.in(), call.out()));
  const auto function = rounded(call.node.attrs<GeluAttrs>().approximate ? gelu_by_tanh : gelu);
  return call.type() == Int8 ? tabulated(call, function) : map<float>(call, function);
}

Stmt lower_gelu(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Int16)
    return lower_by_lines(op, gelu_lines(v.node, v.in(0), v.out()).points());
  const bool by_tanh = v.node.attrs<GeluAttrs>().approximate;
  return lower_by_call(op, by_tanh ? "intarsia_gelu_tanh_f32" : "intarsia_gelu_f32");
}

Stmt lower_relu(OpLowering& op) {
  const OpView& v = op.view;
  const Activation activation = v.node.attrs<ReluAttrs>().activation;
  if (!is_integer(v.out().type)) {
    return map_elements(op, [&](Expr x) { return clamp(x, activation_range(activation)); });
  }
  const double factor = rescale_factor(v.in(0), v.out());
  return map_elements(op, [&](Expr x) {
    return rescaled(v, std::move(x), factor, activation_limits(v, activation));
  });
}

Stmt lower_prelu(OpLowering& op) {
  const OpView& v = op.view;
  if (!is_integer(v.out().type)) {
    return combine_operands(op, [&](const std::vector<Expr>& x) {
      return tir::select(tir::binary(tir::BinaryOp::Ge, x[0], tir::float_imm(0)), x[0],
                         x[0] * x[1]);
    });
  }
  const double in = scale(v.in(0)), out = scale(v.out());
  const Multiplier positive = quantize_multiplier(in / out);
  const Multiplier negative = quantize_multiplier(in * static_cast<double>(scale(v.in(1))) / out);
  return combine_operands(op, [&](const std::vector<Expr>& x) {
    const Expr value = centred(x[0], v.in(0));
    const Expr scaled = tir::select(tir::binary(tir::BinaryOp::Ge, value, tir::int_imm(0)),
                                    requantize(value, positive),
                                    requantize(value * centred(x[1], v.in(1)), negative));
    return finished(v, scaled);
  });
}

Stmt lower_leaky_relu_s16(OpLowering& op) {
  const OpView& v = op.view;
  const float alpha = v.node.attrs<LeakyReluAttrs>().alpha;
  const double in = static_cast<double>(scale(v.in(0))), out = static_cast<double>(scale(v.out()));
  const Multiplier positive = quantize_multiplier(in / out);
  const Multiplier negative = quantize_multiplier(in * static_cast<double>(alpha) / out);
  return map_elements(op, [&](Expr x) {
    const Expr value = to_i32(std::move(x)) - zero_point(v.in(0));
    return finished(v, tir::select(tir::binary(tir::BinaryOp::Ge, value, tir::int_imm(0)),
                                   requantize(value, positive), requantize(value, negative)));
  });
}

Stmt lower_leaky_relu(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Int16) return lower_leaky_relu_s16(op);
  const float alpha = v.node.attrs<LeakyReluAttrs>().alpha;
  return map_elements(op, [&](Expr x) {
    return tir::select(tir::binary(tir::BinaryOp::Gt, x, tir::float_imm(0)), x,
                       x * tir::float_imm(alpha));
  });
}

// What the table of int16 sigmoids multiplies its argument by: multiplier / 2^shift.
struct TableScaling {
  int32_t multiplier, shift;
};
TableScaling table_scaling(double input_scale, bool is_tanh) {
  int exponent = 0;
  const bool power = std::frexp(input_scale, &exponent) == 0.5;
  const int left = 11 + exponent;  // from the input's scale to 2^-12
  if (power && (left == 0 || (is_tanh && left == 1))) return {3 << left, 0};
  double multiplier = input_scale * 4096.0 * 3.0;
  int32_t shift = 0;
  for (; multiplier <= 32767.0 / 2.0 && shift <= 30; ++shift) multiplier *= 2.0;
  return {static_cast<int32_t>(multiplier), shift};
}

// Logistic and tanh: int8 by a table of results, int16 by one that is interpolated.
Stmt lower_sigmoid(OpLowering& op) {
  const OpView& v = op.view;
  const bool is_tanh = v.node.kind == OpKind::Tanh;
  if (v.in(0).type == Int8) return lower_by_table(op);
  if (v.in(0).type == Float32)
    return lower_by_call(op, is_tanh ? "intarsia_tanh_f32" : "intarsia_logistic_f32");
  const TableScaling s = table_scaling(static_cast<double>(scale(v.in(0))), is_tanh);
  return map_elements(op, [&](Expr x) {
    const Expr result =
        tir::call(Int32, is_tanh ? "intarsia_tanh_s16" : "intarsia_sigmoid_s16",
                  {to_i32(std::move(x)), tir::int_imm(s.multiplier), tir::int_imm(s.shift)});
    return tir::cast(Int16, result);
  });
}

Stmt lower_hard_swish(OpLowering& op) {
  const OpView& v = op.view;
  if (v.in(0).type == Int8) return lower_by_table(op);
  const auto hard_swish = [](const Expr& x) {
    const Expr gate =
        tir::min(tir::float_imm(6), tir::max(tir::float_imm(0), x + tir::float_imm(3)));
    return tir::call(Float32, "intarsia_divide_f32", {x * gate, tir::float_imm(6)});
  };
  if (v.in(0).type == Float32) return map_elements(op, hard_swish);
  return map_elements(op, [&](Expr x) {
    const Expr real = tir::cast(Float32, to_i32(std::move(x))) * tir::float_imm(scale(v.in(0)));
    const Expr steps =
        tir::call(Int32, "intarsia_quantize_f32",
                  {hard_swish(real), tir::float_imm(scale(v.out())), tir::int_imm(0),
                   tir::int_imm(type_range(Int16).low), tir::int_imm(type_range(Int16).high)});
    return tir::cast(Int16, steps);
  });
}

Stmt lower_elu(OpLowering& op) {
  if (op.view.in(0).type == Int8) return lower_by_table(op);
  return map_elements(op, [](Expr x) {
    const Expr below = tir::call(Float32, "intarsia_exp_f32", {x}) - tir::float_imm(1);
    return tir::select(tir::binary(tir::BinaryOp::Lt, x, tir::float_imm(0)), below, x);
  });
}

// Input, alpha -> output.
constexpr TypeRule kPreluTypes[] = {
    {Int8, Int8, Int8}, {Int16, Int8, Int16}, {Float32, Float32, Float32}};

constexpr Operator kActivationOperators[] = {
    {.kind = OpKind::Relu,
     .types = kNumber,
     .infer = infer_relu,
     .evaluate = eval_relu,
     .lower = lower_relu,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::LeakyRelu,
     .types = kNumber,
     .infer = infer_leaky_relu,
     .evaluate = eval_leaky_relu,
     .lower = lower_leaky_relu,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::Prelu,
     .types = kPreluTypes,
     .infer = infer_prelu,
     .evaluate = eval_prelu,
     .lower = lower_prelu,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::Logistic,
     .types = kNumber,
     .infer = infer_sigmoid,
     .evaluate = eval_logistic,
     .lower = lower_sigmoid,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::Tanh,
     .types = kNumber,
     .infer = infer_sigmoid,
     .evaluate = eval_tanh,
     .lower = lower_sigmoid,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::HardSwish,
     .types = kNumber,
     .infer = infer_hard_swish,
     .evaluate = eval_hard_swish,
     .lower = lower_hard_swish,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::Elu,
     .types = kInt8OrReal,
     .infer = infer_unary,
     .evaluate = eval_elu,
     .lower = lower_elu,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::Gelu,
     .types = kNumber,
     .infer = infer_unary,
     .evaluate = eval_gelu,
     .lower = lower_gelu,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
};

}  // namespace

std::span<const Operator> activation_operators() {
  return kActivationOperators;
}

}  // namespace intarsia::operators
