// What a section of a weight stream takes at least, however it is cut into slices. Most ways to code a section are worse than
// the best even so: finding their slices takes ten times as long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weights/weight_columns.h"

namespace intarsia::targets::ethos_u {

// Bits of the values, without headers but those of changes.
struct SliceBound {
  int64_t one = 0;      // where one code is used for all
  int64_t several = 0;  // with one change of the code or more
};

// `rows`: bits of each index, of which there is one at least, by code (bits_by_index). `change`: what a change takes at least.
SliceBound slice_bound(std::span<const uint16_t> indices, const std::vector<Columns>& rows,
                       int64_t change);

}  // namespace intarsia::targets::ethos_u
