// An operation against the table of what the hardware admits (isa/limits.def), and waits against what can be
// outstanding.
#pragma once

#include "intarsia/targets/ethos_u/checker_registers.h"

namespace intarsia::simulators::ethos_u {

void check_limits(const Operation& operation, const Report& report);
void check_limits(const Wait& wait, const Configuration& configuration, const Report& report);

}  // namespace intarsia::simulators::ethos_u
