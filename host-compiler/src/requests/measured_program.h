// A model file compiled, built for its board and measured: what `compile` writes and `check` looks at.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "requests/compile_model.h"
#include "requests/program_report.h"

namespace intarsia::requests {

struct MeasuredRequest {
  ModelOptions options;
  std::span<const uint8_t> bytes;  // of the model's file
  // Code and stack, with the board's compiler. Without it a flash budget is refused.
  bool measures = true;
  bool counts_cycles = false;  // of one inference, in the board's emulator
  NoteSink on_note = {};
  ProgressListener on_progress = {};
};

struct MeasuredProgram {
  Selection selection;  // as it was compiled with
  CompiledModel model;  // with its package
  ProgramReport report;
};

// With a flash budget: the first choice of `optimise`, from the asked one to smaller code, that keeps to it.
Result<MeasuredProgram> compile_and_measure(Environment& environment,
                                            const MeasuredRequest& request);

}  // namespace intarsia::requests
