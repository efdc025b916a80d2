// Transfers: where every element goes, and which ones are refused.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_parts.h"
#include "intarsia/targets/ethos_n/dma.h"

namespace intarsia::test::ethos_n {
namespace {

using testing::HasSubstr;

struct Transfer {
  sim::Command command = sim::Command::LoadIfmStripe;
  uint32_t format = 0, dram = 0, sram = 0, channels = 1, bytes = 1;
  uint32_t stride0 = 1, stride1 = 1, stride2 = 1, stride3 = 1;
};

class Dma : public testing::Test {
 protected:
  std::string run(const Transfer& t) {
    const auto agent = make_agent(sim::Agent::IFM_STREAMER,
                                  {{sim::agent_field::IFM_STREAMER_DMA_STRIDE1, t.stride1 - 1}});
    const auto command = make_command(t.command, {{sim::word::Dma_dram_offset, t.dram},
                                                  {sim::word::Dma_SRAM_ADDR, t.sram / 16},
                                                  {sim::word::Dma_DMA_STRIDE0, t.stride0 - 1},
                                                  {sim::word::Dma_DMA_STRIDE2, t.stride2 - 1},
                                                  {sim::word::Dma_DMA_STRIDE3, t.stride3 - 1},
                                                  {sim::word::Dma_DMA_CHANNELS, t.channels - 1},
                                                  {sim::word::Dma_DMA_EMCS, 0xFFFF},
                                                  {sim::word::Dma_DMA_TOTAL_BYTES, t.bytes - 1},
                                                  {sim::word::Dma_DMA_CMD, t.format << 3}});
    sim::Dram dram = make_dram(memory);
    const auto fault = sim::transfer(variant(), agent, command, sram, dram);
    return fault ? fault->what : dram.failure ? *dram.failure : sram.failure ? *sram.failure : "";
  }
  // Of a stripe `width` wide, from the formula of the layout.
  uint8_t at(uint32_t base, uint32_t width, uint32_t channels, uint32_t y, uint32_t x, uint32_t c) {
    const uint32_t deep = (channels + 15) / 16,
                   group = (y / 8 * ((width + 7) / 8) + x / 8) * deep + c / 16;
    const uint32_t patch = x % 8 / 4 * 2 + y % 8 / 4;
    return sram.read(c % 16, base + group * 64 + patch * 16 + y % 4 * 4 + x % 4);
  }

  std::vector<uint8_t> memory;
  sim::Sram sram{variant()};
};

std::vector<uint8_t> numbered(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST_F(Dma, NhwcTakesAWindowOfTheTensor) {
  memory = numbered(20 * 13 * 5);  // 20 x 13 x 5
  // Rows 3 to 14, columns 2 to 11.
  ASSERT_EQ(run({.format = 0,
                 .dram = (3 * 13 + 2) * 5,
                 .sram = 0x400,
                 .channels = 5,
                 .bytes = 12 * 10 * 5,
                 .stride0 = 50,
                 .stride1 = 65}),
            "");
  for (uint32_t y = 0; y < 12; ++y)
    for (uint32_t x = 0; x < 10; ++x)
      for (uint32_t c = 0; c < 5; ++c)
        ASSERT_EQ(at(0x400, 10, 5, y, x, c), memory[((y + 3) * 13 + x + 2) * 5 + c])
            << y << " " << x << " " << c;
}

TEST_F(Dma, NchwIsTheSameInAnotherOrder) {
  memory = numbered(3 * 9 * 11);
  ASSERT_EQ(run({.format = 1,
                 .channels = 3,
                 .bytes = 3 * 9 * 11,
                 .stride0 = 11,
                 .stride1 = 11,
                 .stride2 = 99,
                 .stride3 = 99}),
            "");
  for (uint32_t y = 0; y < 9; ++y)
    for (uint32_t x = 0; x < 11; ++x)
      for (uint32_t c = 0; c < 3; ++c)
        ASSERT_EQ(at(0, 11, 3, y, x, c), memory[(c * 9 + y) * 11 + x]);
}

TEST_F(Dma, NhwcbHasBricksOfSixteenChannels) {
  memory = numbered(16 * 8 * 32);  // 16 x 8 x 32: two groups below each other, two deep
  ASSERT_EQ(run({.format = 2, .channels = 32, .bytes = 16 * 8 * 32}), "");
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 8; ++x)
      for (uint32_t c = 0; c < 32; ++c)
        ASSERT_EQ(at(0, 8, 32, y, x, c),
                  memory[1024 * (c / 16 + y / 8 * 2) + 256 * (x / 4 * 2 + y % 8 / 4) +
                         16 * (c % 16) + 4 * (y % 4) + x % 4]);
}

TEST_F(Dma, AStridedWriteLeavesOtherBricksAlone) {
  memory = numbered(16 * 16 * 16);
  ASSERT_EQ(run({.format = 2, .channels = 16, .bytes = 4096}), "");
  const std::vector<uint8_t> source = memory;
  memory.assign(8192, 0xEE);
  ASSERT_EQ(run({.command = sim::Command::StoreOfmStripe,
                 .format = 3,
                 .dram = 1024,
                 .channels = 16,
                 .bytes = 4096,
                 .stride0 = 1024}),
            "");
  for (size_t i = 0; i < memory.size(); ++i)
    ASSERT_EQ(memory[i], i / 1024 % 2 == 0 ? 0xEE : source[i / 2048 * 1024 + i % 1024]) << i;
}

TEST_F(Dma, WeightsGoRoundTheBanks) {
  memory = numbered(640);
  ASSERT_EQ(run({.command = sim::Command::LoadWgtStripe, .format = 4, .sram = 0x100, .bytes = 640}),
            "");
  for (uint32_t i = 0; i < 640; ++i)
    ASSERT_EQ(sram.read(i / 16 % 16, 0x100 + i / 256 * 16 + i % 16), memory[i]);
}

TEST_F(Dma, RefusesWhatDoesNotFit) {
  memory = numbered(100);
  EXPECT_THAT(run({.format = 0, .channels = 1, .bytes = 2000, .stride0 = 50, .stride1 = 50}),
              HasSubstr("of buffer 0 cannot be read"));
  EXPECT_THAT(run({.format = 0, .channels = 3, .bytes = 100, .stride0 = 50, .stride1 = 50}),
              HasSubstr("no whole number of rows"));
  EXPECT_THAT(run({.format = 6, .channels = 16, .bytes = 1024}), HasSubstr("does not have FCAF"));
  EXPECT_THAT(run({.format = 3, .channels = 16, .bytes = 1024}),
              HasSubstr("does not exist in this direction"));
  EXPECT_THAT(run({.format = 0, .channels = 1, .bytes = 4u << 20}), HasSubstr("larger than SRAM"));
  EXPECT_THAT(run({.command = sim::Command::StoreOfmStripe,
                   .format = 0,
                   .dram = 99,
                   .channels = 2,
                   .bytes = 2,
                   .stride0 = 2}),
              HasSubstr("byte 100 of buffer 0 cannot be written"));
  EXPECT_THAT(run({.format = 0, .sram = 0x7FF00, .channels = 1, .bytes = 1, .stride0 = 1}),
              HasSubstr("is outside of SRAM"));
}

}  // namespace
}  // namespace intarsia::test::ethos_n
