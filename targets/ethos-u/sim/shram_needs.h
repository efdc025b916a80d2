// How much of SHRAM an operation needs, by its block configuration.
#pragma once

#include <cstdint>

#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

struct ShramNeeds {  // banks
  int32_t ifm = 0;   // both halves of the input buffer
  int32_t ifm2 = 0;  // of the second operand
  int32_t accumulators = 0;
  int32_t end = 0;  // first bank that blocks may not use
};

Block ifm_block_of(const Operation& operation, const Configuration& configuration);
ShramNeeds shram_needs(const Operation& operation, const Configuration& configuration);
// Bytes of SHRAM that the operation's buffers overwrite, from 0 on; the tables may lie above.
uint64_t shram_used(const Operation& operation, const Configuration& configuration);

}  // namespace intarsia::simulators::ethos_u
