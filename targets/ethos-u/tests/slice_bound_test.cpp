// The bound of what a section takes in slices, against slices that are drawn.
#include "weights/slice_bound.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "weights/code_rows.h"
#include "weights/weight_choice.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace targets::ethos_u;

constexpr int64_t kChange = 30;

int64_t bits_of_code(std::span<const uint16_t> indices, const std::vector<Columns>& rows,
                     size_t code) {
  int64_t bits = 0;
  for (const uint16_t index : indices) bits += rows[index][code];
  return bits;
}

int64_t least_of_one_code(std::span<const uint16_t> indices, const std::vector<Columns>& rows,
                          size_t codes) {
  int64_t least = kNever;
  for (size_t code = 0; code < codes; ++code)
    least = std::min(least, bits_of_code(indices, rows, code));
  return least;
}

TEST(SliceBound, NoSlicesTakeLess) {
  std::mt19937 random(7);
  const std::vector<WeightCode> codes = codes_for({{}, 0, 8}, 255);
  const std::vector<Columns> rows = bits_by_index(codes, 256);
  for (const size_t count : {1, 15, 16, 17, 100, 1000, 20'000}) {
    // Stretches of small and of large indices, where changes pay.
    std::vector<uint16_t> indices;
    while (indices.size() < count) {
      const uint32_t most = 1u << random() % 9, length = 1 + random() % 200;
      for (uint32_t i = 0; i < length; ++i)
        indices.push_back(static_cast<uint16_t>(random() % most));
    }
    indices.resize(count);
    const SliceBound bound = slice_bound(indices, rows, kChange);
    EXPECT_LE(bound.one, least_of_one_code(indices, rows, codes.size())) << count;
    if (count < 2) continue;
    for (int draw = 0; draw < 200; ++draw) {
      std::vector<size_t> ends = {count};
      for (size_t cuts = 1 + random() % std::min<size_t>(count - 1, 40); cuts > 0; --cuts)
        ends.push_back(1 + random() % (count - 1));
      std::sort(ends.begin(), ends.end());
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
      int64_t bits = kChange * (std::ssize(ends) - 1);
      size_t begin = 0;
      for (const size_t end : ends) {
        bits +=
            least_of_one_code(std::span(indices).subspan(begin, end - begin), rows, codes.size());
        begin = end;
      }
      EXPECT_LE(bound.several, bits) << count;
    }
  }
}

// It is near enough to tell that what is one distribution is no better in slices.
TEST(SliceBound, OneDistributionIsOneSlice) {
  std::mt19937 random(3);
  const std::vector<WeightCode> codes = codes_for({{}, 0, 8}, 255);
  const std::vector<Columns> rows = bits_by_index(codes, 256);
  std::vector<uint16_t> indices(4096);
  for (uint16_t& index : indices) index = static_cast<uint16_t>(128 + random() % 128);
  const SliceBound bound = slice_bound(indices, rows, kChange);
  EXPECT_EQ(bound.one, 8 * 4096);
  EXPECT_GT(bound.several, bound.one);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
