// Which operators are worth smaller bands.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Operators that go through 32 bits a band at a time take as much memory beside their operands as the result does, or whole rows
// of a softmax: large bands take less time. Where nothing else of the program takes as much at once, smaller ones are worth it.
struct Fullest {
  int64_t bytes = 0;             // what tensors take at once at most
  std::set<std::string> banded;  // the nodes of `Program::banded` that take more than all others do
};
Fullest fullest_of(const Program& program);

}  // namespace intarsia::targets::ethos_u
