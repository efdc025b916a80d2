// Calls and stack of the functions in an object file that says how much stack they take, in sections .stack_sizes
// (-fstack-size-section).
#pragma once

#include <string>

#include "intarsia/result.h"

namespace intarsia::build {

// In GCC's form of call graphs (-fcallgraph-info=su), which stack_bound() reads. `bytes` is an ELF file in which each
// function has a section of its own. Refuses one that says nothing of its stack.
Result<std::string> calls_of_object(const std::string& bytes, const std::string& name);

}  // namespace intarsia::build
