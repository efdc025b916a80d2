// Operators of two operands element by element, with broadcasting: extremes, differences,
// comparisons, logic; and select and prelu.
#include <algorithm>
#include <cmath>

#include "graph/broadcast.h"
#include "graph/fixed_point.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

template <typename T>
void squared_difference(const Invocation& call) {
  const AddFactors factors = squared_difference_factors(call.in(0), call.in(1), call.out());
  const FixedFactor a_factor = fixed_factor(factors.a), b_factor = fixed_factor(factors.b);
  const FixedFactor out_factor = fixed_factor(factors.output);
  const auto a_zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto b_zero = static_cast<int32_t>(call.in_zero_point(1));
  const int32_t unit = 1 << factors.left_shift;
  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  broadcast<T>(call, [&](T a, T b) {
    const int32_t difference =
        multiply((a - a_zero) * unit, a_factor) - multiply((b - b_zero) * unit, b_factor);
    return requantized<T>(multiply(wrapping_mul(difference, difference), out_factor),
                          call.out_zero_point(), range);
  });
}

template <typename T, typename A>
void prelu(const Invocation& call) {
  const PreluFactors factors = prelu_factors(call.in(0), call.in(1), call.out());
  const FixedFactor positive = fixed_factor(factors.positive);
  const FixedFactor negative = fixed_factor(factors.negative);
  const auto zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto alpha_zero = static_cast<int32_t>(call.in_zero_point(1));
  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  broadcast_types<T, A, T>(call, [&](T x, A alpha) {
    const int32_t value = x - zero;
    const int32_t scaled = value >= 0 ? multiply(value, positive)
                                      : multiply(wrapping_mul(value, alpha - alpha_zero), negative);
    return requantized<T>(scaled, call.out_zero_point(), range);
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

// Calls f with a value of the element type when it is one of T...; else false.
template <typename... T, typename F>
bool with_types(DataType type, const DataType (&names)[sizeof...(T)], F&& f) {
  size_t at = 0;
  return ((type == names[at++] && (f(T{}), true)) || ...);
}

template <typename F>
bool with_number(DataType type, F&& f) {
  return with_types<int8_t, int16_t, int32_t, int64_t, float>(
      type, {Int8, Int16, Int32, Int64, Float32}, std::forward<F>(f));
}

}  // namespace

Result<void> eval_binary(const Invocation& call) {
  const OpKind kind = call.node.kind;
  const DataType type = call.type();
  bool known = true;
  switch (kind) {
    case OpKind::Div: {
      const Range<float> range = float_range(call.node.attrs<BinaryAttrs>().activation);
      broadcast<float>(call, [&](float a, float b) { return range.clamp(a / b); });
      break;
    }
    case OpKind::Pow:
      broadcast<float>(call, [](float a, float b) { return std::pow(a, b); });
      break;
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      known = with_types<int32_t, float>(type, {Int32, Float32}, [&]<typename T>(T) {
        broadcast<T>(call, [&](T a, T b) {
          return kind == OpKind::FloorDiv ? floor_div(a, b) : floor_mod(a, b);
        });
      });
      break;
    case OpKind::Minimum:
      known = with_number(
          type, [&]<typename T>(T) { broadcast<T>(call, [](T a, T b) { return b < a ? b : a; }); });
      break;
    case OpKind::Maximum:
      known = with_number(
          type, [&]<typename T>(T) { broadcast<T>(call, [](T a, T b) { return b > a ? b : a; }); });
      break;
    case OpKind::SquaredDifference:
      if (type == Int8)
        squared_difference<int8_t>(call);
      else if (type == Int16)
        squared_difference<int16_t>(call);
      else if (type == Int32)
        broadcast<int32_t>(call, [](int32_t a, int32_t b) {
          return wrapping_mul(wrapping_sub(a, b), wrapping_sub(a, b));
        });
      else
        broadcast<float>(call, [](float a, float b) { return (a - b) * (a - b); });
      break;
    case OpKind::LogicalAnd:
      broadcast<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 && b != 0; });
      break;
    case OpKind::LogicalOr:
      broadcast<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 || b != 0; });
      break;
    case OpKind::Select:
      known = with_number(call.out().type, [&]<typename T>(T) { select<T>(call); });
      break;
    case OpKind::Prelu:
      if (type == Int8)
        prelu<int8_t, int8_t>(call);
      else if (type == Int16)
        prelu<int16_t, int8_t>(call);
      else
        broadcast<float>(call, [](float x, float alpha) { return x >= 0 ? x : x * alpha; });
      break;
    default:
      if (type == Int8)
        comparison_of_int8(call);
      else
        known = with_types<uint8_t, int32_t, int64_t, float>(
            type, {Bool, Int32, Int64, Float32}, [&]<typename T>(T) { comparison<T>(call); });
  }
  return known ? Result<void>() : unsupported_types(call);
}

}  // namespace intarsia::graph
