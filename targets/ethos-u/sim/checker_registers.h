// What the registers of one operation or transfer say against each other and against the device's
// limits; memory and neighbours play no part.
#pragma once

#include <functional>
#include <string>

#include "intarsia/targets/ethos_u/finding.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

using Report = std::function<void(FindingKind, std::string)>;

void check_registers(const Operation& operation, const Configuration& configuration,
                     const Report& report);
void check_registers(const DmaTransfer& transfer, const Configuration& configuration,
                     const Report& report);

}  // namespace intarsia::simulators::ethos_u
