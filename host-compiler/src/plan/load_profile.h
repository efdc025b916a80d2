// Bytes alive in one memory at every step. Adding a lifetime and asking for the fullest step cost the
// logarithm of the number of steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace intarsia::plan {

class LoadProfile {
 public:
  explicit LoadProfile(int32_t steps) {
    while (leaves_ < static_cast<size_t>(std::max<int32_t>(steps, 1))) leaves_ *= 2;
    most_.assign(2 * leaves_, 0);
    added_.assign(2 * leaves_, 0);
  }

  // During the steps first..last, both included.
  void add(int32_t first, int32_t last, int64_t bytes) {
    add(1, 0, leaves_, static_cast<size_t>(first), static_cast<size_t>(last) + 1, bytes);
  }
  int64_t most(int32_t first, int32_t last) const {
    return most(1, 0, leaves_, static_cast<size_t>(first), static_cast<size_t>(last) + 1);
  }
  int64_t most() const { return most_[1]; }
  // The first of the fullest steps.
  int32_t fullest_step() const {
    size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      if (most_[node] < most_[node + 1]) ++node;
    }
    return static_cast<int32_t>(node - leaves_);
  }

 private:
  // A node's most_ is that of its range, what its ancestors have added left out.
  void add(size_t node, size_t begin, size_t end, size_t first, size_t past, int64_t bytes) {
    if (past <= begin || end <= first) return;
    if (first <= begin && end <= past) {
      most_[node] += bytes;
      added_[node] += bytes;
      return;
    }
    const size_t middle = (begin + end) / 2;
    add(2 * node, begin, middle, first, past, bytes);
    add(2 * node + 1, middle, end, first, past, bytes);
    most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
  }
  int64_t most(size_t node, size_t begin, size_t end, size_t first, size_t past) const {
    if (first <= begin && end <= past) return most_[node];
    const size_t middle = (begin + end) / 2;
    if (past <= middle) return most(2 * node, begin, middle, first, past) + added_[node];
    if (first >= middle) return most(2 * node + 1, middle, end, first, past) + added_[node];
    return std::max(most(2 * node, begin, middle, first, past),
                    most(2 * node + 1, middle, end, first, past)) +
           added_[node];
  }

  size_t leaves_ = 1;
  std::vector<int64_t> most_, added_;
};

}  // namespace intarsia::plan
