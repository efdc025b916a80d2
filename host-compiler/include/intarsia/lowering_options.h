// What the user and the board ask of the lowering: the trade between memory, code size and time that
// a target's graph_to_tir makes. A target uses what it understands; the planner enforces the memories.
#pragma once

#include <cstdint>
#include <optional>

namespace intarsia {

struct MemoryMap;

struct LoweringOptions {
  // Balanced: each target what its users expect unasked; small code from a CPU, speed from an NPU.
  enum class Optimise : uint8_t { Balanced, Size, Speed };
  Optimise optimise = Optimise::Balanced;
  // Bytes of activations and scratch, and of code with its constants, that the whole model should
  // stay within. Wishes: a target gives up speed to meet them.
  std::optional<int64_t> ram_budget, flash_budget;
  bool slim = true;  // remove what provably does not change the results (channels of zeros ...)
  // The memories the plan will be made for, masters included. Null: not known (tests of a hook).
  const MemoryMap* memory = nullptr;
};

}  // namespace intarsia
