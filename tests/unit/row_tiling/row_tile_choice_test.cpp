#include "row_tiling/row_tile_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "support/random_operator.h"

namespace intarsia::row_tiling {
namespace {

// All ways to cover the operators.
void for_each_way(int operators, const std::vector<Option>& options,
                  const std::function<void(const std::vector<Option>&)>& visit) {
  std::vector<Option> way;
  const std::function<void(int)> extend = [&](int next) {
    if (next == operators) return visit(way);
    for (const Option& option : options) {
      if (option.first != next) continue;
      way.push_back(option);
      extend(option.last + 1);
      way.pop_back();
    }
  };
  extend(0);
}

// The least that the fullest step of the way needs, over all decisions to overlap or not.
int64_t bytes_of(const std::vector<Option>& way) {
  int64_t least = INT64_MAX;
  for (uint32_t overlaps = 0; overlaps < (1u << way.size()); ++overlaps) {
    int64_t below = 0, most = 0;
    bool possible = true;
    for (size_t i = way.size(); i-- > 0;) {
      const bool overlap = ((overlaps >> i) & 1) != 0;
      possible &= !overlap || way[i].distance >= 0;
      // The definitions again: the output lies above the room below it, or above the input.
      const Option& o = way[i];
      most = std::max(most, overlap ? o.beside + std::max(below, o.scratch) +
                                          std::max(o.output, o.distance + o.input)
                                    : o.beside + o.scratch + std::max(below, o.input) + o.output);
      below = overlap ? below + o.distance : 0;
    }
    if (possible) least = std::min(least, most);
  }
  return least;
}

int64_t cost_of(const std::vector<Option>& way) {
  int64_t cost = 0;
  for (const Option& option : way) cost += option.cost;
  return cost;
}

TEST(RowTileChoice, IsTheCheapestWithinTheBudgetElseTheSmallest) {
  int within = 0, beyond = 0;
  for (uint32_t seed = 1; seed <= 800; ++seed) {
    testing::Random r(seed);
    const int operators = static_cast<int>(r.range(1, 4));
    std::vector<Option> options;
    const auto random_option = [&](int first, int last, int64_t step) {
      Option option{first, last, step, step == 0 ? 0 : r.range(0, 20)};
      option.output = r.range(1, 20), option.input = r.range(1, 20);
      option.scratch = r.range(0, 5), option.beside = r.range(0, 5);
      option.distance = r.chance(60) ? r.range(0, 8) : -1;
      return option;
    };
    for (int n = 0; n < operators; ++n) options.push_back(random_option(n, n, 0));
    for (int64_t i = r.range(0, 7); i > 0; --i) {
      const int first = static_cast<int>(r.range(0, operators - 1));
      options.push_back(random_option(
          first, std::min(operators - 1, first + static_cast<int>(r.range(0, 3))), r.range(1, 4)));
    }
    const int64_t budget = r.range(1, 50);
    std::tuple best{INT64_MAX, INT64_MAX};  // bytes beyond the budget, cost
    for_each_way(operators, options, [&](const std::vector<Option>& way) {
      best = std::min(best, std::tuple{std::max<int64_t>(0, bytes_of(way) - budget), cost_of(way)});
    });
    const std::vector<Option> chosen = choose_options(operators, options, budget);
    int next = 0;
    for (const Option& option : chosen) {
      ASSERT_EQ(option.first, next);
      next = option.last + 1;
    }
    ASSERT_EQ(next, operators);
    EXPECT_EQ((std::tuple{std::max<int64_t>(0, bytes_of(chosen) - budget), cost_of(chosen)}), best)
        << "seed " << seed;
    (std::get<0>(best) == 0 ? within : beyond) += 1;
  }
  EXPECT_GT(within, 200);
  EXPECT_GT(beyond, 200);
}

}  // namespace
}  // namespace intarsia::row_tiling
