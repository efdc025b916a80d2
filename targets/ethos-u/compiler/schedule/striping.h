// Runs operations in turns, a stripe of rows of each, so that the maps between them need few rows at a time.
#pragma once

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// While feature maps need more than `wanted` bytes at once, the operations around the peak run in turns.
// Without a limit on SRAM no cascade may make all operations much slower.
void stripe_operations(ScheduleDraft& draft, int64_t wanted);

}  // namespace intarsia::targets::ethos_u
