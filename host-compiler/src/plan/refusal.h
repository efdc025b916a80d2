// Why there is no plan, in words.
#pragma once

#include "plan/pool_choice.h"

namespace intarsia::plan {

// A buffer that is larger than every memory its users reach. `reached` are those memories.
Diagnostics too_large(const tir::Module& module, const MemoryMap& memory, const Group& group,
                      const std::vector<int>& reached);

// No assignment of groups to memories was found. `steps` may still be spent on saying how near one comes.
Diagnostics does_not_fit(const tir::Module& module, const PoolTask& task, const PoolChoice& choice,
                         int64_t steps);

// Weights and tables, of which the pools `pools` have room for `capacities` bytes.
Diagnostics constants_too_large(const tir::Module& module, const Plan& plan,
                                const std::vector<int32_t>& pools,
                                const std::vector<int64_t>& capacities);

}  // namespace intarsia::plan
