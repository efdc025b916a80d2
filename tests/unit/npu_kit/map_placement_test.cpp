// Which maps are fast, beside all ways to choose.
#include "intarsia/npu/map_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace intarsia::npu {
namespace {

double cost_of(const MapPlacementProblem& problem, const std::vector<bool>& fast, bool& fits) {
  double cycles = 0;
  fits = true;
  for (size_t u = 0; u < problem.units.size(); ++u) {
    int64_t bytes = 0;
    for (size_t m = 0; m < fast.size(); ++m)
      if (fast[m] && problem.maps[m].first <= static_cast<int32_t>(u) &&
          static_cast<int32_t>(u) <= problem.maps[m].last)
        bytes += problem.maps[m].bytes;
    fits = fits && bytes <= problem.limit;
    size_t which = 0;
    for (size_t i = 0; i < kMapsOfUnit; ++i)
      if (const int32_t map = problem.units[u].maps[i]; map >= 0 && fast[static_cast<size_t>(map)])
        which |= size_t{1} << i;
    cycles += problem.units[u].cycles[which];
  }
  return cycles;
}

TEST(MapPlacement, IsTheBestOfAllWays) {
  std::mt19937 random(8);
  for (int round = 0; round < 100; ++round) {
    MapPlacementProblem problem;
    const int32_t units = 2 + static_cast<int32_t>(random() % 6);
    problem.limit = 100 + static_cast<int64_t>(random() % 200);
    problem.units.resize(static_cast<size_t>(units));
    const size_t maps = 1 + random() % 7;
    for (size_t m = 0; m < maps; ++m) {
      // As units touch them, one of which is the first and one the last.
      const auto first = static_cast<int32_t>(random() % static_cast<uint32_t>(units));
      const int32_t last = std::min(units - 1, first + static_cast<int32_t>(random() % 3));
      bool placed = true;
      for (const int32_t u : {first, last}) {
        auto& of = problem.units[static_cast<size_t>(u)].maps;
        const auto free = std::find(of.begin(), of.end(), -1);
        placed = placed && free != of.end();
      }
      if (!placed) continue;
      const auto number = static_cast<int32_t>(problem.maps.size());
      for (const int32_t u : {first, last}) {
        auto& of = problem.units[static_cast<size_t>(u)].maps;
        if (std::find(of.begin(), of.end(), number) == of.end())
          *std::find(of.begin(), of.end(), -1) = number;
      }
      problem.maps.push_back({20 + static_cast<int64_t>(random() % 100), first, last});
    }
    for (MapPlacementProblem::Unit& unit : problem.units)
      for (double& cycles : unit.cycles) cycles = 10 + random() % 90;
    const std::vector<bool> found = place_maps(problem);
    double least = 1e9;
    for (uint32_t way = 0; way < uint32_t{1} << problem.maps.size(); ++way) {
      std::vector<bool> fast;
      for (size_t m = 0; m < problem.maps.size(); ++m) fast.push_back((way >> m & 1) != 0);
      bool fits = false;
      const double cycles = cost_of(problem, fast, fits);
      if (fits) least = std::min(least, cycles);
    }
    bool fits = false;
    EXPECT_EQ(cost_of(problem, found, fits), least);
    EXPECT_TRUE(fits);
  }
}

// 4096 sets of maps, of which half are kept. 2048 of them are better than the empty one, which is the only one that
// leaves room for the map after them.
TEST(MapPlacement, NothingFastStaysPossible) {
  MapPlacementProblem problem;
  problem.limit = 12;
  for (int i = 0; i < 12; ++i) problem.maps.push_back({1, 0, 1});
  problem.maps.push_back({problem.limit, 1, 1});
  MapPlacementProblem::Unit first, second;
  first.maps = {0, -1, -1};
  first.cycles = {1, 0, 1, 0, 1, 0, 1, 0};
  second.maps = {12, -1, -1};
  second.cycles = {100, 0, 100, 0, 100, 0, 100, 0};
  problem.units = {first, second};
  std::vector<bool> expected(13, false);
  expected[12] = true;
  EXPECT_EQ(place_maps(problem), expected);
}

// A shift of more than 31 rounds twice: half up, then half away from zero.

}  // namespace
}  // namespace intarsia::npu
