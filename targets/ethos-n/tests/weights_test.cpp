// The decoder of weight streams, on streams written bit by bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_parts.h"
#include "intarsia/targets/ethos_n/weights.h"

namespace intarsia::test::ethos_n {
namespace {

using testing::ElementsAre;

class Weights : public testing::Test {
 protected:
  std::optional<std::string> next(uint64_t address = 64) {
    if (!reader_) {
      for (size_t i = 0; i < out.bytes.size(); ++i) sram.write(3, address + i, out.bytes[i]);
      reader_.emplace(variant(), sram, 3, address);
    }
    return reader_->next(state, ofm);
  }

  BitWriter out;
  sim::Sram sram{variant()};
  sim::DecoderState state;
  sim::OfmWeights ofm;

 private:
  std::optional<sim::WeightReader> reader_;
};

TEST_F(Weights, UncompressedOnesAreSymbolsOfSignAndMagnitude) {
  write_ofm(out, -70000, 40000, 17, 0xF0, {0, 1, -1, 127, -128, 255, -255});
  ASSERT_EQ(next(), std::nullopt);
  EXPECT_EQ(ofm.bias, -70000);
  EXPECT_EQ(ofm.scale, 40000u);
  EXPECT_EQ(ofm.shift, 17u);
  EXPECT_EQ(ofm.zero_point, 0xF0u);
  EXPECT_THAT(ofm.weights, ElementsAre(0, 1, -1, 127, -128, 255, -255));
}

TEST_F(Weights, APaletteAndScaleStayForTheNextOfm) {
  out.write(0, 16), out.write(5, 32), out.write(1, 1), out.write(1, 16), out.write(2, 6),
      out.write(3, 8);
  out.write(3, 17), out.write(1, 1), out.write(7, 3), out.write(7, 3), out.write(0, 1),
      out.write(0, 5);
  out.write(1, 1), out.write(2, 5),
      out.write(1, 3);  // three entries of three bits: sign above magnitude
  out.write(0b011, 3), out.write(0b111, 3), out.write(0b001, 3);
  for (const uint32_t index : {0u, 1u, 2u}) out.write(index, 2);
  out.write(0, 16), out.write(6, 32), out.write(0, 1), out.write(2, 17), out.write(0, 1);
  for (const uint32_t index : {1u, 2u}) out.write(index, 2);
  ASSERT_EQ(next(), std::nullopt);
  EXPECT_THAT(ofm.weights, ElementsAre(3, -3, 1));
  ASSERT_EQ(next(), std::nullopt);
  EXPECT_EQ(ofm.bias, 6);
  EXPECT_EQ(ofm.shift, 2u);
  EXPECT_THAT(ofm.weights, ElementsAre(-3, 1));
}

// Sixteen IGs: twelve slots for quotients of weights and of zero runs in a chunk; remainders come a
// chunk later.
TEST_F(Weights, ZeroRunsStandBetweenTheWeights) {
  out.write(0, 16), out.write(0, 32), out.write(1, 1), out.write(1, 16), out.write(0, 6),
      out.write(0, 8);
  out.write(2, 17), out.write(1, 1), out.write(0, 3), out.write(1, 3), out.write(0, 1),
      out.write(1, 5);
  out.write(0, 1);
  // Weights 2 and -4 are the symbols 4 and 7, above the offset 3 and 6: quotients 1 and 3,
  // remainders 1 and 0. Runs 2, 0, 1.
  out.write(0b111, 12);              // 1; 1, 1: the last slot's own quotient is 1 again
  out.write(0b010011, 12);           // runs in unary: 11 0, 0, 1 0
  out.write(0b010, 3);               // second bits: 1 ends; 3 goes on; 1 ends
  out.write(1, 1), out.write(0, 1);  // remainders
  ASSERT_EQ(next(), std::nullopt);
  EXPECT_THAT(ofm.weights, ElementsAre(0, 0, 2, -4, 0));
}

TEST_F(Weights, BrokenStreamsAreSentences) {
  out.write(0, 16 + 32), out.write(0, 1);
  EXPECT_EQ(next(), "the first OFM has no scale");
}

TEST_F(Weights, AStreamEndsWithItsBank) {
  write_ofm(out, 0, 1, 0, 0, std::vector<int>(4000, 1));
  EXPECT_EQ(next(variant().emc_bytes - 64), "it goes on beyond the end of SRAM");
}

}  // namespace
}  // namespace intarsia::test::ethos_n
