// Weight streams of our encoder, read by the simulator's decoder, which shares no code with it.
#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/weight_stream.h"
#include "weights/encoded_streams.h"
#include "weights/weight_choice.h"
#include "weights/weight_encoder.h"
#include "weights/weight_order.h"

namespace intarsia::test::ethos_u {
namespace {

using targets::ethos_u::encode_weights;

std::vector<int16_t> decoded(const std::vector<uint8_t>& stream, size_t count) {
  std::vector<int16_t> weights;
  const auto failure = simulators::ethos_u::decode_weights(stream, count, weights);
  EXPECT_FALSE(failure.has_value()) << *failure;
  return weights;
}

void expect_round_trip(const std::vector<int16_t>& weights) {
  const std::vector<uint8_t> stream = encode_weights(weights);
  EXPECT_EQ(stream.size() % 16, 0u);
  EXPECT_EQ(decoded(stream, weights.size()), weights);
}

std::vector<int16_t> normal(size_t count, double deviation, double zeros, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> values(0, deviation);
  std::bernoulli_distribution zero(zeros);
  std::vector<int16_t> weights(count);
  for (int16_t& weight : weights)
    weight =
        zero(random) ? int16_t{0} : static_cast<int16_t>(std::clamp(values(random), -255.0, 255.0));
  return weights;
}

TEST(WeightEncoder, KeepsWeightsOfManyDistributions) {
  uint32_t seed = 1;
  for (const size_t count : {1, 2, 15, 16, 333, 4096})
    for (const double deviation : {0.3, 2.0, 20.0, 90.0})
      for (const double zeros : {0.0, 0.3, 0.9, 0.999})
        expect_round_trip(normal(count, deviation, zeros, seed++));
}

TEST(WeightEncoder, KeepsExtremes) {
  expect_round_trip(std::vector<int16_t>(1, 0));
  expect_round_trip(std::vector<int16_t>(100'000, 0));
  expect_round_trip(std::vector<int16_t>(40'000, -255));
  std::vector<int16_t> all;
  for (int16_t value = -255; value <= 255; ++value) all.push_back(value);
  expect_round_trip(all);
  std::vector<int16_t> lonely(70'000, 0);
  lonely[35'000] = 255;
  expect_round_trip(lonely);
}

TEST(WeightEncoder, KeepsWeightsWhoseStatisticsChange) {
  std::vector<int16_t> weights = normal(3000, 90, 0, 5);
  const auto append = [&](const std::vector<int16_t>& more) {
    weights.insert(weights.end(), more.begin(), more.end());
  };
  append(normal(3000, 1.5, 0.8, 6));
  append(std::vector<int16_t>(2000, 0));
  append(normal(3000, 10, 0, 7));
  expect_round_trip(weights);
}

TEST(WeightEncoder, IsSmall) {
  // Nothing but the few headers that the longest run of zeros needs.
  EXPECT_LE(encode_weights(std::vector<int16_t>(8192, 0)).size(), 144u);
  // Two values: a bit each.
  std::vector<int16_t> two(8192);
  for (size_t i = 0; i < two.size(); ++i)
    two[i] = std::minstd_rand(static_cast<uint32_t>(i))() % 2 == 0 ? 100 : -3;
  EXPECT_LE(encode_weights(two).size(), 8192u / 8 + 16);
  // Evenly spread over 8 bits: no more than the bytes they were, and a header.
  std::mt19937 random(9);
  std::vector<int16_t> even(8192);
  for (int16_t& weight : even) weight = static_cast<int16_t>(random() % 255) - 127;
  EXPECT_LE(encode_weights(even).size(), 8192u + 32);
}

// Where zeros are few, no palette for the whole stream has runs of them. What that loses where they lie together is a bit of each at
// most.
TEST(WeightEncoder, FewZerosThatLieTogetherAreSmall) {
  constexpr size_t kWeights = 16384, kTogether = kWeights / 50;
  std::mt19937 random(11);
  std::vector<int16_t> weights(kWeights);
  for (int16_t& weight : weights) weight = static_cast<int16_t>(random() % 254) - 127;
  const size_t without = encode_weights(weights).size();
  std::fill_n(weights.begin() + kWeights / 3, kTogether, int16_t{0});
  EXPECT_LE(encode_weights(weights).size(), without - kTogether + kTogether / 8 + 32);
  expect_round_trip(weights);
}

// Bits of one slice with that palette and code, weight by weight; kNever where a weight cannot be coded.
int64_t bits_one_by_one(std::span<const int16_t> weights, const targets::ethos_u::Choice& choice) {
  namespace compiler = targets::ethos_u;
  const auto index_of = compiler::indices_under(choice.palette);
  int64_t values = 0, first = 0, second = 0, run = 0, zeros = 0;
  for (const int16_t weight : weights) {
    if (choice.zero_runs && weight == 0) {
      ++run;
      continue;
    }
    zeros += (std::exchange(run, 0) >> choice.zero_divisor) + 1;
    const int32_t index = index_of[compiler::symbol_of(weight)];
    if (index < 0 || !compiler::codable(choice.code, index)) return compiler::kNever;
    ++values;
    first += compiler::unary_bits(choice.code, index).first;
    second += compiler::unary_bits(choice.code, index).second;
  }
  zeros += (run >> choice.zero_divisor) + 1;
  return compiler::kSliceHeaderBits + choice.palette.header_bits() +
         compiler::weight_bits(choice.code, values, first, second) +
         (choice.zero_runs ? compiler::zero_bits(choice.zero_divisor, values + 1, zeros) : 0);
}

TEST(WeightChoice, HasTheSizeThatItsWeightsHave) {
  namespace compiler = targets::ethos_u;
  uint32_t seed = 77;
  for (const size_t count : {2, 40, 2000})
    for (const double deviation : {0.6, 3.0, 30.0, 90.0})
      for (const double zeros : {0.0, 0.4, 0.95}) {
        std::vector<int16_t> weights = normal(count, deviation, zeros, seed++);
        weights[0] = 5;
        const auto statistics = compiler::statistics_of(weights);
        std::vector<compiler::Choice> choices = compiler::choose_each(statistics, true);
        ASSERT_FALSE(choices.empty());
        for (compiler::Choice& choice : choices) {
          EXPECT_EQ(choice.bits, bits_one_by_one(weights, choice));
          // No other code and no other divisor of runs makes fewer bits with this palette.
          for (compiler::Choice other = choice;
               const compiler::WeightCode& code : compiler::common_codes())
            for (other.zero_divisor = 0; other.zero_divisor < compiler::kZeroDivisors;
                 ++other.zero_divisor) {
              other.code = code;
              EXPECT_GE(bits_one_by_one(weights, other), choice.bits);
            }
        }
      }
}

// Runs of zeros that go on from part to part, parts of nothing else, and none.
TEST(WeightChoice, StatisticsOfPartsMakeThoseOfTheWhole) {
  namespace compiler = targets::ethos_u;
  uint32_t seed = 5;
  for (const size_t count : {1023, 1024, 1500, 4001})
    for (const double zeros : {0.0, 0.5, 0.97, 0.999, 1.0})
      for (int hole = 0; hole < 3; ++hole) {
        std::vector<int16_t> weights = normal(count, 9.0, zeros, seed++);
        const auto at = [&](size_t part) {
          return weights.begin() + static_cast<ptrdiff_t>(count * part / 4);
        };
        if (hole == 1) std::fill(at(1) - 7, at(2) + 90, 0);
        if (hole == 2) std::fill(at(2) + 30, weights.end(), 0);
        const compiler::StreamStatistics found = compiler::statistics_with_parts(weights);
        const compiler::Statistics whole = compiler::statistics_of(weights);
        EXPECT_EQ(found.parts.size(), count < 1024 ? 0u : 4u);
        EXPECT_EQ(found.whole.count, whole.count);
        EXPECT_EQ(found.whole.total, whole.total);
        EXPECT_EQ(found.whole.tail, whole.tail);
        EXPECT_EQ(found.whole.zero_unary, whole.zero_unary);
      }
}

TEST(WeightOrder, IsTheSimulators) {
  namespace compiler = targets::ethos_u;
  namespace sim = simulators::ethos_u;
  for (const bool depthwise : {false, true})
    for (const bool part_kernel : {false, true})
      for (const bool wide : {false, true})
        for (const int32_t dilation : {1, 2}) {
          if (depthwise && part_kernel) continue;
          const int32_t ofm = 37, height = 9, width = 3, ifm = depthwise ? 1 : 21;
          const std::vector<int16_t> values =
              normal(static_cast<size_t>(ofm * height * width * ifm), 50, 0.1, 3);
          const compiler::WeightTraversal ours = {16,       8,         8,           dilation,
                                                  dilation, depthwise, part_kernel, wide};
          const compiler::ChannelRange channels = {5, ofm, 2};
          const std::vector<int16_t> order =
              compiler::order_weights({values, ofm, height, width, ifm}, channels, ours);
          const sim::Traversal theirs = {
              channels.count(), ifm,          height,    width,       16,  8, 8,
              8 / dilation,     8 / dilation, depthwise, part_kernel, wide};
          std::vector<int16_t> expected;
          sim::traverse(
              theirs,
              [&](int32_t o, int32_t y, int32_t x, int32_t i) {
                const int32_t channel = channels.first + o * channels.step;
                expected.push_back(
                    values[static_cast<size_t>(((channel * height + y) * width + x) * ifm + i)]);
              },
              [&] { expected.push_back(0); });
          EXPECT_EQ(order, expected) << depthwise << part_kernel << wide << dilation;
        }
}

// Streams that are known are found by their weights: those whose parts have changed places are other weights.
TEST(EncodedStreams, TellsWeightsApartByTheirPlaces) {
  constexpr size_t kMostOfPart = 8;
  for (size_t part = 1; part <= kMostOfPart; ++part) {
    targets::ethos_u::EncodedStreams streams;
    std::vector<int16_t> weights(8 * part);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int16_t>(i / part);
    do {
      EXPECT_EQ(streams.of(weights, {})->bytes, encode_weights(weights)) << part;
      std::rotate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(part),
                  weights.end());
      for (size_t first = 0; first + part < weights.size(); first += part) {
        std::vector<int16_t> others = weights;
        std::swap_ranges(others.begin() + static_cast<std::ptrdiff_t>(first),
                         others.begin() + static_cast<std::ptrdiff_t>(first + part),
                         others.begin() + static_cast<std::ptrdiff_t>(first + part));
        EXPECT_EQ(streams.of(others, {})->bytes, encode_weights(others)) << part << ' ' << first;
      }
    } while (weights[0] != 0);
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
