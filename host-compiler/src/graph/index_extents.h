// Which values of a function are places along an axis of another: whoever makes values up for it has to stay within that axis.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

// By tensor: every element is used as a place of 0 .. extent - 1. Of several uses the smallest extent counts, and operators
// that only move or cast elements hand theirs on. Nothing for all other tensors.
std::vector<std::optional<int64_t>> index_extents(const Function& function);

}  // namespace intarsia::graph
