// A model compiled and executed inside this process, without a C compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "intarsia/build.h"
#include "intarsia/compile.h"
#include "intarsia/engine.h"

namespace intarsia::cli {

// The inputs of the command, each `repeat` slices, or one for all; kAnySlices: any number.
Result<std::vector<std::vector<uint8_t>>> read_run_inputs(const RunCommand& command,
                                                          const std::string& model,
                                                          const std::vector<TensorInfo>& inputs);

// As many samples as the files of these names hold: of each input the same number, or one for all.
Result<size_t> sample_count(const std::vector<std::string>& names,
                            const std::vector<TensorInfo>& tensors,
                            const std::vector<std::vector<uint8_t>>& inputs);

// A model that has reached Stage::Emit, with an engine for it. Nothing when only a program built from C can execute it:
// `reason` says why.
Result<std::optional<Engine>> make_engine(const Context& context, const CompiledModel& model,
                                          const EngineOptions& options, std::string& reason);

struct ProcessRun {
  ExecuteResult result;
  std::string trace;   // Chrome's format, when asked for; empty: no device is simulated
  size_t samples = 0;  // of --batch
};
// With the inputs' bytes as read_run_inputs gives them. In a batch each thread makes an engine of its own; this one knows
// the tensors.
Result<ProcessRun> run_engine(const Context& context, const RunCommand& command,
                              const CompiledModel& model, Engine engine,
                              const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace intarsia::cli
