// Which units of work may begin while the one before them still puts out its last blocks.
#pragma once

#include "hardware/hardware.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

struct Unit;

// BLOCKDEP between two units that follow each other: an estimate, as storages have no addresses yet. Only
// what lies in the same storage can meet.
int32_t unit_dependency(const Hardware& hardware, const Operation& before_operation,
                        const Unit& before, const BlockConfig& before_block,
                        const Operation& operation, const Unit& unit, const BlockConfig& block);

}  // namespace intarsia::targets::ethos_u
