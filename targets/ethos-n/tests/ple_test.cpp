// PLE kernels against plain code: what their sources and their names say they compute.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "device_parts.h"
#include "intarsia/targets/ethos_n/ple.h"
#include "intarsia/targets/ethos_n/ple_arithmetic.h"

namespace intarsia::test::ethos_n {
namespace {

const sim::Kernel& kernel(std::string_view text) {
  for (uint32_t k = 0; k < sim::kKernelsOfVariant; ++k)
    if (const sim::Kernel* found =
            sim::find_kernel(variant(), variant().number * sim::kKernelsOfVariant + k);
        found->text == text)
      return *found;
  ADD_FAILURE() << text;
  return *sim::find_kernel(variant(), variant().number * sim::kKernelsOfVariant);
}

class Kernels : public testing::Test {
 protected:
  sim::MceOutput random_input(uint32_t height, uint32_t width, uint32_t channels) {
    sim::MceOutput input{width, height, channels,
                         std::vector<uint8_t>(size_t{height} * width * channels)};
    for (uint8_t& value : input.values) value = static_cast<uint8_t>(random_());
    return input;
  }
  int out(const sim::PleStripe& stripe, uint32_t y, uint32_t x, uint32_t c) {
    const auto place =
        sim::SramTensor::packed(sram, stripe.output_address, stripe.width, stripe.depth);
    return static_cast<int8_t>(place.read(sram, y, x, c));
  }
  static sim::PleStripe stripe(uint32_t height, uint32_t width, uint32_t depth,
                               uint32_t flags = 15) {
    sim::PleStripe s;
    s.flags = flags, s.width = width, s.height = height, s.depth = depth, s.output_address = 0x1000;
    return s;
  }
  static int window(const sim::MceOutput& in, uint32_t y0, uint32_t x0, uint32_t c, uint32_t h,
                    uint32_t w) {
    int best = -128;
    for (uint32_t y = y0; y < std::min(y0 + h, in.height); ++y)
      for (uint32_t x = x0; x < std::min(x0 + w, in.width); ++x)
        best = std::max<int>(best, static_cast<int8_t>(in.at(y, x, c)));
    return best;
  }

  std::mt19937 random_{7};
  sim::Sram sram{variant()};
  sim::Ple ple{variant(), sram};
};

TEST_F(Kernels, TransposeDownsampleAndPassthroughMoveData) {
  const sim::MceOutput input = random_input(12, 20, 18);
  for (const auto& [name, height, width] : {std::tuple("PASSTHROUGH_bw8_bh8_bm4", 12u, 20u),
                                            std::tuple("TRANSPOSE_XY_bw8_bh8_bm1", 20u, 12u),
                                            std::tuple("DOWNSAMPLE_2X2_bw8_bh8_bm4", 6u, 10u)}) {
    const sim::PleStripe s = stripe(height, width, 18);
    ASSERT_FALSE(ple.run_fused(kernel(name), s, input)) << name;
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x)
        for (uint32_t c = 0; c < 18; ++c) {
          const uint8_t expected = height == 12   ? input.at(y, x, c)
                                   : height == 20 ? input.at(x, y, c)
                                                  : input.at(2 * y, 2 * x, c);
          ASSERT_EQ(out(s, y, x, c), static_cast<int8_t>(expected)) << name;
        }
  }
}

TEST_F(Kernels, MaxPool3x3AcrossStripesIsThatOfTheWhole) {
  for (const bool odd : {true, false}) {
    const auto& pool =
        kernel(odd ? "MAXPOOL_3X3_2_2_ODD_bw8_bh8_bm4_s8" : "MAXPOOL_3X3_2_2_EVEN_bw8_bh8_bm4_s8");
    const sim::MceOutput whole = random_input(odd ? 33 : 32, odd ? 17 : 16, 5);
    std::vector<sim::PleStripe> stripes;
    for (uint32_t i = 0; i < 2; ++i) {
      sim::PleStripe s = stripe(8, 8, 5, 12 | (i == 0 ? 1u : 2u));
      s.output_address = 0x1000 + 0x100 * i;
      const sim::PleInputSize size = ple.input_of(pool, s);
      sim::MceOutput part{size.width, size.height, 5, {}};
      for (uint32_t c = 0; c < 5; ++c)
        for (uint32_t y = 0; y < size.height; ++y)
          for (uint32_t x = 0; x < size.width; ++x)
            part.values.push_back(whole.at(16 * i + y, x, c));
      ASSERT_EQ(size.height, i == 1 && odd ? 17u : 16u);
      ASSERT_FALSE(ple.run_fused(pool, s, part));
      stripes.push_back(s);
    }
    for (uint32_t y = 0; y < 16; ++y)
      for (uint32_t x = 0; x < 8; ++x)
        for (uint32_t c = 0; c < 5; ++c)
          ASSERT_EQ(out(stripes[y / 8], y % 8, x, c), window(whole, 2 * y, 2 * x, c, 3, 3))
              << odd << " " << y << " " << x;
  }
}

TEST_F(Kernels, MeansAreWithinOneOfTheRealOnes) {
  for (const uint32_t side : {7u, 8u}) {
    const sim::MceOutput input = random_input(side, side, 20);
    const sim::PleStripe s = stripe(1, 1, 20);
    ASSERT_FALSE(ple.run_fused(
        kernel(side == 7 ? "MEAN_XY_7X7_bw8_bh8_bm1_s8" : "MEAN_XY_8X8_bw8_bh8_bm1_s8"), s, input));
    for (uint32_t c = 0; c < 20; ++c) {
      double sum = 0;
      for (uint32_t i = 0; i < side * side; ++i)
        sum += static_cast<int8_t>(input.at(i / side, i % side, c));
      EXPECT_NEAR(out(s, 0, 0, c), sum / (side * side), 0.51) << side;
    }
  }
}

TEST_F(Kernels, AveragePoolDividesByTheElementsThereAre) {
  const sim::PleStripe s = stripe(9, 10, 3);
  const auto in = sim::SramTensor::packed(sram, 0x4000, 10, 3);
  const sim::MceOutput values = random_input(9, 10, 3);
  for (uint32_t y = 0; y < 9; ++y)
    for (uint32_t x = 0; x < 10; ++x)
      for (uint32_t c = 0; c < 3; ++c) in.write(sram, y, x, c, values.at(y, x, c));
  ASSERT_FALSE(ple.run_standalone(kernel("AVGPOOL_3X3_1_1_UDMA_s8"),
                                  {15, 0x400, 0, 0, 0, 0x100, 10 | 9 << 16, 3}));
  for (uint32_t y = 0; y < 9; ++y)
    for (uint32_t x = 0; x < 10; ++x)
      for (uint32_t c = 0; c < 3; ++c) {
        double sum = 0, count = 0;
        for (uint32_t i = y == 0 ? 0 : y - 1; i < std::min(y + 2, 9u); ++i)
          for (uint32_t j = x == 0 ? 0 : x - 1; j < std::min(x + 2, 10u); ++j, ++count)
            sum += static_cast<int8_t>(values.at(i, j, c));
        EXPECT_NEAR(out(s, y, x, c), sum / count, 0.56);
      }
}

TEST_F(Kernels, MaxPool1dReachesBothWays) {
  const sim::MceOutput values = random_input(11, 13, 17);
  const auto in = sim::SramTensor::packed(sram, 0x4000, 13, 17);
  for (uint32_t y = 0; y < 11; ++y)
    for (uint32_t x = 0; x < 13; ++x)
      for (uint32_t c = 0; c < 17; ++c) in.write(sram, y, x, c, values.at(y, x, c));
  for (const bool along_x : {true, false}) {
    const sim::PleStripe s = stripe(11, 13, 17);
    ASSERT_FALSE(ple.run_standalone(kernel(along_x ? "MAXPOOL1D_s8_dx1" : "MAXPOOL1D_s8_dy1"),
                                    {13, 11, 17, along_x ? 13u : 11u, 0x4000, 0x1000, 2, 5}));
    for (uint32_t y = 0; y < 11; ++y)
      for (uint32_t x = 0; x < 13; ++x)
        for (uint32_t c = 0; c < 17; ++c) {
          int best = -128;
          for (int i = -2; i <= 2; ++i) {
            const int at_y = static_cast<int>(y) + (along_x ? 0 : i),
                      at_x = static_cast<int>(x) + (along_x ? i : 0);
            if (at_y < 0 || at_x < 0 || at_y >= 11 || at_x >= 13) continue;
            best =
                std::max<int>(best, static_cast<int8_t>(values.at(static_cast<uint32_t>(at_y),
                                                                  static_cast<uint32_t>(at_x), c)));
          }
          ASSERT_EQ(out(s, y, x, c), best) << along_x;
        }
  }
}

// Lane by lane as the kernel's source has it: differences and their product in 16 bits, the product
// with the multiplier in 32, a shift that takes those for unsigned, and the low byte of what the
// zero point makes of it.
TEST_F(Kernels, MultiplicationShiftsItsProductAsUnsigned) {
  constexpr uint32_t kShift = 15, kMultiplier = 20000;
  for (const bool is_signed : {true, false}) {
    const sim::MceOutput a = random_input(9, 13, 19), b = random_input(9, 13, 19);
    const auto first = sim::SramTensor::packed(sram, 0x4000, 13, 19),
               second = sim::SramTensor::packed(sram, 0x6000, 13, 19);
    for (uint32_t y = 0; y < 9; ++y)
      for (uint32_t x = 0; x < 13; ++x)
        for (uint32_t c = 0; c < 19; ++c)
          first.write(sram, y, x, c, a.at(y, x, c)), second.write(sram, y, x, c, b.at(y, x, c));
    const int zero[2] = {is_signed ? -100 : 3, is_signed ? 90 : 250};
    ASSERT_FALSE(
        ple.run_standalone(kernel(is_signed ? "MULTIPLICATION_s8" : "MULTIPLICATION_u8"),
                           {13 | 9 << 16, 19, static_cast<uint16_t>(-7), kMultiplier | kShift << 16,
                            static_cast<uint16_t>(zero[0]) | static_cast<uint32_t>(zero[1]) << 16,
                            0x4000, 0x6000, 0x1000}));
    size_t beyond_16_bits = 0, negative = 0;
    for (uint32_t y = 0; y < 9; ++y)
      for (uint32_t x = 0; x < 13; ++x)
        for (uint32_t c = 0; c < 19; ++c) {
          const uint8_t bytes[2] = {a.at(y, x, c), b.at(y, x, c)};
          int lanes[2];
          for (int i = 0; i < 2; ++i)
            lanes[i] = (is_signed ? static_cast<int8_t>(bytes[i]) : int{bytes[i]}) - zero[i];
          const int product = lanes[0] * lanes[1];
          const auto low = static_cast<uint16_t>(product);
          const uint32_t wide =
              is_signed
                  ? static_cast<uint32_t>(static_cast<int16_t>(low) * static_cast<int>(kMultiplier))
                  : low * kMultiplier;
          const uint32_t shifted = wide >> kShift > 0xFFFF ? 0xFFFF : wide >> kShift;
          beyond_16_bits += product != static_cast<int16_t>(low), negative += product < 0;
          ASSERT_EQ(static_cast<uint8_t>(out(stripe(9, 13, 19), y, x, c)),
                    static_cast<uint8_t>(shifted - 7))
              << is_signed;
        }
    EXPECT_GT(beyond_16_bits, 0u);
    EXPECT_GT(negative, 0u);
  }
}

TEST(PleArithmetic, RescaleRoundsHalfUpAndSaturates) {
  EXPECT_EQ(sim::rescale(5, 0, 32768, 16), 3);    // 2.5
  EXPECT_EQ(sim::rescale(-5, 0, 32768, 16), -2);  // -2.5
  EXPECT_EQ(sim::rescale(-4, 0, 32768, 16), -2);
  EXPECT_EQ(sim::rescale(127, -128, 65535, 1),
            16383 + 1 - (1 << 15));  // 32767 + 1 wraps before the last place
}

TEST(PleArithmetic, SigmoidIsWithinOneOfTheRealOne) {
  const double scale = 0.05;
  const double factor = scale * 1.4426950408889634 * 256;
  int exponent = 0;
  const auto multiplier = static_cast<uint32_t>(std::frexp(factor, &exponent) * 65536);
  for (int value = -128; value < 128; ++value) {
    const double real = 256 / (1 + std::exp(-scale * (value - 3)));
    const int got = sim::sigmoid(value, 3, multiplier, static_cast<uint32_t>(16 - exponent), false);
    EXPECT_NEAR(got, std::min(real, 255.0), 1.01) << value;
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
