// Which units of work may begin while the one before them still puts out its last blocks.
#pragma once

#include "hardware/hardware.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

struct Unit;

// Whether BLOCKDEP between two units that follow each other is 0: an estimate, as storages have no addresses yet. Only
// what lies in the same storage can meet.
bool unit_waits_for_last(const Hardware& hardware, const Operation& before_operation,
                         const Unit& before, const BlockConfig& before_block,
                         const Operation& operation, const Unit& unit, const BlockConfig& block);

}  // namespace intarsia::targets::ethos_u
