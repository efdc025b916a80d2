// Execution of single operations. Everything is bounds-checked before the first element is read.
#pragma once

#include <optional>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

std::optional<Fault> execute(const Operation& operation, const Configuration& configuration,
                             Memory& memory, uint64_t max_macs);
std::optional<Fault> execute(const DmaTransfer& transfer, Memory& memory);

}  // namespace intarsia::simulators::ethos_u
