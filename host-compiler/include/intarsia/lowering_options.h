// What the user and the board ask of the lowering: the trade between memory, code size and time that
// a target's graph_to_tir makes. A target uses what it understands; the planner enforces the memories.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "intarsia/plugin/progress.h"

namespace intarsia {

struct MemoryMap;

// What functions are lowered for.
struct LoweringOptions {
  // Balanced: each target what its users expect unasked; small code from a CPU, speed from an NPU.
  enum class Optimise : uint8_t { Balanced, Size, Speed };
  Optimise optimise = Optimise::Balanced;
  // Bytes of activations and scratch, and of code with its constants, that the whole model should
  // stay within. Requests: a target gives up speed to meet them.
  std::optional<int64_t> ram_budget, flash_budget;
  // Bytes of RAM that a function of the partitioned module should keep alive at once, its operands and results included,
  // by its name: what a plan had room for. A hint: a target that schedules whole functions comes as near as it can.
  std::map<std::string, int64_t> function_limits = {};
  bool eliminate_dead_channels =
      true;  // remove what provably does not change the results (channels of zeros ...)
  // The memories the plan will be made for, masters included. Null: not known (tests of a hook).
  const MemoryMap* memory = nullptr;
  // What an access to an operator's constants is expected to cost, by Node::name, in cycles_per_access of the memory that
  // they will be in; of an operator that is not here, see constant_cycles.
  std::map<std::string, int32_t> cycles_of_constants = {};
  ProgressListener on_progress = {};
  // Of a cost that is only compared with others of its kind, as shares of a sum: an estimate that takes little time is enough.
  bool rough_cost = false;
};

// cycles_per_access of the memory that the operator's constants are expected in: where nothing is known of it, the fastest
// that holds constants. Empty where no memory is said to hold them.
std::optional<int32_t> constant_cycles(const LoweringOptions& options, const std::string& node);

}  // namespace intarsia
