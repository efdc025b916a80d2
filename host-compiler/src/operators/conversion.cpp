// Changes of type and quantisation, element by element.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/families.h"
#include "operators/lowering/broadcast.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_quantize(OpCheck& check) {
  const Tensor &input = check.in(0), &output = check.out();
  check.per_tensor(output, "output");
  if (input.type != Float32 && check.per_tensor(input, "input") && check.ok())
    check.factor(rescale_factor(input, output), kMostExponent32);
  return {input.shape};
}

Shapes infer_dequantize(OpCheck& check) {
  check.per_tensor(check.in(0), "input");
  return {check.in(0).shape};
}

Shapes infer_cast(OpCheck& check) {
  const auto castable = [](DataType type) {
    return type == Bool || type == Int8 || type == UInt8 || type == Int16 || type == Int32 ||
           type == UInt32 || type == Int64 || type == Float32;
  };
  check.require(castable(check.in(0).type) && castable(check.out().type),
                fmt::format("cannot convert {}", check.types_text()));
  return {check.in(0).shape};
}

// A NaN becomes the least value: what clamping by comparison gives.
template <typename To>
void quantize_floats(const Invocation& call) {
  const float scale = call.out().quantization.scale[0];
  const graph::Range<int64_t> range = quantized_range<To>(Activation::None, call.out());
  constexpr float kFar = 1e9f;
  for (int64_t i = 0; i < element_count(call.out().shape); ++i) {
    const float steps = std::round(call.data<float>(0)[i] / scale);
    const float bounded = std::isnan(steps) ? -kFar : std::clamp(steps, -kFar, kFar);
    call.result<To>()[i] =
        static_cast<To>(range.clamp(static_cast<int64_t>(bounded) + call.out_zero_point()));
  }
}

template <typename From, typename To>
void requantize(const Invocation& call) {
  const FixedFactor factor = fixed_factor(rescale_factor(call.in(), call.out()));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const graph::Range<int64_t> range = quantized_range<To>(Activation::None, call.out());
  for (int64_t i = 0; i < element_count(call.out().shape); ++i)
    call.result<To>()[i] = requantized<To>(
        multiply(wrapping_sub(call.data<From>(0)[i], zero), factor), call.out_zero_point(), range);
}

template <typename From>
void dequantize(const Invocation& call) {
  const double scale = scale_of(call.in());
  const int64_t zero = call.in_zero_point();
  for (int64_t i = 0; i < element_count(call.out().shape); ++i)
    call.result<float>()[i] =
        static_cast<float>(scale * static_cast<double>(call.data<From>(0)[i] - zero));
}

// Calls f with a value of the element type; false when the type is none of the list.
template <typename F>
bool with_type(DataType type, F&& f) {
  const auto one = [&]<typename T>(DataType candidate, T zero) {
    if (type != candidate) return false;
    f(zero);
    return true;
  };
  return one(Int8, int8_t{}) || one(UInt8, uint8_t{}) || one(Int16, int16_t{}) ||
         one(Int32, int32_t{});
}

Result<void> eval_quantize(const Invocation& call) {
  const bool known = with_type(call.out().type, [&]<typename To>(To) {
    if (call.type() == Float32) quantize_floats<To>(call);
  });
  if (known && call.type() == Float32) return {};
  const bool both =
      known && with_type(call.type(), [&]<typename From>(From) {
        with_type(call.out().type, [&]<typename To>(To) { requantize<From, To>(call); });
      });
  return both ? Result<void>() : unsupported_types(call);
}

Result<void> eval_dequantize(const Invocation& call) {
  const bool known = call.out().type == Float32 &&
                     with_type(call.type(), [&]<typename From>(From) { dequantize<From>(call); });
  return known ? Result<void>() : unsupported_types(call);
}

// C's conversion; out of range and NaN give the nearest limit and zero, where C has no answer.
template <typename From, typename To>
To converted(From value) {
  if constexpr (std::is_same_v<From, float> && !std::is_same_v<To, float>) {
    if (std::isnan(value)) return 0;
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<To>::min());
    constexpr auto kMost = static_cast<double>(std::numeric_limits<To>::max());
    const double real = value;
    if (real <= kLeast) return std::numeric_limits<To>::min();
    if (real >= kMost) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

template <typename F>
bool with_cast_type(DataType type, F&& f) {
  switch (type) {
    case Int8:
      return f(int8_t{}), true;
    case UInt8:
      return f(uint8_t{}), true;
    case Int16:
      return f(int16_t{}), true;
    case Int32:
      return f(int32_t{}), true;
    case UInt32:
      return f(uint32_t{}), true;
    case Int64:
      return f(int64_t{}), true;
    case Float32:
      return f(float{}), true;
    default:
      return false;
  }
}

Result<void> eval_cast(const Invocation& call) {
  const int64_t count = element_count(call.out().shape);
  const DataType from = call.type() == Bool ? UInt8 : call.type();
  const bool known = with_cast_type(from, [&]<typename From>(From) {
    const From* values = call.data<From>(0);
    if (call.out().type == Bool)
      for (int64_t i = 0; i < count; ++i) call.result<uint8_t>()[i] = values[i] != From{} ? 1 : 0;
    else
      with_cast_type(call.out().type, [&]<typename To>(To) {
        for (int64_t i = 0; i < count; ++i) call.result<To>()[i] = converted<From, To>(values[i]);
      });
  });
  return known ? Result<void>() : unsupported_types(call);
}

Refusal refuses_quantize(const OpView& view) {
  if (view.in(0).type == Int32 && view.in(0).quantization.present() && zero_point(view.in(0)) != 0)
    return "the input's zero point is not 0";
  return refuses_quantization(view);
}

Stmt lower_quantize(OpLowering& op) {
  const OpView& v = op.view;
  const Range range = type_range(v.out().type);
  if (is_integer(v.in(0).type)) {
    return map_elements(op, [&](Expr x) {
      return rescaled(v, std::move(x), scale_of(v.in(0)) / scale_of(v.out()), range);
    });
  }
  return map_elements(op, [&](Expr x) {
    const Expr quantized = tir::call(
        DataType::Int32, "intarsia_quantize_f32",
        {std::move(x), tir::float_imm(v.out().quantization.scale[0]),
         tir::int_imm(zero_point(v.out())), tir::int_imm(range.low), tir::int_imm(range.high)});
    return tir::cast(v.out().type, quantized);
  });
}

Stmt lower_dequantize(OpLowering& op) {
  const OpView& v = op.view;
  return map_elements(op, [&](Expr x) {
    const Expr steps = to_i32(std::move(x)) - zero_point(v.in(0));
    return tir::cast(DataType::Float32, steps) * tir::float_imm(v.in(0).quantization.scale[0]);
  });
}

// What else is castable is evaluated only: truncating a float has 32 bits for its result.
Refusal refuses_cast(const OpView& view) {
  const DataType from = view.in(0).type, to = view.out().type;
  const bool is_real = from == Float32 || to == Float32;
  const bool is_unsigned = from == UInt32 || to == UInt32;
  if (!(is_real && is_unsigned) && !(from == Float32 && to == Int64)) return std::nullopt;
  return unsupported_types_text(view);
}

Stmt lower_cast(OpLowering& op) {
  const DataType from = op.view.in(0).type, to = op.view.out().type;
  return map_elements(op, [&](Expr x) -> Expr {
    if (from == to) return x;
    if (to == Bool) {
      const Expr zero = from == Float32 ? tir::float_imm(0) : tir::int_imm(0, from);
      return tir::binary(tir::BinaryOp::Ne, x, zero);
    }
    if (from == Bool) x = tir::select(x, tir::int_imm(1), tir::int_imm(0));
    if (from == Float32) {
      const Expr whole = tir::call(Int32, "intarsia_truncate_f32", {x});
      return clamp(whole, type_range(to), to);
    }
    return x->type == to ? x : tir::cast(to, x);
  });
}

constexpr TypeRule kQuantizeTypes[] = {
    {Float32, Int8}, {Float32, UInt8}, {Float32, Int16}, evaluated_only({Float32, Int32}),
    {Int8, Int8},    {Int8, UInt8},    {Int8, Int16},    {Int8, Int32},
    {UInt8, Int8},   {UInt8, UInt8},   {UInt8, Int16},   {Int16, Int8},
    {Int16, UInt8},  {Int16, Int16},   {Int16, Int32},   {Int32, Int8},
    {Int32, Int16},  {Int32, Int32}};
constexpr TypeRule kDequantizeTypes[] = {
    {Int8, Float32}, {UInt8, Float32}, {Int16, Float32}, {Int32, Float32}};

constexpr Operator kConversionOperators[] = {
    {.kind = OpKind::Quantize,
     .types = kQuantizeTypes,
     .infer = infer_quantize,
     .evaluate = eval_quantize,
     .lower = lower_quantize,
     .refuses = refuses_quantize,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
    {.kind = OpKind::Dequantize,
     .types = kDequantizeTypes,
     .infer = infer_dequantize,
     .evaluate = eval_dequantize,
     .lower = lower_dequantize,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary},
    {.kind = OpKind::Cast,
     .infer = infer_cast,
     .evaluate = eval_cast,
     .lower = lower_cast,
     .refuses = refuses_cast,
     .elementwise = Elementwise::Unary},
};

}  // namespace

std::span<const Operator> conversion_operators() {
  return kConversionOperators;
}

}  // namespace intarsia::operators
