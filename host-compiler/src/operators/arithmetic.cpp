// Arithmetic of two operands element by element, broadcast: sums, products, quotients, differences, extremes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_functions.h"
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

// From a quotient of integers to the output's: TFLite computes it in single precision.
double quotient_factor(const Tensor& a, const Tensor& b, const Tensor& output) {
  return a.quantization.scale[0] / (b.quantization.scale[0] * output.quantization.scale[0]);
}

Shapes infer_binary(OpCheck& check) {
  const auto& attributes = check.node.attrs<BinaryAttrs>();
  const OpKind kind = check.node.kind;
  const bool is_add = kind == OpKind::Add || kind == OpKind::Sub;
  const Tensor &a = check.in(0), &b = check.in(1), &output = check.out();
  if (check.ok() && output.type == Int32) {
    check.require(!a.quantization.present() && !b.quantization.present(),
                  "i32 operands have to be plain numbers, without quantisation");
    check.require(attributes.activation == Activation::None, "i32 takes no fused activation");
  } else if (check.ok() && output.type != Float32) {
    const bool symmetric = !is_add && output.type == Int16;
    check.per_tensor(a, "first operand", symmetric);
    check.per_tensor(b, "second operand", symmetric);
    check.per_tensor(output, "output", symmetric);
    // TFLite represents the output's factor of an addition by a right shift only.
    if (check.ok() && is_add) check.factor(add_factors(a, b, output).output, 0);
    // Of 9 bits: the least that a quotient is shifted to the right after. Quotients of 16 bits have steps of 2^-15 and less of what is usual
    // for them; where they would have to be shifted to the left, they are beyond the range.
    const int most_exponent_of_quotient = output.type == Int16 ? 30 : 23;
    if (check.ok() && kind == OpKind::Div)
      check.factor(quotient_factor(a, b, output), most_exponent_of_quotient);
    if (check.ok() && kind == OpKind::Mul) check.factor(mul_factor(a, b, output), kMostExponent32);
  }
  return {broadcast_shape(check, a.shape, b.shape)};
}

Shapes infer_squared_difference(OpCheck& check) {
  const DataType type = check.out().type;
  if (check.ok() && type != Float32 && type != Int32 && quantized(check, type == Int16))
    check.factor(squared_difference_factors(check.in(0), check.in(1), check.out()).output,
                 kMostExponent32);
  return {broadcast_operands(check)};
}

Shapes infer_broadcast(OpCheck& check) {
  return {broadcast_operands(check)};
}

template <typename T>
void add_quantized(const Invocation& call, const AddFactors& factors, int32_t sign) {
  const FixedFactor a_factor = fixed_factor(factors.a), b_factor = fixed_factor(factors.b);
  const FixedFactor out_factor = fixed_factor(factors.output);
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const int32_t unit = 1 << factors.left_shift;
  const graph::Range<int64_t> range =
      quantized_range<T>(call.node.attrs<BinaryAttrs>().activation, call.out());
  broadcast<T>(call, [&](T a, T b) {
    const int32_t x = multiply(wrapping_mul(a - a_zero, unit), a_factor);
    const int32_t y = multiply(wrapping_mul(b - b_zero, unit), b_factor);
    return requantized<T>(multiply(wrapping_add(x, sign * y), out_factor), call.out_zero_point(),
                          range);
  });
}

template <typename T>
void mul_quantized(const Invocation& call) {
  const FixedFactor factor = fixed_factor(mul_factor(call.in(0), call.in(1), call.out()));
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const graph::Range<int64_t> range =
      quantized_range<T>(call.node.attrs<BinaryAttrs>().activation, call.out());
  broadcast<T>(call, [&](T a, T b) {
    return requantized<T>(multiply(wrapping_mul(a - a_zero, b - b_zero), factor),
                          call.out_zero_point(), range);
  });
}

Result<void> eval_add(const Invocation& call) {
  const graph::Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
  if (call.type() == Int8)
    add_quantized<int8_t>(call, add_factors(call.in(0), call.in(1), call.out()), 1);
  else if (call.type() == Int16)
    add_quantized<int16_t>(call, add_factors(call.in(0), call.in(1), call.out()), 1);
  else if (call.type() == Int32)
    broadcast<int32_t>(call, wrapping_add);
  else if (call.type() == Float32)
    broadcast<float>(call, [&](float a, float b) { return range.clamp(a + b); });
  else
    return unsupported_types(call);
  return {};
}

Result<void> eval_sub(const Invocation& call) {
  const graph::Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
  if (call.type() == Int8)
    add_quantized<int8_t>(call, add_factors(call.in(0), call.in(1), call.out()), -1);
  else if (call.type() == Int16)
    add_quantized<int16_t>(call, add_factors(call.in(0), call.in(1), call.out()), -1);
  else if (call.type() == Int32)
    broadcast<int32_t>(call, wrapping_sub);
  else if (call.type() == Float32)
    broadcast<float>(call, [&](float a, float b) { return range.clamp(a - b); });
  else
    return unsupported_types(call);
  return {};
}

Result<void> eval_mul(const Invocation& call) {
  const graph::Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
  if (call.type() == Int8)
    mul_quantized<int8_t>(call);
  else if (call.type() == Int16)
    mul_quantized<int16_t>(call);
  else if (call.type() == Int32)
    broadcast<int32_t>(call, wrapping_mul);
  else if (call.type() == Float32)
    broadcast<float>(call, [&](float a, float b) { return range.clamp(a * b); });
  else
    return unsupported_types(call);
  return {};
}

template <typename T>
void squared_difference(const Invocation& call) {
  const AddFactors factors = squared_difference_factors(call.in(0), call.in(1), call.out());
  const FixedFactor a_factor = fixed_factor(factors.a), b_factor = fixed_factor(factors.b);
  const FixedFactor out_factor = fixed_factor(factors.output);
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const int32_t unit = 1 << factors.left_shift;
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  broadcast<T>(call, [&](T a, T b) {
    const int32_t difference =
        multiply((a - a_zero) * unit, a_factor) - multiply((b - b_zero) * unit, b_factor);
    return requantized<T>(multiply(wrapping_mul(difference, difference), out_factor),
                          call.out_zero_point(), range);
  });
}

// Rounded toward minus infinity, and what is left of a, with the sign of b. A division of integers by
// zero has no result; here it is 0.
float floor_div(float a, float b) {
  return std::floor(a / b);
}

int32_t floor_div(int32_t a, int32_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrapping_sub(0, a);
  const int32_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

float floor_mod(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int32_t floor_mod(int32_t a, int32_t b) {
  if (b == 0 || b == -1) return 0;
  const int32_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// TFLite's quotient: the reciprocal of the denominator's leading bits, then two scalings.
int32_t quotient(int32_t a, int32_t b, const FixedFactor& factor) {
  if (a == 0) return 0;
  if (b == 0)
    return a > 0 ? 65535 : -65535;  // beyond the range: undefined there, an end of it here
  if (b < 0) a = -a, b = -b;
  const int zeros = std::countl_zero(static_cast<uint32_t>(b));
  const auto fraction =
      static_cast<int32_t>((static_cast<uint32_t>(b) << zeros) - (UINT32_C(1) << 31));
  // Bits that repeat the sign.
  const int room = std::countl_zero(static_cast<uint32_t>(a < 0 ? ~a : a)) - 1;
  const auto scaled = static_cast<int32_t>(static_cast<uint32_t>(a) << room);
  const int32_t whole = doubling_high_product(scaled, reciprocal_of_one_plus(fraction));
  const int right = room + (31 - zeros) - factor.shift;
  if (right < 0) return a > 0 ? 65535 : -65535;  // 2^29 or more
  return right > 31 ? 0 : rounding_shift_right(doubling_high_product(whole, factor.value), right);
}

template <typename T>
void div_quantized(const Invocation& call) {
  const FixedFactor factor = fixed_factor(quotient_factor(call.in(0), call.in(1), call.out()));
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const graph::Range<int64_t> range =
      quantized_range<T>(call.node.attrs<BinaryAttrs>().activation, call.out());
  broadcast<T>(call, [&](T a, T b) {
    return requantized<T>(quotient(a - a_zero, b - b_zero, factor), call.out_zero_point(), range);
  });
}

Result<void> eval_div(const Invocation& call) {
  if (call.type() == Int8) return div_quantized<int8_t>(call), Result<void>();
  if (call.type() == Int16) return div_quantized<int16_t>(call), Result<void>();
  if (call.type() == Int32) {
    broadcast<int32_t>(call, [](int32_t a, int32_t b) {
      return b == 0 ? 0 : static_cast<int32_t>(static_cast<uint32_t>(int64_t{a} / b));
    });
    return {};
  }
  const graph::Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
  broadcast<float>(call, [&](float a, float b) { return range.clamp(a / b); });
  return {};
}

Result<void> eval_pow(const Invocation& call) {
  broadcast<float>(call, [](float a, float b) {
    return static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  });
  return {};
}

Result<void> eval_atan2(const Invocation& call) {
  broadcast<float>(call, [](float y, float x) {
    return static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
  });
  return {};
}

Result<void> eval_floor_div(const Invocation& call) {
  if (call.type() == Int32)
    broadcast<int32_t>(call, [](int32_t a, int32_t b) { return floor_div(a, b); });
  else
    broadcast<float>(call, [](float a, float b) { return floor_div(a, b); });
  return {};
}

Result<void> eval_floor_mod(const Invocation& call) {
  if (call.type() == Int32)
    broadcast<int32_t>(call, [](int32_t a, int32_t b) { return floor_mod(a, b); });
  else
    broadcast<float>(call, [](float a, float b) { return floor_mod(a, b); });
  return {};
}

template <typename T>
void extreme_of_pairs(const Invocation& call) {
  // The second operand where either of them is not a number, as in programs.
  if (call.node.kind == OpKind::Minimum)
    broadcast<T>(call, [](T a, T b) { return a < b ? a : b; });
  else
    broadcast<T>(call, [](T a, T b) { return a > b ? a : b; });
}

Result<void> eval_extreme(const Invocation& call) {
  switch (call.type()) {
    case Int8:
      return extreme_of_pairs<int8_t>(call), Result<void>();
    case Int16:
      return extreme_of_pairs<int16_t>(call), Result<void>();
    case Int32:
      return extreme_of_pairs<int32_t>(call), Result<void>();
    case Int64:
      return extreme_of_pairs<int64_t>(call), Result<void>();
    case Float32:
      return extreme_of_pairs<float>(call), Result<void>();
    default:
      return unsupported_types(call);
  }
}

Result<void> eval_squared_difference(const Invocation& call) {
  if (call.type() == Int8)
    squared_difference<int8_t>(call);
  else if (call.type() == Int16)
    squared_difference<int16_t>(call);
  else if (call.type() == Int32)
    broadcast<int32_t>(call, [](int32_t a, int32_t b) {
      return wrapping_mul(wrapping_sub(a, b), wrapping_sub(a, b));
    });
  else
    broadcast<float>(call, [](float a, float b) { return (a - b) * (a - b); });
  return {};
}

Stmt combine_elements(OpLowering& op, const std::function<Expr(Expr, Expr)>& function) {
  return combine_operands(op, [&](const std::vector<Expr>& x) { return function(x[0], x[1]); });
}

std::optional<AddRescaling> rescaling_of(const OpView& v) {
  return add_rescaling(v.out().type, scale_of(v.in(0)), scale_of(v.in(1)), scale_of(v.out()));
}

// (value - zero point) * 2^left_shift, rescaled to the common scale of both operands. A factor that
// is a power of two above 2^-left_shift joins the shift: nothing is rounded then.
Expr widened(Expr value, const Tensor& tensor, int32_t left_shift, Multiplier m) {
  value = to_i32(std::move(value)) - zero_point(tensor);
  const int32_t exact = left_shift - 1 + m.shift;
  if (m.value == 1 << 30 && exact >= 0) return std::move(value) * (int64_t{1} << exact);
  return requantize(std::move(value) * (int64_t{1} << left_shift), m);
}

Refusal refuses_binary(const OpView& view) {
  if (view.out().type == Int32) return std::nullopt;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  const bool is_sum = view.node.kind == OpKind::Add || view.node.kind == OpKind::Sub;
  if (is_sum && is_integer(view.out().type) && !rescaling_of(view))
    return "the scales of operands and output are too far apart";
  return std::nullopt;
}

// Plain numbers wrap around.
Stmt combine_plain(OpLowering& op, tir::BinaryOp operation) {
  return combine_elements(op, [&](Expr a, Expr b) {
    const DataType wide = DataType::UInt32;
    return tir::cast(DataType::Int32, tir::binary(operation, tir::cast(wide, std::move(a)),
                                                  tir::cast(wide, std::move(b))));
  });
}

Stmt lower_sum(OpLowering& op) {
  const OpView& v = op.view;
  const bool is_sub = v.node.kind == OpKind::Sub;
  const Activation activation = v.node.attrs<BinaryAttrs>().activation;
  if (v.out().type == DataType::Int32)
    return combine_plain(op, is_sub ? tir::BinaryOp::Sub : tir::BinaryOp::Add);
  if (!is_integer(v.out().type)) {
    return combine_elements(op, [&](Expr a, Expr b) {
      return clamp(is_sub ? a - b : a + b, activation_range(activation));
    });
  }
  const AddRescaling rescaling = *rescaling_of(v);
  const Range range = activation_limits(v, activation);
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr x = widened(std::move(a), v.in(0), rescaling.left_shift, rescaling.a);
    const Expr y = widened(std::move(b), v.in(1), rescaling.left_shift, rescaling.b);
    const Expr sum = is_sub ? x - y : x + y;
    return clamp(requantize(sum, rescaling.output) + zero_point(v.out()), range, v.out().type);
  });
}

Stmt lower_div(OpLowering& op) {
  const OpView& v = op.view;
  const Activation activation = v.node.attrs<BinaryAttrs>().activation;
  if (v.out().type == DataType::Int32) {
    return combine_elements(op, [](Expr a, Expr b) {
      return tir::call(DataType::Int32, "intarsia_divide_i32", {std::move(a), std::move(b)});
    });
  }
  if (is_integer(v.out().type)) {
    const Multiplier m = quantize_multiplier(quotient_factor(v.in(0), v.in(1), v.out()));
    const Range range = activation_limits(v, activation);
    return combine_elements(op, [&](Expr a, Expr b) {
      const Expr quotient =
          tir::call(DataType::Int32, "intarsia_divide_q",
                    {centred(std::move(a), v.in(0)), centred(std::move(b), v.in(1)),
                     tir::int_imm(m.value), tir::int_imm(m.shift)});
      return clamp(quotient + zero_point(v.out()), range, v.out().type);
    });
  }
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr quotient =
        tir::call(DataType::Float32, "intarsia_divide_f32", {std::move(a), std::move(b)});
    return clamp(quotient, activation_range(activation));
  });
}

Stmt lower_mul(OpLowering& op) {
  const OpView& v = op.view;
  const Activation activation = v.node.attrs<BinaryAttrs>().activation;
  if (v.out().type == DataType::Int32) return combine_plain(op, tir::BinaryOp::Mul);
  if (!is_integer(v.out().type)) {
    return combine_elements(
        op, [&](Expr a, Expr b) { return clamp(a * b, activation_range(activation)); });
  }
  const Multiplier m =
      quantize_multiplier(scale_of(v.in(0)) * scale_of(v.in(1)) / scale_of(v.out()));
  const Range range = activation_limits(v, activation);
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr product =
        (to_i32(std::move(a)) - zero_point(v.in(0))) * (to_i32(std::move(b)) - zero_point(v.in(1)));
    return clamp(requantize(product, m) + zero_point(v.out()), range, v.out().type);
  });
}

AddRescaling difference_rescaling(const OpView& v) {
  return *squared_difference_rescaling(v.out().type, scale(v.in(0)), scale(v.in(1)),
                                       scale(v.out()));
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
    const Expr steps = requantize(squared, r.output);
    if (r.output.shift <= 0) return finished(v, steps);
    // To the left: with the zero point they might leave 32 bits.
    constexpr int64_t kBeyond = 1 << 20;
    return finished(v, tir::max(tir::min(steps, tir::int_imm(kBeyond)), tir::int_imm(-kBeyond)));
  });
}

// A constant that all elements of the first operand have as their exponent.
std::optional<float> common_exponent(const OpView& v) {
  if (!v.is_constant(1) || element_count(v.in(0).shape) != element_count(v.out().shape))
    return std::nullopt;
  const std::vector<uint8_t> bytes = v.stored_bytes(1);
  std::vector<float> exponents(bytes.size() / sizeof(float));
  std::memcpy(exponents.data(), bytes.data(), bytes.size());
  if (std::ranges::adjacent_find(exponents, std::not_equal_to<>()) != exponents.end())
    return std::nullopt;
  return exponents.front();
}

// Squares, as norms and spectra have them, and few factors more are products: a power takes hundreds of cycles, where
// double precision is a library's thousands.
Stmt lower_pow(OpLowering& op) {
  constexpr float kMostFactors = 4;
  const std::optional<float> exponent = common_exponent(op.view);
  if (exponent && *exponent >= 2 && *exponent <= kMostFactors && *exponent == std::floor(*exponent))
    return map_elements(op, [&](const Expr& x) {
      if (*exponent == kMostFactors) return (x * x) * (x * x);
      return *exponent == 3 ? x * x * x : x * x;
    });
  return combine_operands(
      op, [](const std::vector<Expr>& x) { return tir::call(Float32, "intarsia_pow_f32", x); });
}

Stmt lower_atan2(OpLowering& op) {
  return combine_operands(
      op, [](const std::vector<Expr>& x) { return tir::call(Float32, "intarsia_atan2_f32", x); });
}

Stmt lower_floor_div(OpLowering& op) {
  const bool integer = op.view.out().type == Int32;
  return combine_operands(op, [integer](const std::vector<Expr>& x) {
    if (integer) return tir::call(Int32, "intarsia_floor_div_i32", x);
    return tir::call(Float32, "intarsia_floor_f32", {tir::call(Float32, "intarsia_divide_f32", x)});
  });
}

Stmt lower_floor_mod(OpLowering& op) {
  const bool integer = op.view.out().type == Int32;
  return combine_operands(op, [integer](const std::vector<Expr>& x) {
    return integer ? tir::call(Int32, "intarsia_floor_mod_i32", x)
                   : tir::call(Float32, "intarsia_floor_mod_f32", x);
  });
}

constexpr TypeRule kExtremeTypes[] = {{Int8, Int8, Int8},
                                      {Int16, Int16, Int16},
                                      {Int32, Int32, Int32},
                                      evaluated_only({Int64, Int64, Int64}),
                                      {Float32, Float32, Float32}};
constexpr TypeRule kDifferenceTypes[] = {{Int8, Int8, Int8},
                                         {Int16, Int16, Int16},
                                         evaluated_only({Int32, Int32, Int32}),
                                         {Float32, Float32, Float32}};
constexpr TypeRule kDivTypes[] = {
    {Int8, Int8, Int8}, {Int16, Int16, Int16}, {Int32, Int32, Int32}, {Float32, Float32, Float32}};
constexpr TypeRule kFloorTypes[] = {{Int32, Int32, Int32}, {Float32, Float32, Float32}};

constexpr Operator kArithmeticOperators[] = {
    {.kind = OpKind::Add,
     .types = kTwoNumbersOrInt32,
     .infer = infer_binary,
     .evaluate = eval_add,
     .lower = lower_sum,
     .refuses = refuses_binary,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::Sub,
     .types = kTwoNumbersOrInt32,
     .infer = infer_binary,
     .evaluate = eval_sub,
     .lower = lower_sum,
     .refuses = refuses_binary,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::Mul,
     .types = kTwoNumbersOrInt32,
     .infer = infer_binary,
     .evaluate = eval_mul,
     .lower = lower_mul,
     .refuses = refuses_binary,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::Div,
     .types = kDivTypes,
     .infer = infer_binary,
     .evaluate = eval_div,
     .lower = lower_div,
     .refuses = refuses_binary,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::Minimum,
     .types = kExtremeTypes,
     .infer = infer_broadcast,
     .evaluate = eval_extreme,
     .lower = lower_minimum_maximum,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::Maximum,
     .types = kExtremeTypes,
     .infer = infer_broadcast,
     .evaluate = eval_extreme,
     .lower = lower_minimum_maximum,
     .elementwise = Elementwise::Binary,
     .rows = each_row},
    {.kind = OpKind::SquaredDifference,
     .types = kDifferenceTypes,
     .infer = infer_squared_difference,
     .evaluate = eval_squared_difference,
     .lower = lower_squared_difference,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Binary},
    {.kind = OpKind::Pow,
     .types = kTwoReals,
     .infer = infer_broadcast,
     .evaluate = eval_pow,
     .lower = lower_pow,
     .elementwise = Elementwise::Binary,
     .channels = opaque},
    {.kind = OpKind::Atan2,
     .types = kTwoReals,
     .infer = infer_broadcast,
     .evaluate = eval_atan2,
     .lower = lower_atan2,
     .elementwise = Elementwise::Binary,
     .channels = opaque},
    {.kind = OpKind::FloorDiv,
     .types = kFloorTypes,
     .infer = infer_broadcast,
     .evaluate = eval_floor_div,
     .lower = lower_floor_div,
     .elementwise = Elementwise::Binary,
     .channels = opaque},
    {.kind = OpKind::FloorMod,
     .types = kFloorTypes,
     .infer = infer_broadcast,
     .evaluate = eval_floor_mod,
     .lower = lower_floor_mod,
     .elementwise = Elementwise::Binary,
     .channels = opaque},
};

}  // namespace

std::span<const Operator> arithmetic_operators() {
  return kArithmeticOperators;
}

}  // namespace intarsia::operators
