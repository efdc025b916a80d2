// Where buffers are, for those who ask for every one of them: Plan::find looks through all placements.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plan.h"

namespace intarsia::plan {

class PlacementIndex {
 public:
  explicit PlacementIndex(const Plan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.placements.size(); ++i) {
      const size_t buffer = plan.placements[i].buffer.at();
      if (buffer >= places_.size()) places_.resize(buffer + 1, kNone);
      if (places_[buffer] == kNone) places_[buffer] = i;
    }
  }

  // As Plan::find. The plan must outlive the index.
  const Placement* find(tir::BufferId buffer) const {
    const bool known =
        buffer.valid() && buffer.at() < places_.size() && places_[buffer.at()] != kNone;
    return known ? &plan_.placements[places_[buffer.at()]] : nullptr;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  const Plan& plan_;
  std::vector<size_t> places_;  // by buffer: an index into the plan's placements
};

}  // namespace intarsia::plan
