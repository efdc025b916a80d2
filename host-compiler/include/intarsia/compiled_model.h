// A model in the compiler, with what every stage has made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/package.h"
#include "intarsia/partition.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// In the order they run. A model has `reached` a stage when that stage's result is in it.
enum class Stage : uint8_t { Nothing, Import, Eliminate, Partition, Lower, Plan, Emit, Package };

// ---- what the stages have made ------------------------------------------------------------------

// One thing done, for `explain`.
struct EliminationStep {
  std::string
      pass;  // "identity" | "chain" | "activation" | "constant" | "padding" | "channels" | "unread"
  std::string node;  // the operator that it was done to
  std::string what;  // "971 of 1496 output channels removed"
  std::string why;   // why no result changes
};

struct EliminationFigures {
  int64_t operators = 0;
  int64_t macs = 0;
  int64_t channels = 0;      // output channels of convolutions and fully connected layers
  int64_t weight_bytes = 0;  // their weights, without biases
};

// The module without what provably changes no result.
struct ReducedModule {
  graph::Module module;
  std::vector<EliminationStep> actions;
  EliminationFigures before, after;
};

inline constexpr int kApplication =
    -1;  // Channel::from: gives the inputs; Channel::to: takes the outputs

// A tensor that is passed from one segment to another.
struct Channel {
  std::string name;                            // a C identifier, unique in the model
  int from = kApplication, to = kApplication;  // segments
  size_t output = 0;                           // of `from`, or which of the model's inputs
  size_t input = 0;                            // of `to`, or which of the model's outputs
  int64_t bytes = 0;
  // Not empty: a variable that is passed back to a segment that reads what the inference before has left. The channel
  // begins with this message.
  std::vector<uint8_t> first_message;
};

// Regions of the model that one CPU runs one after the other.
struct Segment {
  std::string cpu;  // that runs it
  graph::Module module;
};

// A model for several CPUs; without segments where one CPU runs it.
struct MulticorePartition {
  std::string name;  // the model's
  std::vector<Segment> segments;
  std::vector<Channel> channels;
  std::vector<std::string>
      cpus;  // with segments, in the target's order; the first starts the others
};

// What a RAM budget did to a model. Bytes are the peaks of all memories together.
struct RamBudgetOutcome {
  int64_t budget = 0;
  int64_t before = 0, after = 0;   // operator by operator, and as it is now
  std::vector<std::string> tiled;  // what runs by row tiles, in words: tir::Func::origin
};

// A function of a device that was scheduled again for a plan: with a limit on the bytes that it keeps alive at once, its
// operands and results included.
struct ScheduledAgain {
  std::string function, device;
  int64_t limit = 0;              // bytes
  int64_t before = 0, after = 0;  // bytes, where it and what lives beside it take most
};

// C sources and command streams of a program.
struct EmittedModel {
  std::string name;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<SourceFile> sources;     // <model>.h, <model>.c, <model>_data.h ...
  std::vector<std::string> c_files;    // those of them a build compiles
  std::vector<CommandStream> streams;  // what the package holds, in order of function index
  std::vector<std::string> devices;    // devices with streams, in order of device index
  std::vector<std::string> placeable;  // what CompileOptions::sections may name
  std::vector<MemoryBlock>
      memories;            // what the caller gives an instance, in the order of its struct
  int64_t alignment = 0;   // of each of them
  bool has_state = false;  // <model>_reset() is there
  std::string streams_attribute = "INTARSIA_STREAMS";  // in C, of the array that holds the streams
  std::string streams_section;  // the same for the assembler, where one is asked for
  WeightsFile weights_file = WeightsFile::Auto;  // what was asked for
  std::vector<SourceFile> arrays;                // PackageContents::arrays, of the constants of C
};

// ---- the model --------------------------------------------------------------------------------

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

// A model in the compiler, with every intermediate value, so that reports, dumps and tests need not
// repeat a stage.
struct CompiledModel {
  Stage reached = Stage::Nothing;
  std::string file_sha256;  // of the model's file, in hexadecimal; empty: not from a file
  graph::Module
      imported;  // behind Stage::Eliminate with the inputs and outputs that CompileOptions::io asks for
  Diagnostics notes;  // inputs and outputs that could not have the type that was asked for, and why
  ReducedModule reduced;
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
