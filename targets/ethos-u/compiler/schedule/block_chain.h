// Blocks of units that follow each other, chosen together: what a unit waits for, and what it hides of the
// one before it, depends on the blocks of both.
#pragma once

#include <vector>

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// The draft's units with the blocks that take the least time one behind the other. `fetched`: by unit, whether
// its constants are in fast memory. Stripes keep their blocks: they share constants.
std::vector<Unit> with_chained_blocks(ScheduleDraft& draft, const std::vector<bool>& fetched);

}  // namespace intarsia::targets::ethos_u
