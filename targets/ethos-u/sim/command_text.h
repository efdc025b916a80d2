// A command in words, for findings and traces.
#pragma once

#include <string>

#include "intarsia/targets/ethos_u/command_state.h"

namespace intarsia::simulators::ethos_u {

// "OP_POOL pooling_mode=1", "SET_IFM_BASE0 0x1f40".
std::string command_text(const DecodedCommand& command);
std::string hex(uint64_t value);

}  // namespace intarsia::simulators::ethos_u
