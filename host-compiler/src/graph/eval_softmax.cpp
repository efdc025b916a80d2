// Softmax along the last axis. The int8 form takes exponentials and the reciprocal of their sum in
// fixed point (Q5.26 differences, Q12.19 sum); the int16 form reads both from tables of 513 points.
#include <algorithm>
#include <array>
#include <bit>
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

template <typename To>
void softmax_of_int8(const Invocation& call) {
  const FixedFactor factor =
      fixed_factor(softmax_factor(call.in(), call.node.attrs<SoftmaxAttrs>().beta));
  // Differences below this would leave Q5.26; their exponentials count as 0.
  const auto least = -static_cast<int32_t>(
      std::floor(31.0 * (1 << 26) / static_cast<double>(INT64_C(1) << factor.shift)));
  const int64_t depth = call.in().shape.back();
  const int8_t* row = call.data<int8_t>(0);
  To* result = call.result<To>();
  constexpr int32_t kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();

  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const int32_t largest = *std::max_element(row, row + depth);
    const auto exponential = [&](int8_t value) {
      return exp_of_negative<5>(multiply(value - largest, factor));
    };
    int32_t sum = 0;
    for (int64_t c = 0; c < depth; ++c)
      if (row[c] - largest >= least) sum += rounding_shift_right(exponential(row[c]), 12);

    const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
    const auto fraction =  // the sum without its leading 1
        static_cast<int32_t>((static_cast<uint32_t>(sum) << headroom) - (UINT32_C(1) << 31));
    const int32_t scale = reciprocal_of_one_plus(fraction);
    const int shift = 12 - headroom + 31 - std::numeric_limits<std::make_unsigned_t<To>>::digits;
    for (int64_t c = 0; c < depth; ++c) {
      // Sums of 512 and more need a shift that TFLite refuses; what is left of an int8 is 0.
      const bool counts = row[c] - largest >= least && shift <= 31;
      const int32_t value =
          counts ? rounding_shift_right(doubling_high_product(scale, exponential(row[c])), shift)
                 : 0;
      result[c] = static_cast<To>(std::clamp(value + kLeast, kLeast, kMost));
    }
    row += depth;
    result += depth;
  }
}

// A function over int16, given by 513 points with linear interpolation between them.
class Int16Table {
 public:
  // x = scale * (value - zero), and results of 2 / 65535 each.
  template <typename F>
  Int16Table(float scale, int32_t zero, F&& f) {
    constexpr int32_t kLeast = -32768, kMost = 32767, kSteps = 512;
    const float output_scale = 2.0f / 65535;
    const float first = scale * static_cast<float>(kLeast - zero);
    const float last = scale * static_cast<float>(kMost - zero);
    const float per_unit = 65536.0f / (output_scale * static_cast<float>(kMost) -
                                       output_scale * static_cast<float>(kLeast));
    const float step = (last - first) / kSteps, half = step / 2;
    const auto element = [&](float value) {
      return static_cast<int16_t>(std::clamp(value, float{kLeast}, float{kMost}));
    };
    for (int i = 0; i < kSteps; ++i) {
      const float at = first + static_cast<float>(i) * step;
      const float here = std::round(f(at) * per_unit);
      const float next = f(first + static_cast<float>(i + 1) * step) * per_unit;
      const float middle = std::round(f(at + half) * per_unit);
      // Half of what the straight line misses in the middle is taken off.
      const float error = std::round((next + here) / 2) - middle;
      points_[static_cast<size_t>(i)] = element(here - std::round(error / 2));
    }
    points_[kSteps] = element(std::round(f(last) * per_unit));
  }

  int16_t operator()(int32_t value) const {
    const auto index = static_cast<size_t>(256 + (value >> 7));
    const int32_t slope = points_[index + 1] - points_[index];
    return static_cast<int16_t>(points_[index] + ((slope * (value & 127) + 64) >> 7));
  }

 private:
  std::array<int16_t, 513> points_{};
};

int32_t to_int16(int32_t value) {
  return std::clamp(value, -32768, 32767);
}

void softmax_of_int16(const Invocation& call) {
  static const Int16Table exponential(10.0f / 65535, 32767, rounded_exp);
  static const Int16Table reciprocal(1.0f / 65535, -32768,
                                     [](float x) { return 1.0f / (1.0f + x); });
  const FixedFactor factor =
      fixed_factor(softmax_factor(call.in(), call.node.attrs<SoftmaxAttrs>().beta));
  const int64_t depth = call.in().shape.back();
  const int16_t* row = call.data<int16_t>(0);
  int16_t* result = call.result<int16_t>();
  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const int32_t largest = *std::max_element(row, row + depth);
    int32_t sum = 0;
    for (int64_t c = 0; c < depth; ++c) {
      result[c] = exponential(to_int16(wrapping_add(multiply(row[c] - largest, factor), 32767)));
      sum = wrapping_add(sum, result[c]);
    }
    const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
    // 1 <= sum scaled < 2 as 65536 .. 131071, then minus 1, then around 0.
    const auto scaled =
        static_cast<int32_t>(((static_cast<int64_t>(sum) << (headroom - 1)) + (1 << 13)) >> 14);
    const int32_t factor_of_row = reciprocal(to_int16(scaled - (1 << 15) - (1 << 16)));
    const int shift = 31 - headroom;
    for (int64_t c = 0; c < depth; ++c) {
      const int64_t product = static_cast<int64_t>(result[c]) * factor_of_row;
      const int64_t value = (product + (INT64_C(1) << (shift - 1))) >> shift;
      result[c] = static_cast<int16_t>(std::clamp<int64_t>(value, 0, 32767));
    }
    row += depth;
    result += depth;
  }
}

void softmax_of_floats(const Invocation& call) {
  const float beta = call.node.attrs<SoftmaxAttrs>().beta;
  const int64_t depth = call.in().shape.back();
  const float* row = call.data<float>(0);
  float* result = call.result<float>();
  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const float largest = *std::max_element(row, row + depth);
    float sum = 0;
    for (int64_t c = 0; c < depth; ++c) sum += result[c] = std::exp((row[c] - largest) * beta);
    for (int64_t c = 0; c < depth; ++c) result[c] /= sum;
    row += depth;
    result += depth;
  }
}

}  // namespace

Result<void> eval_softmax(const Invocation& call) {
  const DataType out = call.out().type;
  if (call.type() == Int8 && out == Int8)
    softmax_of_int8<int8_t>(call);
  else if (call.type() == Int8 && out == Int16)
    softmax_of_int8<int16_t>(call);
  else if (call.type() == Int16 && out == Int16)
    softmax_of_int16(call);
  else if (call.type() == Float32 && out == Float32)
    softmax_of_floats(call);
  else
    return unsupported_types(call);
  return {};
}

}  // namespace intarsia::graph
