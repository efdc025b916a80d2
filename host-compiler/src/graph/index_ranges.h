// Which values of a function are places along an axis of another: whoever makes values up for it has to stay within that axis.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

// Both ends included.
struct IndexRange {
  int64_t low = 0, high = 0;
  bool operator==(const IndexRange&) const = default;
};

// By tensor of the module's function: what its elements have to be for every use as a place to lie within its axis. Handed on
// through operators that move, cast and choose elements, through sums and products with constants, and into functions that
// are called. Of several uses, what suits all; a use that no value suits beside those behind it (a negative place, wrapped
// by a `select` that was looked at before) is left out. Nothing for all other tensors.
std::vector<std::optional<IndexRange>> index_ranges(const Module& module, const Function& function);

}  // namespace intarsia::graph
