// The fixed-point transform and logarithm against their definitions.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "spectrum_reference.h"

extern "C" {
#include "common/signal/fixed_fft.h"
#include "common/signal/fixed_log2.h"
}

namespace intarsia::examples {
namespace {

/// Samples up to `peak`: at random, at its two ends, constant, and a wave.
std::vector<std::vector<int32_t>> signals(size_t size, int32_t peak) {
  std::mt19937 random(7);
  std::vector<std::vector<int32_t>> made(4, std::vector<int32_t>(size, peak));
  for (size_t i = 0; i < size; ++i) {
    made[1][i] = std::uniform_int_distribution<int32_t>(-peak, peak)(random);
    made[2][i] = random() % 2 != 0 ? peak : -peak;
    made[3][i] = int32_t(peak * std::cos(2.1 * double(i)));
  }
  return made;
}

TEST(FixedFft, TransformIsWithinFourUnitsOfItsDefinition) {
  for (int log2 = FIXED_FFT_LEAST_LOG2; log2 <= FIXED_FFT_MOST_LOG2; ++log2) {
    for (const int32_t peak : {1 << 30, 1 << 26, 1 << 14}) {
      for (const std::vector<int32_t>& signal : signals(size_t(1) << log2, peak)) {
        std::vector<int32_t> x = signal;
        fixed_rfft(x.data(), log2);
        const auto wanted = spectrum({signal.begin(), signal.end()});
        const size_t half = x.size() / 2;
        EXPECT_NEAR(x[0], wanted[0].real(), 4);
        EXPECT_NEAR(x[1], wanted[half].real(), 4);
        for (size_t k = 1; k < half; ++k) {
          ASSERT_NEAR(x[2 * k], wanted[k].real(), 4) << log2 << " bin " << k;
          ASSERT_NEAR(x[2 * k + 1], wanted[k].imag(), 4) << log2 << " bin " << k;
        }
      }
    }
  }
}

// The four units of each of the N bins add up like noise, with some room: 4 N at most, which is nothing to
// a 16-bit sample.
TEST(FixedFft, InverseGivesTheSamplesBack) {
  for (int log2 = FIXED_FFT_LEAST_LOG2; log2 <= FIXED_FFT_MOST_LOG2; ++log2) {
    for (const int32_t peak : {1 << 26, 1 << 20}) {
      for (const std::vector<int32_t>& signal : signals(size_t(1) << log2, peak)) {
        std::vector<int32_t> x = signal;
        fixed_rfft(x.data(), log2);
        fixed_irfft(x.data(), log2);
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], signal[i], 4 << log2) << log2 << " sample " << i;
      }
    }
  }
}

TEST(FixedLog2, IsWithinItsBound) {
  std::mt19937_64 random(9);
  for (int top = 0; top < 64; ++top) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t value = (uint64_t(1) << top) | (random() & ((uint64_t(1) << top) - 1));
      ASSERT_NEAR(fixed_log2_q16(value) / 65536.0, std::log2(double(value)), 0.0001) << value;
    }
  }
  EXPECT_EQ(fixed_log2_q16(0), 0);
  EXPECT_EQ(fixed_log2_q16(1), 0);
  EXPECT_EQ(fixed_log2_q16(uint64_t(1) << 63), 63 * 65536);
}

TEST(FixedLog2, TakesRatiosInDecibels) {
  for (const auto& [a, b] : {std::pair{1000000u, 1000u}, {77u, 4000000u}, {5u, 5u}}) {
    EXPECT_NEAR(fixed_centibel(a, b), 1000 * std::log10(double(a) / b), 1.1) << a << " / " << b;
  }
}

}  // namespace
}  // namespace intarsia::examples
