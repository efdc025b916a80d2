#include "intarsia/npu/fast_memory_sizes.h"

#include <algorithm>

namespace intarsia::npu {

std::vector<int64_t> fast_memory_sizes(std::span<const int64_t> live,
                                       std::span<const int64_t> constants, size_t most) {
  const int64_t least = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  std::vector<int64_t> larger;
  int64_t next = 0;
  for (size_t i = live.size(); i-- > 0;) {
    for (const int64_t size : {live[i] + constants[i], live[i] + constants[i] + next})
      if (size > least) larger.push_back(size);
    if (constants[i] > 0) next = constants[i];
  }
  std::sort(larger.begin(), larger.end());
  larger.erase(std::unique(larger.begin(), larger.end()), larger.end());
  std::vector<int64_t> sizes = {least};
  const size_t count = std::min(larger.size(), most - 1);
  for (size_t k = 1; k <= count; ++k) sizes.push_back(larger[larger.size() * k / count - 1]);
  return sizes;
}

}  // namespace intarsia::npu
