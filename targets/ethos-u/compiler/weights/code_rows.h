// What indices cost under every code, side by side.
#pragma once

#include <vector>

#include "weights/weight_columns.h"
#include "weights/weight_slice.h"

namespace intarsia::targets::ethos_u {

// Bits of the indices below `count`, 512 at most, in the order of codes_for; kImpossible where a code does not have the index,
// and in columns without a code.
std::vector<Columns> bits_by_index(const std::vector<WeightCode>& codes, size_t count);

}  // namespace intarsia::targets::ethos_u
