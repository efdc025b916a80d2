// Elements of dense integers.
#pragma once

#include <cstdint>
#include <span>

#include "intarsia/graph.h"

namespace intarsia::graph {

// Sign or zero extended.
int64_t integer_at(DataType type, std::span<const uint8_t> value, int64_t index);

}  // namespace intarsia::graph
