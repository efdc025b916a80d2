// Chooses the layout of each feature map by the cycles of all operations together.
#pragma once

#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

// All maps that can lie in bricks, and then each the other way, as long as that takes less time.
void choose_layouts(ScheduleDraft& draft);

}  // namespace intarsia::targets::ethos_u
