// The families of operations, one file each. Maps and windows have been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"
#include "intarsia/targets/ethos_u/output_stage.h"

namespace intarsia::simulators::ethos_u {

// The OFM's elements as they go to memory, [y][x][c].
using OfmValues = std::vector<int32_t>;

std::optional<Fault> execute_convolution(const Operation& operation,
                                         const Configuration& configuration, const Memory& memory,
                                         const OutputStage& output, OfmValues& ofm);
std::optional<Fault> execute_pool(const Operation& operation, const Memory& memory,
                                  const OutputStage& output, OfmValues& ofm);
std::optional<Fault> execute_elementwise(const Operation& operation, const Memory& memory,
                                         const OutputStage& output, OfmValues& ofm);

}  // namespace intarsia::simulators::ethos_u
