// Compressed weights read by the simulator's decoder: bit strings written by hand, whose meaning is worked
// out beside them.
#include <string>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/weight_stream.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

// A number of `bits` bits, and bits as they follow each other in the stream; blanks are ignored.
std::string number(uint32_t value, int bits) {
  std::string text;
  for (int i = 0; i < bits; ++i) text += (value >> i & 1) != 0 ? '1' : '0';
  return text;
}
std::string slice(uint32_t zero_divisor, uint32_t values, uint32_t divisor, bool truncated,
                  bool palette) {
  return number(zero_divisor, 3) + number(values - 1, 15) + number(divisor, 3) +
         (truncated ? "1" : "0") + (palette ? "1" : "0");
}
std::string palette(uint32_t direct_offset, uint32_t size_field, uint32_t bits,
                    std::initializer_list<uint32_t> symbols = {}) {
  std::string text = number(direct_offset, 5) + number(size_field, 5) + number(bits - 2, 3);
  for (const uint32_t symbol : symbols) text += number(symbol, static_cast<int>(bits));
  return text;
}
const std::string kNoPalette = palette(0, 0, 2), kEnd = "111";
constexpr uint32_t kNoRuns = 6, kRaw = 7;

// The decoded weights; empty where the decoder refused.
std::vector<int16_t> decoded(const std::string& text, size_t count) {
  std::vector<uint8_t> bytes;
  size_t at = 0;
  const auto put = [&](bool bit) {
    if (at % 8 == 0) bytes.push_back(0);
    bytes.back() = static_cast<uint8_t>(bytes.back() | (bit ? 1 : 0) << at % 8);
    ++at;
  };
  for (const char c : text)
    if (c != ' ') put(c == '1');
  while (at % 128 != 0) put(true);
  std::vector<int16_t> weights;
  if (const auto failure = sim::decode_weights(bytes, count, weights)) {
    ADD_FAILURE() << *failure;
    return {};
  }
  return weights;
}

using Weights = std::vector<int16_t>;

// A quotient takes positions of a unary field: one with "more" and "second" for every two of it, then one
// that is "more" when it is odd. First come the twelve "more" of a field, then "second" for each of those.
TEST(HandWrittenWeights, GolombRice) {
  // Symbols 2, 3, 4, 9 (twice the magnitude, one more where negative) over 2: quotients 1, 1, 2, 4 and
  // remainders 0, 1, 0, 1.
  EXPECT_EQ(decoded(slice(kNoRuns, 4, 1, false, true) + kNoPalette + "1 1 10 110 00000" +
                        "0 0 1 11" + "0 1 0 1" + kEnd,
                    4),
            (Weights{1, -1, 2, -4}));
}

TEST(HandWrittenWeights, TruncatedCodesHaveOnePositionEach) {
  // Symbols 0, 5, 10, 11 over 4: quotients 0, 1, 2, 2 and remainders 0, 1, 2, 3.
  EXPECT_EQ(decoded(slice(kNoRuns, 4, 2, true, true) + kNoPalette + "0 1 1 1 00000000" + "0 1 1" +
                        "00 10 01 11" + kEnd,
                    4),
            (Weights{0, -2, 5, -5}));
}

TEST(HandWrittenWeights, IndicesBeyondThePaletteAreDirect) {
  // The palette is 20, -3, 0; index 3 is symbol 12, the direct offset. Indices 0, 2, 5, 1, 3 over 1.
  EXPECT_EQ(decoded(slice(kNoRuns, 5, 0, false, true) + palette(12, 2, 6, {40, 7, 0}) +
                        "0 10 111 1 11 000" + "1 110 0 10" + kEnd,
                    5),
            (Weights{20, 0, 7, -3, 6}));
}

TEST(HandWrittenWeights, ZerosStandBeforeAndBehindValues) {
  // Runs 2, 1, 3 over 1 in a field of twelve; then the symbols 10 and 11 of four bits.
  EXPECT_EQ(decoded(slice(0, 2, kRaw, false, true) + palette(0, 0, 4) + "110 10 1110 000" +
                        "0101 1101" + kEnd,
                    8),
            (Weights{0, 0, 5, 0, -5, 0, 0, 0}));
}

TEST(HandWrittenWeights, SlicesWithoutPaletteBeginWithAValue) {
  // Over 8 a field of zeros has eight positions. Runs 9 and 0 (remainders 1 and 0) around symbol 4; then,
  // under the same palette, symbol 3 and a run of 17.
  Weights expected(9, 0);
  expected.push_back(2);
  expected.push_back(-1);
  expected.insert(expected.end(), 17, 0);
  EXPECT_EQ(
      decoded(slice(3, 1, kRaw, false, true) + palette(0, 0, 4) + "10 0 00000" + "0010" +
                  "100 000" + slice(3, 1, kRaw, false, false) + "110 00000" + "1100" + "100" + kEnd,
              expected.size()),
      expected);
}

TEST(HandWrittenWeights, APaletteStartsAnew) {
  // Three bits a symbol, then a palette of two entries and one bit an index; the second knows no zero runs.
  EXPECT_EQ(decoded(slice(1, 1, kRaw, false, true) + palette(0, 0, 3) + "10 0 000000000" + "001" +
                        "1 0" + slice(kNoRuns, 3, kRaw, false, true) +
                        palette(0, 1, 7, {101, 100}) + "1 0 1" + kEnd,
                    7),
            (Weights{0, 0, 0, 2, 50, -50, 50}));
}

TEST(HandWrittenWeights, WeightsWaitForZerosEightAhead) {
  // Thirteen times symbol 2 behind runs of 11, 11 and then none. The first field of weights has twelve of
  // them, the first two of zeros one run each; weights pause until zeros have caught up.
  Weights expected(11, 0);
  expected.push_back(1);
  expected.insert(expected.end(), 11, 0);
  expected.insert(expected.end(), 12, 1);
  EXPECT_EQ(decoded(slice(0, 13, 0, false, true) + palette(2, 0, 2) + "000000000000" +
                        "111111111110" + "111111111110" + "000000000000" + "000000000000" + kEnd,
                    expected.size()),
            expected);
}

TEST(HandWrittenWeights, ZerosWaitForWeights) {
  // A quotient of 30 needs two fields of weights; no field of zeros stands beside those that follow, until
  // as many weights as runs are known.
  Weights expected(13, 1);
  expected[0] = 16;
  expected.push_back(0);
  EXPECT_EQ(decoded(slice(0, 13, 0, false, true) + palette(2, 0, 2) + "111111111111" +
                        "000000000000" + "111111111111" +  // weights, zeros, second
                        "1110 00000000" + "111" +          // weights and second
                        "0000 00000000" +                  // weights
                        "0 10 000000000" + kEnd,           // zeros
                    expected.size()),
            expected);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
