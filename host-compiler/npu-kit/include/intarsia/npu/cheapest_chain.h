// One choice for each of many operations in a row where what a choice costs depends on the one before it, as the blocks
// of operations that overlap do.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace intarsia::npu {

// For each link of the chain one of its options (`costs`: by link and option; no link is without), such that the sum of
// the options' costs and of what neighbours cost is the least. `first` is what an option costs more at the beginning,
// `between` what it costs more behind an option of the link before; both may be negative. Of equals the first option.
// Asks `between` once for every pair of neighbours.
std::vector<size_t> cheapest_chain(
    const std::vector<std::vector<double>>& costs,
    const std::function<double(size_t option)>& first,
    const std::function<double(size_t link, size_t before, size_t option)>& between);

}  // namespace intarsia::npu
