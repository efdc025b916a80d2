// MCE stripes against plain loops, for what no stream of Arm's shows: wide filters, upsampling,
// neighbours in other slots on all sides.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_parts.h"
#include "intarsia/targets/ethos_n/mce.h"

namespace intarsia::test::ethos_n {
namespace {

using testing::HasSubstr;

constexpr uint32_t kChannels = 20, kOfms = 3;
constexpr int kZeroPoint = -5;

// An IFM of 3 x 3 slots of 8x8 elements, the stripe in the middle; all of it holds data.
class MceStripe : public testing::Test {
 protected:
  MceStripe() {
    for (int& value : ifm) value = static_cast<int8_t>(random_());
    for (uint32_t slot = 0; slot < 9; ++slot)
      for (uint32_t y = 0; y < 8; ++y)
        for (uint32_t x = 0; x < 8; ++x)
          for (uint32_t c = 0; c < kChannels; ++c)
            sim::SramTensor::packed(sram, 0x400 + slot * 128, 8, kChannels)
                .write(sram, y, x, c,
                       static_cast<uint8_t>(at(static_cast<int>(slot / 3 * 8 + y) - 8,
                                               static_cast<int>(slot % 3 * 8 + x) - 8, c)));
  }
  // Coordinates of the middle slot.
  int at(int y, int x, uint32_t c) const {
    return ifm[(static_cast<size_t>(y + 8) * 24 + static_cast<size_t>(x + 8)) * kChannels + c];
  }

  // Sets the weights in the order of the stream: slices of sixteen channels.
  void set_weights(uint32_t height, uint32_t width, uint32_t piece_height, uint32_t piece_width) {
    filter_height = height, filter_width = width;
    weights.resize(size_t{kOfms} * height * width * kChannels);
    for (int& weight : weights) weight = static_cast<int>(random_() % 21) - 10;
    if (depthwise)
      for (size_t i = 0; i < weights.size(); ++i)
        if (i % kChannels != i / (size_t{height} * width * kChannels)) weights[i] = 0;
    for (uint32_t o = 0; o < kOfms; ++o) {
      std::vector<int> order;
      for (uint32_t py = 0; py < height; py += piece_height)
        for (uint32_t px = 0; px < width; px += piece_width)
          for (uint32_t first = 0; first < kChannels; first += 16)
            for (uint32_t y = py; y < py + piece_height; ++y)
              for (uint32_t x = px; x < px + piece_width; ++x)
                for (uint32_t c = first; c < std::min(first + 16, kChannels); ++c)
                  if (!depthwise || c == o) order.push_back(weight(o, y, x, c));
      BitWriter out;
      write_ofm(out, static_cast<int32_t>(100 * o), 32768, 21, 7, order);
      // OFM o: CE o, its first OG, its first bank.
      for (size_t i = 0; i < out.bytes.size(); ++i) sram.write(o, 0x2000 + i, out.bytes[i]);
    }
  }
  int weight(uint32_t o, uint32_t y, uint32_t x, uint32_t c) const {
    return weights[((size_t{o} * filter_height + y) * filter_width + x) * kChannels + c];
  }

  std::string run(uint32_t filter, uint32_t wide, uint32_t control, uint32_t pad,
                  uint32_t wide_offset, uint32_t size) {
    const auto agent =
        make_agent(sim::Agent::MCE_SCHEDULER,
                   {{sim::agent_field::MCE_SCHEDULER_ACTIVATION_CONFIG, 0x007FFF80},
                    {sim::agent_field::MCE_SCHEDULER_WIDE_KERNEL_CONTROL, wide},
                    {sim::agent_field::MCE_SCHEDULER_FILTER, filter},
                    {sim::agent_field::MCE_SCHEDULER_IFM_ZERO_POINT, kZeroPoint & 0xFF},
                    {sim::agent_field::MCE_SCHEDULER_IFM_DEFAULT_SLOT_SIZE, 0x80008},
                    {sim::agent_field::MCE_SCHEDULER_IFM_SLOT_STRIDE, 128 / 16},
                    {sim::agent_field::MCE_SCHEDULER_IFM_SLOT_BASE_ADDRESS, 0x400 / 16}});
    auto program = make_command(sim::Command::ProgramMceStripe,
                                {{sim::word::Program_CE_CONTROL, control | 1u << 15 | 1u << 21},
                                 {sim::word::Program_IFM_ROW_STRIDE, 0x80008},
                                 {sim::word::Program_IFM_CONFIG1, kChannels << 16 | 128 / 16},
                                 {sim::word::Program_IFM_PAD, pad},
                                 {sim::word::Program_WIDE_KERNEL_OFFSET, wide_offset},
                                 {sim::word::Program_IFM_TOP_SLOTS, 0x020100},
                                 {sim::word::Program_IFM_MID_SLOTS, 0x050403},
                                 {sim::word::Program_IFM_BOTTOM_SLOTS, 0x080706},
                                 {sim::word::Program_IFM_SLOT_PAD_CONFIG, 15},
                                 {sim::word::Program_OFM_STRIPE_SIZE, size},
                                 {sim::word::Program_OFM_CONFIG, kOfms},
                                 {sim::word::Program_WEIGHT_BASE_ADDR, 0x2000 / 16}});
    for (uint32_t i = 0; i < 32; ++i)
      program.words[sim::word::Program_MUL_ENABLE + i] =
          depthwise ? (i % 4 == 0 ? 1u << i / 4 : 0) : UINT32_MAX;
    const auto fault = mce.run(agent, program, output);
    return fault ? fault->what : sram.failure ? *sram.failure : "";
  }
  // Sees the IFM as `value(y, x, c)`, the zero point already subtracted.
  template <typename Value>
  void expect(int height, int width, int top, int left, Value value) {
    ASSERT_EQ(output.values.size(), size_t{kOfms} * static_cast<size_t>(height * width));
    for (uint32_t o = 0; o < kOfms; ++o)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          int64_t sum = 100 * o;
          for (uint32_t ky = 0; ky < filter_height; ++ky)
            for (uint32_t kx = 0; kx < filter_width; ++kx)
              for (uint32_t c = 0; c < kChannels; ++c)
                sum += weight(o, ky, kx, c) *
                       value(y + static_cast<int>(ky) - top, x + static_cast<int>(kx) - left, c);
          const int64_t result = ((sum * 32768 + (1 << 20)) >> 21) + 7;
          ASSERT_EQ(
              static_cast<int8_t>(output.at(static_cast<uint32_t>(y), static_cast<uint32_t>(x), o)),
              std::clamp<int64_t>(result, -128, 127))
              << o << " " << y << " " << x;
        }
  }

  std::mt19937 random_{11};
  std::vector<int> ifm = std::vector<int>(24 * 24 * kChannels);
  std::vector<int> weights;
  uint32_t filter_height = 0, filter_width = 0;
  bool depthwise = false;  // OFM o of channel o alone, which is that of CE o's first IG
  sim::Sram sram{variant()};
  sim::Mce mce{variant(), sram, uint64_t{1} << 30};
  sim::MceOutput output;
};

constexpr uint32_t filter_of(uint32_t width, uint32_t height) {
  return sim::kFilterNxM | (width - 1) << 3 | (height - 1) << 6;
}

TEST_F(MceStripe, TakesNeighboursFromAllSides) {
  set_weights(5, 3, 5, 3);
  // Left 1, top 2; fifteen more rows and columns than the stripe has.
  ASSERT_EQ(run(filter_of(3, 5), 0, 0, 1 | 2 << 3 | 15 << 6 | 15 << 11, 0, 0x80008), "");
  expect(8, 8, 2, 1, [&](int y, int x, uint32_t c) { return at(y, x, c) - kZeroPoint; });
}

TEST_F(MceStripe, PadsBehindTheLastElement) {
  set_weights(3, 3, 3, 3);
  // Two columns less than the stripe: -2; a row more: 1.
  ASSERT_EQ(run(filter_of(3, 3), 0, 0, 1 | 1 << 3 | 30u << 6 | 1 << 11, 0, 0x80008), "");
  expect(8, 8, 1, 1,
         [&](int y, int x, uint32_t c) { return x >= 6 || y >= 9 ? 0 : at(y, x, c) - kZeroPoint; });
}

TEST_F(MceStripe, WalksAWideFilterInPieces) {
  set_weights(9, 3, 3, 3);
  ASSERT_EQ(
      run(filter_of(1, 1), 1 | 2 << 1 | 8 << 9, 0, 0, 1 | 4 << 8 | 10 << 16 | 10 << 24, 0x80008),
      "");
  expect(8, 8, 4, 1, [&](int y, int x, uint32_t c) { return at(y, x, c) - kZeroPoint; });
}

TEST_F(MceStripe, TakesAWideDepthwiseFilterRowByRow) {
  depthwise = true;
  set_weights(9, 9, 9, 9);
  ASSERT_EQ(run(sim::kFilterDepthwise, 1 | 8 << 1 | 8 << 9, 0, 0, 4 | 4 << 8 | 10 << 16 | 10 << 24,
                0x80008),
            "");
  expect(8, 8, 4, 4, [&](int y, int x, uint32_t c) { return at(y, x, c) - kZeroPoint; });
}

TEST_F(MceStripe, EndsAWideFiltersInputBeforeTheStripeDoes) {
  set_weights(9, 3, 3, 3);
  // Two columns less than the stripe, as a wide padding leaves them.
  ASSERT_EQ(
      run(filter_of(1, 1), 1 | 2 << 1 | 8 << 9, 0, 0, 1 | 4 << 8 | 0xFEu << 16 | 10 << 24, 0x80008),
      "");
  expect(8, 8, 4, 1,
         [&](int y, int x, uint32_t c) { return x >= 6 ? 0 : at(y, x, c) - kZeroPoint; });
}

TEST_F(MceStripe, UpsamplesByRepetitionAndWithZeros) {
  set_weights(3, 3, 3, 3);
  for (const uint32_t mode : {sim::kResampleNearest, sim::kResampleTranspose}) {
    ASSERT_EQ(run(filter_of(3, 3), 0, mode << 6, 1 | 1 << 3 | 15 << 6 | 15 << 11, 0, 0x100010), "");
    expect(16, 16, 1, 1, [&](int y, int x, uint32_t c) {
      return mode == sim::kResampleTranspose && (y % 2 != 0 || x % 2 != 0)
                 ? 0
                 : at(y >> 1, x >> 1, c) - kZeroPoint;
    });
  }
}

TEST_F(MceStripe, RefusesWhatIsNotPublished) {
  set_weights(3, 3, 3, 3);
  EXPECT_THAT(run(filter_of(3, 3), 0, 1 << 16, 0, 0, 0x80008),
              HasSubstr("no Winograd convolution"));
  EXPECT_THAT(run(filter_of(3, 3), 0, 3 << 6, 0, 0, 0x80008), HasSubstr("no bilinear resampling"));
  EXPECT_THAT(run(filter_of(5, 3), 0, 0, 0, 0, 0x80008), HasSubstr("has only"));
  EXPECT_THAT(run(filter_of(1, 3), 0, 0, 0, 0, 0x80008), HasSubstr("are used"));
  EXPECT_THAT(run(filter_of(3, 3), 0, 1 << 19, 0, 0, 0x100010),
              HasSubstr("accumulators of another size"));
}

}  // namespace
}  // namespace intarsia::test::ethos_n
