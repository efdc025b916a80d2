// Moves feature maps to the arena's memory, where that is another than the fast one.
#pragma once

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// Keeps those maps in fast memory that save most time there, `limit` bytes of them at any time at most; the
// others go to the arena's.
void spill_maps(ScheduleDraft& draft, int64_t limit);

}  // namespace intarsia::targets::ethos_u
