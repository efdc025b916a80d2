// Cutting a list into sections beside all ways to cut it.
#include "intarsia/npu/sections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

namespace intarsia::npu {
namespace {

struct Range {
  size_t first = 0, end = 0;
};

TEST(SectionCutter, FindsTheCheapestOfAllCuts) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    const size_t operations = 1 + random() % 8;
    std::map<std::pair<size_t, size_t>, int64_t> costs;  // not of all sections
    for (size_t first = 0; first < operations; ++first)
      for (size_t end = first + 1; end <= operations; ++end)
        if (end == first + 1 || random() % 3 != 0) costs[{first, end}] = 1 + random() % 40;
    std::function<int64_t(size_t)> least = [&](size_t first) -> int64_t {
      if (first == operations) return 0;
      int64_t best = INT64_MAX;
      for (size_t end = first + 1; end <= operations; ++end)
        if (const auto found = costs.find({first, end}); found != costs.end())
          best = std::min(best, found->second + least(end));
      return best;
    };
    SectionCutter<Range, int64_t, std::less<int64_t>> cutter(operations, {});
    for (size_t first = 0; first < operations; ++first)
      for (size_t end = first + 1; end <= operations; ++end)
        if (const auto found = costs.find({first, end});
            found != costs.end() && cutter.is_reached(first))
          cutter.offer(first, end, found->second, {first, end});
    int64_t total = 0;
    size_t at = 0;
    for (const Range& range : cutter.finish()) {
      EXPECT_EQ(range.first, at);
      total += costs.at({range.first, range.end});
      at = range.end;
    }
    EXPECT_EQ(at, operations);
    EXPECT_EQ(total, least(0));
  }
}

TEST(SectionCutter, KnowsWhereNoSectionEnds) {
  SectionCutter<Range, int64_t, std::less<int64_t>> cutter(3, {});
  cutter.offer(0, 2, 1, {0, 2});
  EXPECT_TRUE(cutter.is_reached(0));
  EXPECT_FALSE(cutter.is_reached(1));
  EXPECT_TRUE(cutter.is_reached(2));
}

TEST(SectionCutter, KeepsTheFirstOfEquals) {
  SectionCutter<Range, int64_t, std::less<int64_t>> cutter(2, {});
  cutter.offer(0, 2, 2, {0, 2});
  cutter.offer(0, 1, 1, {0, 1});
  cutter.offer(1, 2, 1, {1, 2});
  EXPECT_EQ(cutter.finish().size(), 1u);
}

}  // namespace
}  // namespace intarsia::npu
