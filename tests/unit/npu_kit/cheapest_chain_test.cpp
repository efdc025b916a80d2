// Chains of choices beside all ways to choose.
#include "intarsia/npu/cheapest_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace intarsia::npu {
namespace {

TEST(CheapestChain, IsTheBestOfAllWays) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const size_t links = 1 + random() % 5;
    std::vector<std::vector<double>> costs(links);
    size_t ways = 1;
    for (std::vector<double>& options : costs) {
      options.resize(1 + random() % 4);
      for (double& cost : options) cost = random() % 50;
      ways *= options.size();
    }
    std::vector<double> table(links * 16);
    for (double& cost : table) cost = static_cast<double>(random() % 60) - 30;
    const auto first = [&](size_t option) { return table[option]; };
    const auto between = [&](size_t link, size_t before, size_t option) {
      return table[link * 16 + before * 4 + option];
    };
    const auto total = [&](const std::vector<size_t>& chosen) {
      double sum = first(chosen[0]);
      for (size_t i = 0; i < links; ++i) {
        sum += costs[i][chosen[i]];
        if (i > 0) sum += between(i, chosen[i - 1], chosen[i]);
      }
      return sum;
    };
    double least = 1e9;
    for (size_t way = 0; way < ways; ++way) {
      std::vector<size_t> chosen;
      size_t rest = way;
      for (const std::vector<double>& options : costs) {
        chosen.push_back(rest % options.size());
        rest /= options.size();
      }
      least = std::min(least, total(chosen));
    }
    EXPECT_EQ(total(cheapest_chain(costs, first, between)), least);
  }
}

TEST(CheapestChain, OfNothingIsNothing) {
  const auto none = [](size_t) { return 0.0; };
  const auto never = [](size_t, size_t, size_t) { return 0.0; };
  EXPECT_TRUE(cheapest_chain({}, none, never).empty());
}

TEST(CheapestChain, OfEqualsTakesTheFirst) {
  const auto none = [](size_t) { return 0.0; };
  const auto never = [](size_t, size_t, size_t) { return 0.0; };
  EXPECT_EQ(cheapest_chain({{5, 3, 3}, {1, 1}}, none, never), (std::vector<size_t>{1, 0}));
}

}  // namespace
}  // namespace intarsia::npu
