// Models through our own compiler, and their streams on the simulator with the checker on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/compile.h"

namespace intarsia::test::ethos_u {

struct CompileRequest {
  std::string target = "ethos-u55-128";
  std::string memory_mode;  // empty: the configuration's default
  LoweringOptions::Optimise optimise = LoweringOptions::Optimise::Speed;
  std::optional<int64_t> sram_limit;
  bool confirmed_only = false;
  bool keep_dead_channels = false;
  bool rounds_sums = false;             // -sums=npu
  std::string system = {};              // empty: the product's first
  std::vector<MemoryPool> pools = {};   // empty: those of a board in that mode
  std::optional<MemoryMap> board = {};  // instead of `pools`
};

// The memories of a board in that mode: one pool, or DRAM and the NPU's SRAM.
MemoryMap memories(const CompileRequest& request);
Result<CompiledModel> compile_for(const std::vector<uint8_t>& model, const CompileRequest& request);

// Bytes of the fast memory that activations and buffers take.
int64_t sram_bytes(const CompiledModel& model);

struct SimulatedRun {
  std::string problem;  // fault, or the checker's findings; empty: none
  std::vector<std::vector<uint8_t>> outputs;
};
// The model runs on the NPU alone. Inputs of several inferences lie behind each other; the outputs are the last one's.
SimulatedRun simulate(const CompiledModel& model, const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace intarsia::test::ethos_u
