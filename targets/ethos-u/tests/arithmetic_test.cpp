// The rounding modes against exact arithmetic, and the fixed-point units against the functions.
#include <cmath>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/arithmetic.h"
#include "intarsia/targets/ethos_u/output_stage.h"
#include "operations.h"

namespace intarsia::test::ethos_u {
namespace {

constexpr sim::Rounding kModes[] = {sim::Rounding::Tfl, sim::Rounding::Truncate,
                                    sim::Rounding::Natural};

TEST(Rounding, IsExactForEveryShift) {
  std::mt19937_64 random(7);
  for (const sim::Rounding mode : kModes)
    for (int32_t shift = 0; shift < 64; ++shift)
      for (int i = 0; i < 400; ++i) {
        const auto bits = static_cast<int>(random() % 40);
        const int64_t value = static_cast<int64_t>(random()) >> (24 + bits);
        const sim::Scale scale{static_cast<uint32_t>(random() >> (32 + random() % 31)), shift};
        if (shift < 10 && std::abs(static_cast<double>(value) * scale.multiplier) > 1e18) continue;
        ASSERT_EQ(sim::scale_round(value, scale, mode), plain_scale(value, scale, mode))
            << value << " * " << scale.multiplier << " >> " << shift << ", mode "
            << static_cast<int>(mode);
      }
}

TEST(Rounding, HalvesGoWhereEachModeSendsThem) {
  const auto half = [](int64_t value, sim::Rounding mode) {
    return sim::scale_round(value, {1, 1}, mode);
  };
  EXPECT_EQ(half(3, sim::Rounding::Natural), 2);
  EXPECT_EQ(half(-3, sim::Rounding::Natural), -1);
  EXPECT_EQ(half(3, sim::Rounding::Truncate), 1);
  EXPECT_EQ(half(-3, sim::Rounding::Truncate), -1);
  EXPECT_EQ(half(-3, sim::Rounding::Tfl), -1);
  // Beyond a shift of 31 the second rounding of TFLite sends halves away from zero.
  EXPECT_EQ(sim::scale_round(-3, {1u << 31, 32}, sim::Rounding::Tfl), -2);
  EXPECT_EQ(sim::scale_round(-3, {1u << 31, 32}, sim::Rounding::Natural), -1);
}

TEST(Units, AreCloseToTheFunctionsAndSaturate) {
  for (int32_t x = -140000; x <= 140000; x += 37) {
    const double real = x / (3.0 * 4096.0);
    ASSERT_NEAR(sim::sigmoid_unit(x), 32768 / (1 + std::exp(-real)), 1.5) << x;
    ASSERT_NEAR(sim::tanh_unit(x), 32768 * std::tanh(real), 2.5) << x;
  }
  EXPECT_EQ(sim::sigmoid_unit(0), 16384);
  EXPECT_EQ(sim::tanh_unit(0), 0);
  EXPECT_EQ(sim::sigmoid_unit(1 << 20), 32767);
  EXPECT_EQ(sim::sigmoid_unit(-(1 << 20)), 1);
  EXPECT_EQ(sim::tanh_unit(1 << 20), 32767);
  EXPECT_EQ(sim::tanh_unit(-(1 << 20)), -32767);
  for (int32_t x = 0; x < 200000; x += 11) ASSERT_EQ(sim::tanh_unit(-x), -sim::tanh_unit(x)) << x;
}

}  // namespace
}  // namespace intarsia::test::ethos_u
