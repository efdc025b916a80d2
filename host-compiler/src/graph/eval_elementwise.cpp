// Operators that compute each element on its own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/broadcast.h"
#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

// a + sign * b
template <typename T>
void add_quantized(const Invocation& call, const AddFactors& factors, int32_t sign) {
  const FixedFactor a_factor = fixed_factor(factors.a), b_factor = fixed_factor(factors.b);
  const FixedFactor out_factor = fixed_factor(factors.output);
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const int32_t unit = 1 << factors.left_shift;
  const Range<int64_t> range =
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
  const Range<int64_t> range =
      quantized_range<T>(call.node.attrs<BinaryAttrs>().activation, call.out());
  broadcast<T>(call, [&](T a, T b) {
    return requantized<T>(multiply(wrapping_mul(a - a_zero, b - b_zero), factor),
                          call.out_zero_point(), range);
  });
}

// TFLite Micro's RELU rescales; its RELU6 assumes equal scales, for which rescaling changes
// nothing.
template <typename T>
void relu_quantized(const Invocation& call) {
  const FixedFactor factor = fixed_factor(relu_factor(call.in(), call.out()));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const Range<int64_t> range =
      quantized_range<T>(call.node.attrs<ReluAttrs>().activation, call.out());
  for (int64_t i = 0; i < element_count(call.out().shape); ++i)
    call.result<T>()[i] =
        requantized<T>(multiply(call.data<T>(0)[i] - zero, factor), call.out_zero_point(), range);
}

// A NaN becomes the least value: what clamping by comparison gives.
template <typename To>
void quantize_floats(const Invocation& call) {
  const float scale = call.out().quantization.scale[0];
  const Range<int64_t> range = quantized_range<To>(Activation::None, call.out());
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
  const Range<int64_t> range = quantized_range<To>(Activation::None, call.out());
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

}  // namespace

Result<void> eval_add(const Invocation& call) {
  const Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
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
  const Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
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
  const Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
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

Result<void> eval_relu(const Invocation& call) {
  const Range<float> range = float_range(call.node.attrs<ReluAttrs>().activation);
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

}  // namespace intarsia::graph
