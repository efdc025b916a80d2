// A KernelProgram on an emulated core: built as one image, in which an input says which operator runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/board.h"
#include "kernel_program.h"

namespace intarsia::test::cortex_m {

// States of the operator, which are parameters of its kernel behind the inputs. They begin as zero.
std::vector<graph::TensorValue> first_states(const graph::Module& module);

struct CoreRun {
  std::vector<std::vector<uint8_t>> outputs;  // one per operator
  // Empty, or which memory beside its output and scratch an operator changed.
  std::vector<std::string> damage;
  std::vector<uint64_t>
      instructions;            // of each operator's function; empty unless they were asked for
  std::vector<double> cycles;  // nominal, of the same; empty unless they were asked for
};

// How the kernels and operators are compiled; what runs them is compiled as the board says.
struct Setting {
  std::string compiler = "arm-none-eabi-gcc";  // or "clang"
  std::vector<std::string> core;               // "-mcpu=cortex-m33+nodsp" ...
  std::vector<std::string> flags;              // "-O2", "-fno-omit-frame-pointer" ...
  bool whole_program = false;                  // optimised at link time
};
// Objects of the kernels and of the C file `source` (may be empty), or one object of everything; without a warning.
Result<std::vector<std::string>> compile_kernels(const Setting& setting, const std::string& source,
                                                 const std::string& folder);

struct CoreRequest {
  std::string board, core;
  std::string optimise = "-Os";
  bool count = false;
  bool count_cycles = false;
  bool waits = true;  // of the board's memories; without them, every access takes a cycle
  std::optional<Setting> setting = {};  // instead of the board's core and `optimise`
};

// False, with the reason, where a cross compiler or an emulator is missing.
bool can_run_cores(std::string& reason, bool riscv = false);

// Inputs of operator i: inputs[i]. Fails with what the tools said.
Result<CoreRun> run_on_core(const CoreRequest& request, const KernelProgram& kernels,
                            const std::vector<std::vector<graph::TensorValue>>& inputs);

// The C text of run_on_core's program for the same operators and inputs.
std::string core_source(const KernelProgram& kernels,
                        const std::vector<std::vector<graph::TensorValue>>& inputs);

}  // namespace intarsia::test::cortex_m
