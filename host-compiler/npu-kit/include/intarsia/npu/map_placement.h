// Which feature maps lie in the fast memory that is the NPU's own, and which in the slower one behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace intarsia::npu {

inline constexpr size_t kMapsOfUnit = 3;  // both inputs and the output, where they differ

// Units of work in order, and the maps that they touch.
struct MapPlacementProblem {
  struct Map {
    int64_t bytes = 0;
    int32_t first = 0, last = 0;  // units that touch it, and all between them
  };
  struct Unit {
    std::array<int32_t, kMapsOfUnit> maps = {-1, -1, -1};
    std::array<double, 1 << kMapsOfUnit> cycles =
        {};  // by which of its maps are fast: bit i for maps[i]
  };
  std::vector<Map> maps;
  std::vector<Unit> units;
  int64_t limit = 0;  // bytes of fast maps at any time
};

// Per map whether it is fast, so that all units together take the least time. Exact while fewer than a
// few thousand combinations of living maps are worth keeping.
std::vector<bool> place_maps(const MapPlacementProblem& problem);

}  // namespace intarsia::npu
