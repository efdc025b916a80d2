// Buffers that regions want at places of their own buffers: a tensor between two regions at its
// address in the arena of each.
#pragma once

#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::lowering {

// `buffer` is the bytes of `target` from `offset` on.
struct AliasRequest {
  tir::BufferId buffer, target;
  int64_t offset = 0;
};

// Makes every request true together with the aliases that `schedule` has: whatever is tied together
// becomes aliases of one local buffer, a new one when none of them holds all others. Refuses requests
// that contradict each other.
Result<void> fulfil_aliases(tir::Func& schedule, const std::vector<AliasRequest>& requests);

}  // namespace intarsia::lowering
