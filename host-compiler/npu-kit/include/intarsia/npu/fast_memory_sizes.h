// How much fast memory is worth trying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::npu {

// Sizes in bytes, rising, at most `most` (at least 1) of them: the first is what the feature maps need, the largest
// of `live`. More becomes possible where an operation finds room for its own constants beside what is live while
// it runs, and where it finds room for those of the next that has any as well; nothing is gained above the last
// of these sizes. Of many those are taken that lie evenly in their order, the last among them.
// Both spans go through the operations in their order; 0 bytes of constants: none.
std::vector<int64_t> fast_memory_sizes(std::span<const int64_t> live,
                                       std::span<const int64_t> constants, size_t most);

}  // namespace intarsia::npu
