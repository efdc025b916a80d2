// Estimated cycles of one inference as firmware, by operator, beside its instructions, which are exact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace intarsia {

// An estimate between two others, for what the documents of a core do not say and for what the emulator does not show
// (docs/cycles.md).
struct CycleEstimate {
  double optimistic = 0, nominal = 0, pessimistic = 0;
};
// Of one run, from the call of the model's run function to its return.
struct RunCycles {
  struct Operator {
    std::string name;  // empty: what the run function does beside its operators
    uint64_t instructions = 0;
    CycleEstimate cycles;
  };
  uint64_t instructions = 0;
  CycleEstimate cycles;
  std::vector<Operator> operators;  // in their order; together they are the run
};

}  // namespace intarsia
