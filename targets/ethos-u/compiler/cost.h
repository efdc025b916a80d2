// Cycles of operations and transfers by the timing of isa/timing.h.
#pragma once

#include <cstdint>

#include "ethos_u/timing.h"
#include "hardware.h"
#include "schedule.h"

namespace intarsia::targets::ethos_u {

// Which of the memory system's roles a piece of memory plays.
enum class Memory : uint8_t { Constants, Arena, Cache };

class CostModel {
 public:
  CostModel(const Hardware& hardware, const isa::ethos_u::MemorySystem& system);

  struct Places {
    Memory ifm = Memory::Arena, ifm2 = Memory::Arena, ofm = Memory::Arena;
    Memory weights = Memory::Constants;
  };
  // `step` has maps and block; weights count with `weight_bytes`.
  double cycles(const Operation& operation, const Step& step, const Places& places,
                int64_t weight_bytes, int64_t scale_bytes) const;
  double transfer_cycles(Memory from, Memory to, int64_t bytes) const;

  const isa::ethos_u::MemorySystem& system() const { return system_; }
  const isa::ethos_u::MemoryTiming& memory(Memory which) const;

 private:
  const isa::ethos_u::NpuTiming& npu_;
  isa::ethos_u::MemorySystem system_;
};

}  // namespace intarsia::targets::ethos_u
