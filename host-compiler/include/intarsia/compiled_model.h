// A model on its way through the compiler, with what every stage has made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/check.h"
#include "intarsia/emit.h"
#include "intarsia/graph.h"
#include "intarsia/package.h"
#include "intarsia/partition.h"
#include "intarsia/parts.h"
#include "intarsia/plan.h"
#include "intarsia/ram_budget.h"
#include "intarsia/slim.h"
#include "intarsia/target_kind.h"
#include "intarsia/tir.h"

namespace intarsia {

// In the order they run. A model has `reached` a stage when that stage's result is in it.
enum class Stage : uint8_t { Nothing, Import, Slim, Partition, Lower, Plan, Emit, Package };

// A function of a device that was scheduled again for a plan: with a limit on the bytes that it keeps alive at once, its
// operands and results included.
struct ScheduledAgain {
  std::string function, device;
  int64_t limit = 0;              // bytes
  int64_t before = 0, after = 0;  // bytes, where it and what lives beside it take most
};

// What one CPU runs, with the devices it drives.
struct CompiledProgram {
  std::string cpu;       // its name in the target
  TargetSpec target;     // the CPU and its devices
  graph::Module module;  // partitioned
  tir::Module lowered;
  Plan plan;
  std::optional<RamBudgetOutcome> ram_budget;  // when one was given
  std::vector<ScheduledAgain> scheduled_again;
  EmittedModel emitted;
};

// A model on its way through the compiler, with every intermediate value, so that reports, dumps and tests need not
// repeat a stage.
struct CompiledModel {
  Stage reached = Stage::Nothing;
  graph::Module imported;
  Slimmed slimmed;
  Partitioned partitioned;
  MulticorePartition multicore;           // no segments where one CPU runs the whole model
  std::vector<CompiledProgram> programs;  // one, or one for each of the segments
  PackageContents package;

  // Of a model that one CPU runs.
  const CompiledProgram& program() const {
    INTARSIA_CHECK(programs.size() == 1, "the model is partitioned, for one CPU");
    return programs.front();
  }
  CompiledProgram& program() {
    INTARSIA_CHECK(programs.size() == 1, "the model is partitioned, for one CPU");
    return programs.front();
  }
};

}  // namespace intarsia
