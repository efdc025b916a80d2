// Feature maps between memory and dense arrays [y][x][c].
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

inline int64_t element_count(const FeatureMap& map) {
  return int64_t{map.width} * map.height * map.depth;
}

// A part of a feature map that lies in one tile: rows and columns of equal distance.
struct TilePart {
  int32_t y = 0, x = 0;  // of the feature map
  int32_t rows = 0, columns = 0;
  uint64_t base = 0;
  uint64_t first = 0, end = 0;  // its lowest byte, and one past its highest
};

// The one to four parts of which the map consists.
std::vector<TilePart> tile_parts(const FeatureMap& map);

// A fault when the map has more elements than fit a simulation, or a byte of it lies outside of its
// region. `name` is for the message: "IFM".
std::optional<Fault> check_map(const FeatureMap& map, const char* name, const Memory& memory,
                               bool for_writing);

// The elements minus the zero point. Only of checked maps; Dense is int16_t, int32_t or int64_t.
template <typename Dense>
std::vector<Dense> gather(const FeatureMap& map, const Memory& memory);

// Elements as they are; they fit the type.
template <typename Dense>  // int32_t or int64_t
void scatter(const FeatureMap& map, const std::vector<Dense>& values, Memory& memory);

}  // namespace intarsia::simulators::ethos_u
