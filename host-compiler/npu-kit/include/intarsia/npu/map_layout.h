// How feature maps lie in memory: in bricks of fixed numbers of rows, columns and channels, of which there are whole ones only. A
// target names its layouts as a table of these.
#pragma once

#include <cstdint>

#include "intarsia/plugin/rounding.h"

namespace intarsia::npu {

// Bricks that maps are padded to.
struct MapLayout {
  // Elements of a brick along each axis; 1 along all: rows of pixels of channels, without gaps.
  int64_t rows = 1, columns = 1, channels = 1;

  // Elements that a map takes, padding included. No extent is negative.
  constexpr int64_t stored_elements(int64_t height, int64_t width, int64_t depth) const {
    return round_up(height, rows) * round_up(width, columns) * round_up(depth, channels);
  }
};

inline constexpr MapLayout kLinearLayout = {1, 1, 1};

}  // namespace intarsia::npu
