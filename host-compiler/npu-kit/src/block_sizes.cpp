#include "intarsia/npu/block_sizes.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::npu {

std::vector<int64_t> piece_sizes(int64_t extent, int64_t unit, std::optional<int64_t> most) {
  std::vector<int64_t> sizes;
  int64_t limit = round_up(extent, unit);
  if (most) limit = std::min(limit, std::max(*most / unit, int64_t{1}) * unit);
  for (int64_t pieces = 1; pieces <= extent; ++pieces) {
    const int64_t size = std::min(round_up(ceil_div(extent, pieces), unit), limit);
    if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    if (size == unit) break;
  }
  return sizes;
}

}  // namespace intarsia::npu
