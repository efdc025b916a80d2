// Runs one stream.
#pragma once

#include <array>
#include <cstdint>

#include "intarsia/targets/example_npu/decode.h"
#include "intarsia/targets/example_npu/memory.h"

namespace intarsia::simulators::example_npu {

enum class Fault : uint32_t {
#define FAULT(name, cause, sentence) name = cause,
#include "intarsia/targets/example_npu/faults.def"
#undef FAULT
};

struct Program {
  uint64_t commands = 0;
  uint32_t bytes = 0;
  std::array<uint64_t, kRegions> bases = {};
};

struct Outcome {
  Fault fault = Fault::None;
  uint32_t command = 0;  // index of the one that was executed last
  uint32_t cycles = 0;
};

Outcome execute(const Memory& memory, const Program& program);

}  // namespace intarsia::simulators::example_npu
