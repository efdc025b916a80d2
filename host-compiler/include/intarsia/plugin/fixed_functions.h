// Elementary functions in fixed point, as TFLite's quantised kernels compute them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "intarsia/plugin/fixed_point.h"
#include "intarsia/plugin/rounded_exp.h"

namespace intarsia::graph {

inline int32_t saturated_to_int16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
}

// What makes an int16 softmax's argument of an element: steps of which -10 .. 0 has 65535.
inline double wide_softmax_factor(double scale, double beta) {
  return scale * beta / (10.0 / 65535.0);
}

// A left shift that saturates.
inline int32_t saturating_shift_left(int32_t x, int exponent) {
  const int64_t shifted = static_cast<int64_t>(x) * (INT64_C(1) << exponent);
  return static_cast<int32_t>(std::clamp<int64_t>(shifted, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// e^a for a in Q0.31, -1/4 <= a < 0: a Taylor polynomial around -1/8.
inline int32_t exp_of_quarter(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = 1895147668, kThird = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = doubling_high_product(x, x);
  const int32_t x3 = doubling_high_product(x2, x);
  const int32_t x4 = doubling_high_product(x2, x2);
  const int32_t quarter_x4 = rounding_shift_right(x4, 2);
  const int32_t high_terms =
      rounding_shift_right(doubling_high_product(quarter_x4 + x3, kThird) + x2, 1);
  return kExpOfMinusEighth + doubling_high_product(kExpOfMinusEighth, x + high_terms);
}

// e^a in Q0.31 for a <= 0 with IntegerBits integer bits (Q5.26, Q4.27): the quarter by polynomial,
// each binary digit by a factor.
template <int IntegerBits>
int32_t exp_of_negative(int32_t a) {
  if (a == 0) return std::numeric_limits<int32_t>::max();
  constexpr int kQuarterBit = 29 - IntegerBits;
  constexpr int32_t kQuarter = 1 << kQuarterBit;
  constexpr std::array<int32_t, 7> kFactors = {
      // e^-(1/4), e^-(1/2), ... e^-16
      1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t quarter = (a & (kQuarter - 1)) - kQuarter;
  int32_t result = exp_of_quarter(saturating_shift_left(quarter, IntegerBits));
  const int32_t rest = wrapping_sub(quarter, a);
  for (size_t i = 0; i < IntegerBits + 2; ++i)
    if ((static_cast<uint32_t>(rest) >> (kQuarterBit + i) & 1) != 0)
      result = doubling_high_product(result, kFactors[i]);
  return result;
}

// 2 / (1 + x) in Q2.29 for 0 <= x < 1 in Q0.31: three steps of Newton and Raphson from 48/17 -
// 32/17 d.
inline int32_t twice_reciprocal_of_one_plus(int32_t x) {
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;  // Q2.29
  const auto half =
      static_cast<int32_t>((static_cast<int64_t>(x) + std::numeric_limits<int32_t>::max() + 1) / 2);
  int32_t estimate = k48Over17 + doubling_high_product(half, kMinus32Over17);
  for (int step = 0; step < 3; ++step) {
    const int32_t error = (1 << 29) - doubling_high_product(half, estimate);
    estimate += saturating_shift_left(doubling_high_product(estimate, error), 2);
  }
  return estimate;
}

// 1 / (1 + x) in Q0.31.
inline int32_t reciprocal_of_one_plus(int32_t x) {
  return saturating_shift_left(twice_reciprocal_of_one_plus(x), 1);
}

// log(x) in Q5.26 of x >= 1 in Q12.19. x is r * 2^n, with r around 2^(-1/4) and n a multiple of a half as far as rounding goes:
// of two such splits, a quarter above and a quarter below a whole power, the one is taken whose r is less. log r is a quotient of
// polynomials around sqrt(sqrt(1/2)).
inline int32_t log_from_one(int32_t x) {
  constexpr int32_t kLog2 = 1488522236, kRootHalf = 1518500250, kFourthRootHalf = 1805811301;
  constexpr int32_t kOneQ6 = 1 << 25, kQuarterQ6 = 1 << 23;
  const int zeros = std::countl_zero(static_cast<uint32_t>(x));
  const int32_t with_root = doubling_high_product(x, kRootHalf);
  const int root_zeros = std::countl_zero(static_cast<uint32_t>(with_root)) - 1;
  const int32_t above = saturating_shift_left(
      doubling_high_product(saturating_shift_left(x, zeros - 1), kRootHalf), 1);
  const int32_t r = std::min(above, saturating_shift_left(x, root_zeros));
  const int32_t power =
      std::max((12 - zeros) * kOneQ6 + kQuarterQ6, (12 - root_zeros) * kOneQ6 - kQuarterQ6);

  const auto mean = static_cast<int32_t>((static_cast<int64_t>(r) + kFourthRootHalf + 1) / 2);
  const int32_t q = 2 * (r - kFourthRootHalf), square = doubling_high_product(q, q);
  const int32_t numerator =
      wrapping_add(doubling_high_product(q, r),
                   doubling_high_product(doubling_high_product(q, square), 117049297));
  const int32_t inner =
      wrapping_add(wrapping_add(1057819769, q), doubling_high_product(127690142, square));
  const int32_t denominator =
      wrapping_add(doubling_high_product(mean, inner), doubling_high_product(638450708, q));
  const int32_t log_r = doubling_high_product(rounding_shift_right(numerator, 6),
                                              reciprocal_of_one_plus(denominator));
  return saturating_shift_left(wrapping_add(doubling_high_product(power, kLog2), log_r), 1);
}

// (1 - x) / (1 + x) in Q0.31.
inline int32_t one_minus_over_one_plus(int32_t x) {
  return saturating_shift_left(twice_reciprocal_of_one_plus(x) - (1 << 29), 2);
}

// 1 / (1 + e^-a) in Q0.31 of a in Q4.27.
inline int32_t logistic_of(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t positive = reciprocal_of_one_plus(exp_of_negative<4>(a > 0 ? -a : a));
  return a > 0 ? positive : std::numeric_limits<int32_t>::max() - positive;
}

// tanh(a) in Q0.31 of a in Q4.27: e^(2a) is the exponential of the same bits read as Q5.26.
inline int32_t tanh_of(int32_t a) {
  if (a == 0) return 0;
  const int32_t positive = one_minus_over_one_plus(exp_of_negative<5>(a > 0 ? -a : a));
  return a > 0 ? positive : -positive;
}

// Sigmoid over int16 by 256 points of sigmoid(i / 24) in Q0.16 and straight lines between them.
class SigmoidTable {
 public:
  SigmoidTable() {
    for (size_t i = 0; i < points_.size(); ++i)
      points_[i] = static_cast<uint32_t>(
          std::min(std::round(65536 / (1 + portable_exp(-static_cast<double>(i) / 24))), 65535.0));
    // Where TFLite's points are one above the nearest integer.
    for (const size_t i : {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27, 28, 29,
                           30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46, 49, 50,
                           54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135})
      ++points_[i];
    points_[255] = 65535;
  }
  const std::array<uint32_t, 256>& points() const { return points_; }

  // The input is scaled by multiplier / 2^shift first: 2^17 stands for 10.7.
  int16_t sigmoid(int32_t x, int32_t multiplier, int shift) const {
    const int32_t scaled = scale(x, multiplier, shift);
    const auto magnitude = static_cast<uint32_t>(std::abs(scaled));
    uint32_t result = 0x7fffu << 10;
    if (const uint32_t at = magnitude >> 9; at < 255) {
      const uint32_t here = points_[at], next = points_[at + 1];
      result = (here << 9) + (magnitude & 0x1ff) * (next - here);
    }
    result = scaled >= 0 ? result + (1u << 9) : (1u << 25) - result + (1u << 9) - 1;
    return static_cast<int16_t>(result >> 10);
  }

  // tanh(x) = 2 sigmoid(2x) - 1
  int16_t tanh(int32_t x, int32_t multiplier, int shift) const {
    const int32_t scaled = scale(x, multiplier, shift);
    const auto magnitude = static_cast<uint32_t>(std::abs(scaled));
    int32_t result = 0xffff << 8;
    if (const uint32_t at = magnitude >> 8; at < 255) {
      const uint32_t here = points_[at], next = points_[at + 1];
      result = static_cast<int32_t>((here << 8) + (magnitude & 0xff) * (next - here));
    }
    constexpr int32_t kOne = 1 << 23, kHalf = 1 << 7;
    result = scaled >= 0 ? result - kOne + kHalf : kOne - result + kHalf - 1;
    return static_cast<int16_t>(result >> 8);
  }

 private:
  static int32_t scale(int32_t x, int32_t multiplier, int shift) {
    return (x * multiplier + (shift > 0 ? 1 << (shift - 1) : 0)) >> shift;
  }
  std::array<uint32_t, 256> points_{};
};

inline const SigmoidTable& sigmoid_table() {
  static const SigmoidTable table;
  return table;
}

// What the table's input is multiplied by: inputs of a power of two whose Q3.12 needs no shift
// (tanh: one step) are multiplied by 3 exactly.
struct SigmoidScaling {
  int32_t multiplier;
  int shift;
};

inline SigmoidScaling sigmoid_scaling(double input_scale, bool is_tanh) {
  int exponent = 0;
  const bool power = std::frexp(input_scale, &exponent) == 0.5;
  const int left_shift = 12 + exponent - 1;
  if (power && (left_shift == 0 || (is_tanh && left_shift == 1))) return {3 << left_shift, 0};
  double multiplier = input_scale * 4096.0 * 3.0;
  int shift = 0;
  for (; multiplier <= 32767.0 / 2.0 && shift <= 30; ++shift) multiplier *= 2.0;
  return {static_cast<int32_t>(multiplier), shift};
}

// 1 / sqrt(x) as the factor value / 2^31 * 2^-right_shift; x >= 0, 0 counts as 1.
inline FixedFactor inverse_square_root(int32_t x) {
  if (x <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int right_shift = 11;
  for (; x >= (1 << 29); x /= 4) ++right_shift;
  int left = 0;  // pairs of bits
  for (; (static_cast<int64_t>(x) << (2 * left)) < (1 << 27); ++left) --right_shift;
  x <<= 2 * left;
  const auto rescale3 = [](int32_t value, int bits) { return saturating_shift_left(value, bits); };
  const int32_t input = x >> 1, half_input = rounding_shift_right(input, 1);  // Q3.28
  constexpr int32_t kHalfThree = (1 << 28) + (1 << 27);
  int32_t y = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t y3 =  // Q9.22 to Q3.28
        rescale3(doubling_high_product(doubling_high_product(y, y), y), 6);
    y = rescale3(wrapping_sub(doubling_high_product(kHalfThree, y),  // Q6.25 to Q3.28
                              doubling_high_product(half_input, y3)),
                 3);
  }
  y = doubling_high_product(y, 1518500250);  // sqrt(2) / 2
  if (right_shift < 0) {
    y <<= -right_shift;
    right_shift = 0;
  }
  return {y, -right_shift};
}

}  // namespace intarsia::graph
