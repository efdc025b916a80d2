// Functions of single elements in the reference evaluator.
#pragma once

#include <algorithm>
#include <cmath>

#include "operators/evaluation/invocation.h"

namespace intarsia::operators {

// result[i] = f(input[i]).
template <typename T, typename F>
Result<void> map(const Invocation& call, F&& f) {
  const int64_t count = element_count(call.out().shape);
  for (int64_t i = 0; i < count; ++i) call.result<T>()[i] = static_cast<T>(f(call.data<T>(0)[i]));
  return {};
}

// The float nearest to a function that the C library computes in double precision. Libraries differ in the last bits of a
// double only, so that all machines get the same float but for one argument in hundreds of millions.
template <typename F>
auto rounded(F&& f) {
  return [f](float x) { return static_cast<float>(f(static_cast<double>(x))); };
}

// int8 by a float function of the real values.
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

}  // namespace intarsia::operators
