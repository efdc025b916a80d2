// Operators of one operand element by element whose arithmetic is particular.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/fixed_functions.h"
#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/rounded_exp.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

template <typename T, typename F>
Result<void> map(const Invocation& call, F&& f) {
  const int64_t count = element_count(call.out().shape);
  for (int64_t i = 0; i < count; ++i) call.result<T>()[i] = static_cast<T>(f(call.data<T>(0)[i]));
  return {};
}

template <typename T>
Result<void> leaky_relu(const Invocation& call) {
  const LeakyReluFactors factors =
      leaky_relu_factors(call.in(), call.out(), call.node.attrs<LeakyReluAttrs>().alpha);
  const FixedFactor positive = fixed_factor(factors.positive);
  const FixedFactor negative = fixed_factor(factors.negative);
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  return map<T>(call, [&](T x) {
    const int32_t value = x - zero;
    return requantized<T>(multiply(value, value >= 0 ? positive : negative), call.out_zero_point(),
                          range);
  });
}

// Logistic and tanh of int8: in Q4.27, beyond its range the limits.
Result<void> sigmoid_of_int8(const Invocation& call) {
  const FixedFactor factor = fixed_factor(scale_of(call.in()) * (1 << 27));
  const auto radius = static_cast<int32_t>(std::floor(std::ldexp(15.0 * (1 << 27), -factor.shift)));
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
  const SigmoidScaling scaling = sigmoid_scaling(scale_of(call.in()), is_tanh);
  const SigmoidTable& table = sigmoid_table();
  return map<int16_t>(call, [&](int16_t x) {
    return is_tanh ? table.tanh(x, scaling.multiplier, scaling.shift)
                   : table.sigmoid(x, scaling.multiplier, scaling.shift);
  });
}

// 16-bit fixed point.
int32_t to_int16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -32768, 32767));
}
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
    if (gate.shift > 0) reluish = to_int16(int64_t{reluish} << (gate.shift - 1));
    reluish = rounded_high_product16(reluish, factor16(gate));
    if (gate.shift > 0) reluish = to_int16(int64_t{reluish} << 1);
    if (gate.shift < 0) reluish = rounding_shift_right(reluish, std::min(-gate.shift, 31));
    reluish = (reluish + (1 << 15)) >> 1;
    const int32_t product = high_product16(reluish, on_output_scale);
    const int32_t result = rounding_shift_right(product, std::min(-output.shift, 31));
    return std::clamp<int64_t>(result + call.out_zero_point(), -128, 127);
  });
}

// By a float function at every value.
template <typename F>
Result<void> tabulated(const Invocation& call, F&& f) {
  const float in_scale = call.in().quantization.scale[0];
  const float inverse = 1 / call.out().quantization.scale[0];
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  return map<int8_t>(call, [&](int8_t x) {
    const float real = in_scale * static_cast<float>(x - zero);
    const float steps = std::round(f(real) * inverse);
    const double value = static_cast<double>(steps + static_cast<float>(call.out_zero_point()));
    return static_cast<int32_t>(std::clamp(value, -128.0, 127.0));
  });
}

template <typename T>
Result<void> abs_quantized(const Invocation& call) {
  const bool rescales = call.in().quantization.scale != call.out().quantization.scale;
  const FixedFactor factor = fixed_factor(relu_factor(call.in(), call.out()));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  return map<T>(call, [&](T x) {
    const int32_t value = std::abs(x - zero);
    return requantized<T>(rescales ? multiply(value, factor) : value, call.out_zero_point(), range);
  });
}

Result<void> rsqrt_of_int8(const Invocation& call) {
  constexpr int kShift = 20;
  FixedFactor factor = fixed_factor(rsqrt_factor(call.in(), call.out()));
  factor.shift -= kShift;
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  const Range<int64_t> range = quantized_range<int8_t>(Activation::None, call.out());
  return map<int8_t>(call, [&](int8_t x) -> int32_t {
    const int32_t value = x - zero;
    if (value <= 0) return 127;  // below zero it is not defined
    FixedFactor inverse = inverse_square_root(value);
    inverse.shift += kShift;
    return requantized<int8_t>(multiply(multiply(1, inverse), factor), call.out_zero_point(),
                               range);
  });
}

float elu(float x) {
  return x < 0 ? rounded_exp(x) - 1 : x;
}

// To nearest, ties to the even neighbour.
float round_to_even(float x) {
  const float floor = std::floor(x), difference = x - floor;
  const bool down = difference < 0.5f || (difference == 0.5f && std::fmod(floor, 2.0f) == 0.0f);
  return down ? floor : floor + 1;
}

float function_of(OpKind kind, float x) {
  switch (kind) {
    case OpKind::Logistic:
      return 1 / (1 + std::exp(-x));
    case OpKind::Tanh:
      return std::tanh(x);
    case OpKind::HardSwish:
      return x * std::min(6.0f, std::max(0.0f, x + 3)) / 6;
    case OpKind::Elu:
      return elu(x);
    case OpKind::Exp:
      return std::exp(x);
    case OpKind::Log:
      return std::log(x);
    case OpKind::Abs:
      return std::abs(x);
    case OpKind::Neg:
      return -x;
    case OpKind::Square:
      return x * x;
    case OpKind::Sqrt:
      return std::sqrt(x);
    case OpKind::Rsqrt:
      return 1 / std::sqrt(x);
    case OpKind::Ceil:
      return std::ceil(x);
    case OpKind::Floor:
      return std::floor(x);
    case OpKind::Sin:
      return std::sin(x);
    case OpKind::Cos:
      return std::cos(x);
    default:
      return round_to_even(x);
  }
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

}  // namespace

Result<void> eval_unary(const Invocation& call) {
  const OpKind kind = call.node.kind;
  if (call.type() == Bool) return map<uint8_t>(call, [](uint8_t x) { return x == 0 ? 1 : 0; });
  if (call.type() == Float32) {
    if (kind == OpKind::LeakyRelu) {
      const float alpha = call.node.attrs<LeakyReluAttrs>().alpha;
      return map<float>(call, [&](float x) { return x > 0 ? x : x * alpha; });
    }
    return map<float>(call, [&](float x) { return function_of(kind, x); });
  }
  const bool narrow = call.type() == Int8;
  switch (kind) {
    case OpKind::LeakyRelu:
      return narrow ? leaky_relu<int8_t>(call) : leaky_relu<int16_t>(call);
    case OpKind::Logistic:
    case OpKind::Tanh:
      return narrow ? sigmoid_of_int8(call) : sigmoid_of_int16(call);
    case OpKind::HardSwish:
      return hard_swish_of_int8(call);
    case OpKind::Elu:
      return tabulated(call, elu);
    case OpKind::Exp:
      return tabulated(call, rounded_exp);
    case OpKind::Abs:
      return narrow ? abs_quantized<int8_t>(call) : abs_quantized<int16_t>(call);
    case OpKind::Rsqrt:
      return rsqrt_of_int8(call);
    default:
      return unsupported_types(call);
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

}  // namespace intarsia::graph
