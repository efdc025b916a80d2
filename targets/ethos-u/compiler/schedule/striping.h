// Runs operations in turns, a stripe of rows of each, so that the maps between them need few rows at a time.
#pragma once

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// What is wanted of cascades, and what they may take.
struct StripingGoal {
  int64_t wanted =
      0;  // bytes: while feature maps need more at once, operations around the peak run in turns
  double most_time_ratio = 1;  // of what all operations take without
  double time_weight = 1;      // a percent of memory is worth 1 / time_weight percent of time
  bool keeps_constants =
      false;  // what runs in turns has its constants in fast memory, beside the maps
};

// Returns the most bytes that feature maps need at once then, with the constants that the goal counts.
int64_t stripe_operations(ScheduleDraft& draft, const StripingGoal& goal);

// No cascade makes the maps of a draft without any need less than this, with the constants that have to be there
// for each turn.
int64_t least_striped_bytes(const ScheduleDraft& draft);

}  // namespace intarsia::targets::ethos_u
