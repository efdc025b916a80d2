// The registers of a step of the schedule, all but addresses, waits and block dependencies.
#pragma once

#include <vector>

#include "commands/intrinsics.h"
#include "hardware/hardware.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

struct Encoded {
  std::vector<RegisterValue> registers;
  uint32_t operation = 0, parameter = 0;
};

Encoded encode_operation(const Hardware& hardware, const Operation& operation, const Step& step);
Encoded encode_transfer(const Step& step);

}  // namespace intarsia::targets::ethos_u
