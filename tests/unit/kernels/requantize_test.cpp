// Fixed-point rescaling against its definition in 128 bits: a rounding of value * multiplier / 2^31
// (halves up), then a rounding of the right shift (halves away from zero).
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/kernels/arithmetic.h"

namespace {

__extension__ typedef __int128 Wide;

Wide floor_divide(Wide a, Wide b) {  // b > 0
  const Wide quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

Wide definition(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  const Wide product = Wide{value} * (Wide{1} << left) * multiplier;
  const Wide rounded = floor_divide(product + (Wide{1} << 30), Wide{1} << 31);
  const Wide magnitude = rounded < 0 ? -rounded : rounded;
  const Wide half = right == 0 ? 0 : Wide{1} << (right - 1);
  const Wide shifted = (magnitude + half) >> right;
  return rounded < 0 ? -shifted : shifted;
}

std::vector<int32_t> edge_values() {
  std::vector<int32_t> values{
      0, 1, -1, 2, -2, 3, -3, INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1};
  for (int bit = 2; bit < 31; ++bit) {
    for (const int32_t near : {-1, 0, 1}) {
      values.push_back((1 << bit) + near);
      values.push_back(-(1 << bit) + near);
    }
  }
  return values;
}

const std::vector<int32_t> kMultipliers{0,          1 << 30,       (1 << 30) + 1,
                                        1518500250, INT32_MAX - 1, INT32_MAX};

TEST(Requantize, EdgesEqualTheDefinition) {
  for (const int32_t value : edge_values()) {
    for (const int32_t multiplier : kMultipliers) {
      for (int32_t shift = -31; shift <= 0; ++shift) {
        ASSERT_EQ(Wide{intarsia_requantize(value, multiplier, shift)},
                  definition(value, multiplier, shift))
            << value << " * " << multiplier << " >> " << -shift;
        ASSERT_EQ(intarsia_requantize_right(value, multiplier, -shift),
                  intarsia_requantize(value, multiplier, shift));
      }
    }
  }
}

TEST(Requantize, LeftShiftsEqualTheDefinition) {
  for (const int32_t value : edge_values()) {
    for (const int32_t multiplier : kMultipliers) {
      for (int32_t shift = 1; shift <= 30; ++shift) {
        const Wide shifted = Wide{value} * (Wide{1} << shift);
        if (shifted > INT32_MAX || shifted < INT32_MIN) continue;
        ASSERT_EQ(Wide{intarsia_requantize(value, multiplier, shift)},
                  definition(value, multiplier, shift))
            << value << " * " << multiplier << " << " << shift;
      }
    }
  }
}

TEST(Requantize, RandomValuesEqualTheDefinition) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int32_t> values(INT32_MIN, INT32_MAX);
  std::uniform_int_distribution<int32_t> multipliers(1 << 30, INT32_MAX);
  std::uniform_int_distribution<int32_t> shifts(-31, 0), narrow(0, 31);
  for (int n = 0; n < 2000000; ++n) {
    const int32_t value = values(random) >> narrow(random);
    const int32_t multiplier = multipliers(random), shift = shifts(random);
    ASSERT_EQ(Wide{intarsia_requantize(value, multiplier, shift)},
              definition(value, multiplier, shift))
        << value << " * " << multiplier << " >> " << -shift;
  }
}

TEST(Requantize, ALeftShiftBeyondTheWordLosesWhatItCarriesOut) {
  EXPECT_EQ(intarsia_requantize(1 << 30, 1 << 30, 2), 0);
  EXPECT_EQ(intarsia_requantize(INT32_MIN, INT32_MAX, 1), 0);
}

TEST(Requantize, OneIsAMultiplier) {
  for (const int32_t value : edge_values()) {
    if (value > INT32_MAX / 2 || value < INT32_MIN / 2) continue;
    EXPECT_EQ(intarsia_requantize(value, 1 << 30, 1), value);
  }
}

}  // namespace
