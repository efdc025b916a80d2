// Weights through the compiler's streams and back by the simulator's decoder, in all codings.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_n/weights.h"
#include "weights/weight_layout.h"

namespace intarsia::test::ethos_n {
namespace {

namespace compiler = targets::ethos_n;
namespace sim = simulators::ethos_n;

std::vector<int16_t> some_weights(std::mt19937& random, size_t count, int values, int zeros_of_ten,
                                  int largest) {
  std::vector<int16_t> palette;
  for (int i = 0; i < values; ++i)
    palette.push_back(
        static_cast<int16_t>(static_cast<int>(random() % (2 * largest + 1)) - largest));
  std::vector<int16_t> weights(count);
  for (int16_t& weight : weights) {
    const bool zero = static_cast<int>(random() % 10) < zeros_of_ten;
    weight = zero ? int16_t{0} : palette[random() % palette.size()];
  }
  return weights;
}

// OFMs of one OG, one after another, in bank 0.
TEST(WeightStream, ComesBack) {
  std::mt19937 random(11);
  std::set<std::pair<bool, bool>> codings;
  bool palettes = false, no_palettes = false;
  for (const compiler::Variant& variant : compiler::variants()) {
    const sim::Variant& simulated = *sim::find_variant(variant.tag);
    for (int round = 0; round < 120; ++round) {
      const int values = std::vector{1, 2, 3, 8, 33, 250}[random() % 6],
                zeros = static_cast<int>(random() % 11);
      const int largest = std::vector{1, 7, 40, 127, 255}[random() % 5];
      std::vector<std::vector<int16_t>> ofms;
      std::vector<int16_t> all;
      for (int i = 0; i < 3; ++i) {
        ofms.push_back(some_weights(random, 1 + random() % 700, values, zeros, largest));
        all.insert(all.end(), ofms.back().begin(), ofms.back().end());
      }
      const compiler::WeightCoding coding = compiler::choose_coding(variant, all);
      codings.insert({coding.zero_divisor != compiler::WeightCoding::kNone,
                      coding.weight_divisor != compiler::WeightCoding::kNone});
      (coding.palette.empty() ? no_palettes : palettes) = true;
      compiler::OgWriter writer(variant, coding);
      std::vector<compiler::OfmStream> written;
      for (const std::vector<int16_t>& weights : ofms) {
        written.push_back({static_cast<int32_t>(random()),
                           {static_cast<uint32_t>(random() % 2 + 40000), 33},
                           -5,
                           weights});
        writer.add(written.back());
      }
      const std::vector<uint8_t> bytes = writer.finish();
      sim::Sram sram(simulated);
      for (size_t i = 0; i < bytes.size(); ++i) sram.write(0, 64 + i, bytes[i]);
      sim::WeightReader reader(simulated, sram, 0, 64);
      sim::DecoderState state;
      for (const compiler::OfmStream& ofm : written) {
        sim::OfmWeights read;
        const auto problem = reader.next(state, read);
        ASSERT_FALSE(problem) << *problem;
        ASSERT_EQ(read.weights, ofm.weights) << variant.tag << ", round " << round;
        EXPECT_EQ(read.bias, ofm.bias);
        EXPECT_EQ(read.scale, ofm.scale.scale);
        EXPECT_EQ(read.shift, ofm.scale.shift);
        EXPECT_EQ(static_cast<int8_t>(read.zero_point), ofm.zero_point);
      }
    }
  }
  EXPECT_EQ(codings.size(), 4u) << "with and without runs of zeros, fixed width and Golomb-Rice";
  EXPECT_TRUE(palettes && no_palettes);
}

}  // namespace
}  // namespace intarsia::test::ethos_n
