// Executes NPU programs as they are meant, naively, from program.h and the published arithmetic of
// the NPU; shares nothing with the compiler's scaling or with the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"

namespace intarsia::test::ethos_u {

using targets::ethos_u::Program;

// What in the program no hardware could do: an operand outside of its tensor, extents that
// contradict the window, a stride or kernel beyond the registers. Empty: nothing.
std::vector<std::string> violations(const Program& program);

// Outputs for one value per input, dense and little-endian. The program has no violations. Reading
// a byte that nothing wrote is reported in `violations_seen`.
std::vector<std::vector<uint8_t>> execute(const Program& program,
                                          const std::vector<std::vector<uint8_t>>& inputs,
                                          std::vector<std::string>* violations_seen);

}  // namespace intarsia::test::ethos_u
