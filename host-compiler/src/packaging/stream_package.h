// The command streams of a program as the file that the runtime opens.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/compiled_model.h"

namespace intarsia::packaging {

// With what binds it to the program's C. The program has streams.
std::vector<uint8_t> stream_package(const CompiledProgram& program);

}  // namespace intarsia::packaging
