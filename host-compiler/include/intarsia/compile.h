// compile(): all stages in a row. The stages between can be had one by one from their own headers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "intarsia/emit.h"
#include "intarsia/graph.h"
#include "intarsia/partition.h"
#include "intarsia/plan.h"
#include "intarsia/ram_budget.h"
#include "intarsia/slim.h"
#include "intarsia/target_kind.h"
#include "intarsia/tir.h"

namespace intarsia {

struct CompileOptions {
  PartitionOptions partition;
  LoweringOptions lowering;  // `memory` is filled in from the one below
  PlanOptions plan;
  // The board's, by board::memory_map(); `masters` is filled in from the target.
  MemoryMap memory = unlimited_memory();
};

// The memories the plan is made for: the board's, by which name each member reaches them, and where the
// board leaves it open those that the members bring.
MemoryMap planning_memory(const MemoryMap& board, const TargetRegistry& registry,
                          const TargetSpec& target, const LoweringOptions& options);

// Every intermediate value, so that reports, dumps and tests need not repeat a stage.
struct CompiledModel {
  graph::Module imported;
  Slimmed slimmed;
  Partitioned partitioned;
  tir::Module lowered;
  Plan plan;
  std::optional<RamBudgetOutcome> ram_budget;
  EmittedModel emitted;
};

// Everything before memory and code: import, slimming and partition. `file` is for messages and names
// the model.
struct FrontEnd {
  graph::Module imported;
  Slimmed slimmed;
  Partitioned partitioned;
};
Result<FrontEnd> compile_front_end(std::span<const uint8_t> bytes, const std::string& file,
                                   const TargetRegistry& registry, const TargetSpec& target,
                                   const CompileOptions& options);
Result<FrontEnd> compile_front_end(graph::Module imported, const TargetRegistry& registry,
                                   const TargetSpec& target, const CompileOptions& options);

// Everything after them. The second takes a module that is partitioned already; `imported` and `slimmed` of
// its result are empty.
Result<CompiledModel> compile_back_end(FrontEnd front, const TargetRegistry& registry,
                                       const TargetSpec& target, const CompileOptions& options);
Result<CompiledModel> compile_partitioned(Partitioned partitioned, const TargetRegistry& registry,
                                          const TargetSpec& target, const CompileOptions& options);

// What is partitioned: the imported module, slimmed unless the user says no. Operators that pins name
// remain.
Result<Slimmed> slim_as_asked(const graph::Module& module, const CompileOptions& options);

Result<CompiledModel> compile(std::span<const uint8_t> bytes, const std::string& file,
                              const TargetRegistry& registry, const TargetSpec& target,
                              const CompileOptions& options);

// The same from a module that is already imported.
Result<CompiledModel> compile_module(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options);

}  // namespace intarsia
