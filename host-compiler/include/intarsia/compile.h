// The compiler from front to back: run_pipeline() calls its stages in a row and stops behind any of them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "intarsia/compiled_model.h"
#include "intarsia/import.h"
#include "intarsia/partition.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/progress.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// "import", "eliminate", ...; nothing for another name.
std::optional<Stage> stage_named(std::string_view name);

// Of what type the values are that the application hands over and gets back.
enum class ModelIo : uint8_t {
  AsInFile,
  // Where the model's own first and last operators only convert between floats (or unsigned bytes) and signed bytes, they
  // are dropped: the application converts, or has bytes already. What stays is said in CompiledModel::notes.
  Int8,
};

// What all stages are asked for; each takes its own part.
struct CompileOptions {
  ModelIo io = ModelIo::AsInFile;
  PartitionOptions partition;
  LoweringOptions lowering;  // `memory` is filled in from the one below, and what follows from it
  PlanOptions plan;
  // A model that the memories below are too small for is computed by row tiles, if it fits then: as lowering.ram_budget
  // does for their bytes, where it is needed.
  bool fits_by_row_tiles = false;
  // The board's, by board::memory_map(); `masters` is filled in from the target.
  MemoryMap memory = unlimited_memory();
  // Linker sections, by what goes there: "weights", "streams" (command streams of devices), a memory's name, or a single
  // constant of the model as <model>_data.h calls it, without the model's name.
  std::map<std::string, std::string> sections;
  WeightsFile weights_file = WeightsFile::Auto;
  PackageOptions package;
  // Told of all stages. Listeners of the options above may be left empty: they become this one.
  ProgressListener on_progress = {};
};

// A model file; `options` has the name for messages.
struct ModelFile {
  std::span<const uint8_t> bytes;
  ImportOptions options;
};

// Runs the stages behind model.reached, up to and with `last`. A model that is stopped between goes on from there in
// another call, also with other options for the stages to come. Reports every problem of the stage that fails.
Result<CompiledModel> run_pipeline(CompiledModel model, const TargetRegistry& registry,
                                   const TargetSpec& target, const CompileOptions& options,
                                   Stage last);
Result<CompiledModel> run_pipeline(const ModelFile& file, const TargetRegistry& registry,
                                   const TargetSpec& target, const CompileOptions& options,
                                   Stage last);

// A module that is imported or built already, to begin with; `file` are the bytes that it was imported from, if any.
CompiledModel imported_model(graph::Module module, std::span<const uint8_t> file = {});

// C sources and command streams of a model file: run_pipeline() up to Stage::Emit.
Result<CompiledModel> compile(std::span<const uint8_t> bytes, const std::string& file,
                              const TargetRegistry& registry, const TargetSpec& target,
                              const CompileOptions& options);
// The same of a module that is imported or built already.
Result<CompiledModel> compile_module(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options);

// What is partitioned: the imported module, reduced unless the user says no. Operators that pins name remain.
Result<ReducedModule> reduced_as_asked(const graph::Module& module, const CompileOptions& options);

// The memories the plan is made for: the board's, by which name each device reaches them, and where the
// board leaves it open those that the devices bring.
// The target on a board with these memories: what that decides of its devices is derived.
Result<TargetSpec> on_board(TargetSpec target, const TargetRegistry& registry,
                            const MemoryMap& board);

// For LoweringOptions::cycles_of_constants, where the board has several memories for constants: by the sizes of the memories,
// and how often the CPU reads each constant. Of a module that is not partitioned, as if the CPU ran all of it.
std::map<std::string, int32_t> expected_cycles_of_constants(const graph::Module& module,
                                                            const MemoryMap& memory);

MemoryMap planning_memory(const MemoryMap& board, const TargetRegistry& registry,
                          const TargetSpec& target);

}  // namespace intarsia
