// A KernelProgram on an emulated core: built as one image, in which an input says which operator runs.
#pragma once

#include <string>
#include <vector>

#include "intarsia/board.h"
#include "kernel_program.h"

namespace intarsia::test::cortex_m {

struct CoreRun {
  std::vector<std::vector<uint8_t>> outputs;  // one per operator
  // Empty, or which memory beside its output and scratch an operator changed.
  std::vector<std::string> damage;
  std::vector<uint64_t>
      instructions;  // of each operator's function; empty unless they were asked for
};

struct CoreRequest {
  std::string board, core;
  std::string optimise = "-Os";
  bool count = false;
};

// False, with the reason, where a cross compiler or an emulator is missing.
bool can_run_cores(std::string& reason);

// Inputs of operator i: inputs[i]. Fails with what the tools said.
Result<CoreRun> run_on_core(const CoreRequest& request, const KernelProgram& kernels,
                            const std::vector<std::vector<graph::TensorValue>>& inputs);

}  // namespace intarsia::test::cortex_m
