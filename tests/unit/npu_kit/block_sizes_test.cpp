// Sizes of pieces beside all there are.
#include "intarsia/npu/block_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::npu {
namespace {

// Of the multiples of `unit` that give as many pieces the smallest, the largest first.
std::vector<int64_t> by_trying(int64_t extent, int64_t unit, int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t size = unit; size < extent + unit && size <= most; size += unit)
    if (sizes.empty() || ceil_div(extent, sizes.back()) != ceil_div(extent, size))
      sizes.push_back(size);
  // More than `most` is cut down to it.
  const int64_t longest = std::min(round_up(extent, unit), most / unit * unit);
  if (ceil_div(extent, longest) > 1 && sizes.back() != longest) sizes.push_back(longest);
  return {sizes.rbegin(), sizes.rend()};
}

TEST(BlockSizes, AreTheSmallestOfAllThatGiveAsManyPieces) {
  for (const int64_t unit : {1, 2, 3, 8, 16})
    for (int64_t extent = 1; extent <= 130; ++extent)
      EXPECT_EQ(piece_sizes(extent, unit), by_trying(extent, unit, extent + unit))
          << extent << " in units of " << unit;
}

TEST(BlockSizes, AreNoLongerThanTheyMayBe) {
  for (const int64_t most : {16, 20, 64})
    for (int64_t extent = 1; extent <= 200; ++extent) {
      const std::vector<int64_t> sizes = piece_sizes(extent, 8, most);
      EXPECT_EQ(sizes, by_trying(extent, 8, most)) << extent << ", at most " << most;
      EXPECT_EQ(sizes.back(), 8);
    }
  EXPECT_EQ(piece_sizes(100, 8, 5), std::vector<int64_t>{8}) << "one unit there always is";
}

}  // namespace
}  // namespace intarsia::npu
