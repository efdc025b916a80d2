// How tests compare floats: each allowance to its edge and not beyond, and nothing for what is not finite.
#include "support/float_values.h"

#include <vector>

#include <gtest/gtest.h>

namespace intarsia::test {
namespace {

using Of = FloatTolerance::Of;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinite = std::numeric_limits<float>::infinity();

std::vector<uint8_t> bytes(const std::vector<float>& values) {
  std::vector<uint8_t> result(values.size() * sizeof(float));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

bool agree(const std::vector<float>& actual, const std::vector<float>& expected, Of of) {
  return float_difference(bytes(actual), bytes(expected), {0.125f, of}).empty();
}

TEST(FloatDifference, IsAllowedToItsEdge) {
  EXPECT_TRUE(agree({0.125f, 4.5f, 8}, {0, 4, 8}, Of::Value));
  EXPECT_FALSE(agree({0.126f, 4, 8}, {0, 4, 8}, Of::Value));
  EXPECT_FALSE(agree({0, 4.51f, 8}, {0, 4, 8}, Of::Value));
  EXPECT_TRUE(agree({0.125f, 3.375f, 8}, {0, 4, 8}, Of::OneAndValue));
  EXPECT_FALSE(agree({0.126f, 4, 8}, {0, 4, 8}, Of::OneAndValue));
  EXPECT_FALSE(agree({0, 3.37f, 8}, {0, 4, 8}, Of::OneAndValue));
  EXPECT_TRUE(agree({1, 5, 9}, {0, 4, 8}, Of::LargestValue));
  EXPECT_FALSE(agree({1.01f, 4, 8}, {0, 4, 8}, Of::LargestValue));
  EXPECT_TRUE(agree({0.1f, 0.1f}, {0, 0.2f}, Of::LargestValue));
  EXPECT_FALSE(agree({0.13f, 0.1f}, {0, 0.2f}, Of::LargestValue));
}

TEST(FloatDifference, AllowsNothingForWhatIsNotFinite) {
  for (const Of of : {Of::Value, Of::OneAndValue, Of::LargestValue}) {
    EXPECT_TRUE(agree({1, kNan, kInfinite, -kInfinite}, {1, kNan, kInfinite, -kInfinite}, of));
    EXPECT_FALSE(agree({kNan}, {1}, of));
    EXPECT_FALSE(agree({1}, {kNan}, of));
    EXPECT_FALSE(agree({kInfinite}, {1}, of));
    EXPECT_FALSE(agree({1}, {kInfinite}, of));
    EXPECT_FALSE(agree({-kInfinite}, {kInfinite}, of));
    // An infinity makes no room for the others.
    EXPECT_FALSE(agree({2, kInfinite}, {1, kInfinite}, of));
  }
}

TEST(FloatDifference, NamesTheFirst) {
  EXPECT_EQ(float_difference(bytes({1, 2, 4}), bytes({1, 3, 5}), kOtherLibrary),
            "element 1 is 2.000000 instead of 3.000000");
  EXPECT_EQ(float_difference(bytes({1, 2}), bytes({1}), kOtherLibrary), "8 bytes instead of 4");
}

// A result that is no number is far from every number.
TEST(LargestSteps, OfWhatIsNoNumberAreInfinite) {
  EXPECT_EQ(largest_steps(bytes({1, 2.5f, 3}), bytes({1, 2, 3}), 0.25f), 2);
  EXPECT_EQ(largest_steps(bytes({1, kNan, 3}), bytes({1, 2, 3}), 0.25f), kInfinite);
  EXPECT_EQ(largest_steps(bytes({1, kInfinite, 3}), bytes({1, 2, 3}), 0.25f), kInfinite);
}

}  // namespace
}  // namespace intarsia::test
