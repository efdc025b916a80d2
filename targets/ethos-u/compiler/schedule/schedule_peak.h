// What a schedule takes once its storages have addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

// Bytes that the planner needs for the storages that are to be placed: those alive at the same steps, and
// the gaps that no order of them closes. Inputs are there before the first step, outputs after the last.
int64_t placed_peak(const Schedule& schedule, const std::vector<bool>& is_placed);

// The same as the planner finds it at once, without a search: where the last byte ends that is in use, by step.
std::vector<int64_t> placed_ends(const Schedule& schedule, const std::vector<bool>& is_placed);

}  // namespace intarsia::targets::ethos_u
