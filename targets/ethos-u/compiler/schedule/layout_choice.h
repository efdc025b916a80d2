// Chooses the layout of each feature map by the cycles of all operations together.
#pragma once

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// All maps that can lie in bricks, and then each the other way, as long as that takes less time. With `pads_bricks` then those, too,
// whose channels do not fill the last brick, as long as they save more time than the memory is worth that they add to the peak.
// Returns the part of time and memory, as they are weighed, that these save; without `pads_bricks` what they might save at most.
double choose_layouts(ScheduleDraft& draft, bool pads_bricks = false);

}  // namespace intarsia::targets::ethos_u
