// Which registers and tables make a sum or a difference of two quantised operands what TFLite makes of it, to the last bit.
//
// TFLite shifts both operands left, multiplies the one with the smaller scale and rounds twice, halves the other, and
// multiplies their sum. The NPU's own sum does the same but rounds the smaller operand once. A result is the same as long
// as the sum lies between the same two halves: for 8 bits that gives each scaled value of the smaller operand an interval,
// and each interval one to the multiplier. Where these have a multiplier in common, one operation is enough. Where they
// have none, both operands may have factors of their own, which round nothing before the sum is made. And where TFLite's
// roundings fit no sum of two products, a table may give each value of the smaller operand what its interval asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

struct TflSum {
  int left_shift = 20;
  bool first_is_smaller = false;
  FixedFactor smaller, sum;

  explicit TflSum(const Site& site);
  int32_t scaled_smaller(int32_t x) const { return multiply(x * (1 << left_shift), smaller); }
};

struct SumScales {
  ChannelScale operand, sum;
};
// OPA_SCALE of the smaller operand, and OFM_SCALE; nothing where no registers are known to be exact. Of 16 bits, where one operand
// is a constant of one element, all values of the other one were tried.
std::optional<SumScales> sum_scales(const Site& site, OperationKind kind);

// result = (first * operand + second * other operand) * sum, rounded once; minus for a difference. Factors of 15 bits.
struct LinearSum {
  ChannelScale first, second, sum;
  Rounding rounding = Rounding::Natural;
};
// Of 8 bits, where all pairs of operands were tried and a ratio of the factors that is that of the scales to 30 bits, as fractions
// have it, serves all. Of 16 bits, where one scale is the other one times a power of two: TFLite's first factor rounds nothing.
std::optional<LinearSum> linear_sum(const Site& site, OperationKind kind);
// The same for any scales, the closest factors, at most a step from TFLite's result; nothing where it might be more.
std::optional<LinearSum> rounded_sum(const Site& site);

// Of 8 bits: result = (table[smaller] + factor * larger) / 2^shift, to nearest; minus for a difference whose first operand
// is the smaller. Table values are those of the operand from -128 on, its zero point and the sign that it has included.
struct TabledSum {
  std::vector<int32_t> table;
  int32_t factor = 0, shift = 0;
};
std::optional<TabledSum> tabled_sum(const Site& site, OperationKind kind);

// Of 16 bits: the scale with which `kSmallerScalar` times the smaller operand is its scaled value. 2^15 is no value of 16
// bits, so the multiplier has the other factor of two, and the product is the same.
inline constexpr int32_t kSmallerScalar = 1 << 14;
std::optional<ChannelScale> smaller_scale(const Site& site);

}  // namespace intarsia::targets::ethos_u
