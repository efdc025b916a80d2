// Which memories the NPU works in: of its own, and of the board's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/target.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::targets::ethos_u {

// The memory system that the device's attributes name.
isa::ethos_u::MemorySystem memory_system_of(const Target& device);

// What a board decides of it: the attribute -system in numbers. Nothing where the board says neither a clock of the NPU nor
// how fast a memory is that it works in, or where the attribute was written.
Result<std::optional<std::string>> system_on_board(const Target& device, const MemoryMap& memory);

// Whether its SRAM is the NPU's own, and the arena lies beside the constants.
bool is_dedicated(const Target& device);

// Whether streams are for Arm's core driver, which may put region 2 into fast memory of its own.
bool has_arms_driver(const Target& device);

inline constexpr const char* kOwnSram = "npu_sram";
// The SRAM of its own that the device has in this memory mode where no board says otherwise; none in
// the modes that share one with the host.
std::vector<MemoryPool> own_memories(const Target& device);
// The attribute -sram-limit.
std::optional<int64_t> sram_limit_of(const Target& device);
// The pool that is the fast copy's in a dedicated mode; -1 when there is none.
int32_t fast_pool(const Target& device, const MemoryMap& memory);
// The fastest other pool that the device can write; -1 when there is none.
int32_t slow_pool(const Target& device, const MemoryMap& memory);

}  // namespace intarsia::targets::ethos_u
