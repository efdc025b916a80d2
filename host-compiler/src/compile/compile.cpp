#include "intarsia/compile.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "compile/host_machine.h"
#include "compile/ram_budget.h"
#include "compile/schedule_again.h"
#include "emission/emit.h"
#include "lowering/lower.h"
#include "multicore/multicore.h"
#include "passes/dead_channel_elimination.h"
#include "passes/quantised_edges.h"
#include "support/sha256.h"
#include "support/watched.h"
#include "target_kind/owners.h"

namespace intarsia {
namespace {

struct StageName {
  Stage stage;
  std::string_view name;
};
constexpr StageName kStageNames[] = {
    {Stage::Import, "import"},  {Stage::Eliminate, "eliminate"}, {Stage::Partition, "partition"},
    {Stage::Lower, "lower"},    {Stage::Plan, "plan"},           {Stage::Emit, "emit"},
    {Stage::Package, "package"}};

std::string_view name_of(Stage stage) {
  for (const StageName& each : kStageNames)
    if (each.stage == stage) return each.name;
  return "";
}

// One program, or one for each segment of a model that several CPUs run.
std::vector<CompiledProgram> programs_of(const CompiledModel& model, const TargetRegistry& registry,
                                         const TargetSpec& target) {
  std::vector<CompiledProgram> programs;
  for (const Segment& segment : model.multicore.segments) {
    const Target* cpu = target.device(segment.cpu);
    INTARSIA_CHECK(cpu != nullptr, "segments belong to CPUs of the target");
    const auto index = static_cast<size_t>(cpu - target.devices().data());
    programs.push_back({segment.cpu, owned_by(target, registry, index), segment.module});
  }
  if (programs.empty()) programs.push_back({target.host().name, target, model.partitioned.module});
  return programs;
}

// What is wrong with any of them is said at once: a budget has to be enough for all.
Result<void> of_each_program(CompiledModel& model,
                             const std::function<Result<void>(CompiledProgram&)>& step) {
  Diagnostics problems;
  for (CompiledProgram& program : model.programs)
    if (const Result<void> done = step(program); !done.ok()) problems.append(done.error());
  if (!problems.empty()) return problems;
  return {};
}

std::vector<std::string> placeable_objects(const CompiledModel& model) {
  std::vector<std::string> objects;
  for (const CompiledProgram& program : model.programs)
    objects.insert(objects.end(), program.emitted.placeable.begin(),
                   program.emitted.placeable.end());
  return objects;
}

// For `explain`: what each lookup, or operator in the place of several, stands for.
void note_lookups(const JoinedOperators& joined, Explanation& explanation) {
  for (Explanation::Operator& row : explanation.operators) {
    if (const auto from = joined.in_floats.find(row.name); from != joined.in_floats.end())
      for (Offer& offer : row.offers)
        if (offer.can)
          offer.note = fmt::format(
              "floats from '{}' on: no operators on integers give the same for all 65,536 values",
              from->second);
    const auto names = joined.lookups.find(row.name);
    if (names == joined.lookups.end()) continue;
    for (Offer& offer : row.offers)
      if (offer.can)
        offer.note = fmt::format("{} what {} give", row.kind == "lookup" ? "a table of" : "just",
                                 fmt::join(names->second, ", "));
  }
}

// Before a stage whose length nobody knows.
void tell(const CompileOptions& options, const char* what) {
  if (options.on_progress) options.on_progress({what});
}

// Every stage tells the one listener, unless it has its own.
LoweringOptions lowering_options(const CompileOptions& options, const MemoryMap& memory,
                                 const graph::Module& module) {
  LoweringOptions lowering = options.lowering;
  lowering.memory = &memory;
  lowering.cycles_of_constants = expected_cycles_of_constants(module, memory);
  if (!lowering.on_progress) lowering.on_progress = options.on_progress;
  return lowering;
}
PlanOptions plan_options(const CompileOptions& options) {
  PlanOptions plan = options.plan;
  if (!plan.on_progress) plan.on_progress = options.on_progress;
  return plan;
}

// Lowering and planning are one step where a RAM budget is given: what is lowered depends on what fits.
Result<void> lower_program(CompiledProgram& program, const TargetRegistry& registry,
                           const CompileOptions& options) {
  const MemoryMap memory = planning_memory(options.memory, registry, program.target);
  const LoweringOptions lowering = lowering_options(options, memory, program.module);
  if (!lowering.ram_budget) {
    INTARSIA_TRY(program.lowered, lower(program.module, registry, program.target, lowering));
    return {};
  }
  INTARSIA_TRY(PlannedModel planned, lower_within_budget(program.module, registry, program.target,
                                                         lowering, memory, plan_options(options)));
  program.lowered = std::move(planned.lowered);
  program.plan = std::move(planned.plan);
  program.ram_budget = std::move(planned.ram_budget);
  return {};
}

Result<void> plan_program(CompiledProgram& program, const TargetRegistry& registry,
                          const CompileOptions& options) {
  if (program.ram_budget) return {};  // it was planned as it was lowered
  const MemoryMap memory = planning_memory(options.memory, registry, program.target);
  return plan_or_schedule_again(program, registry,
                                lowering_options(options, memory, program.module), memory,
                                plan_options(options), options.fits_by_row_tiles);
}

// What devices take are no constants of the CPU any more: the rest may be in faster memories than was expected.
void estimate_cycles_again(CompiledModel& model, const TargetRegistry& registry,
                           const TargetSpec& target, const PartitionOptions& asked,
                           const CompileOptions& options) {
  const LoweringOptions lowering =
      lowering_options(options, *asked.lowering.memory, model.partitioned.module);
  if (!asked.cycles || lowering.cycles_of_constants == asked.lowering.cycles_of_constants) return;
  model.partitioned.explanation.cycles =
      estimated_cycles(model.partitioned.module, registry, target, lowering);
}

}  // namespace

Result<CompiledModel> run_pipeline(CompiledModel model, const TargetRegistry& registry,
                                   const TargetSpec& asked_target, const CompileOptions& options,
                                   Stage last) {
  INTARSIA_TRY(const TargetSpec target, on_board(asked_target, registry, options.memory));
  INTARSIA_CHECK(model.reached >= Stage::Import, "what the pipeline is given is imported");
  // Whether the stage is the next one; it is reached when its result is there.
  const auto enters = [&](Stage stage) {
    if (model.reached >= stage || stage > last) return false;
    model.reached = stage;
    return true;
  };
  // Whoever watches is told first.
  const auto begin = [](Stage stage) { return watched::begins(name_of(stage)); };

  if (enters(Stage::Eliminate)) {
    INTARSIA_TRY_VOID(begin(Stage::Eliminate));
    tell(options, "reducing the model");
    if (options.io == ModelIo::Int8) {
      passes::QuantisedEdges edges = passes::quantised_edges(model.imported);
      model.imported = std::move(edges.module);
      model.notes.append(edges.kept);
    }
    INTARSIA_TRY(model.reduced, reduced_as_asked(model.imported, options));
  }
  if (enters(Stage::Partition)) {
    INTARSIA_TRY_VOID(begin(Stage::Partition));
    const MemoryMap memory = planning_memory(options.memory, registry, target);
    PartitionOptions asked = options.partition;
    asked.lowering = lowering_options(options, memory, model.reduced.module);
    tell(options, "choosing devices");
    const JoinedOperators joined = join_operators(model.reduced.module, registry, target, asked);
    INTARSIA_TRY(model.partitioned, partition(joined.module, registry, target, asked));
    note_lookups(joined, model.partitioned.explanation);
    estimate_cycles_again(model, registry, target, asked, options);
    INTARSIA_TRY(model.multicore, split_by_cpu(model.partitioned.module, registry, target));
    model.programs = programs_of(model, registry, target);
  }
  if (enters(Stage::Lower)) {
    INTARSIA_TRY_VOID(begin(Stage::Lower));
    INTARSIA_TRY_VOID(of_each_program(model, [&](CompiledProgram& program) {
      return lower_program(program, registry, options);
    }));
  }
  if (enters(Stage::Plan)) {
    INTARSIA_TRY_VOID(begin(Stage::Plan));
    INTARSIA_TRY_VOID(of_each_program(
        model, [&](CompiledProgram& program) { return plan_program(program, registry, options); }));
    INTARSIA_TRY_VOID(check_parts_fit(model));
  }
  if (enters(Stage::Emit)) {
    INTARSIA_TRY_VOID(begin(Stage::Emit));
    tell(options, "writing C");
    for (CompiledProgram& program : model.programs) {
      INTARSIA_TRY(program.emitted,
                   emit(program.lowered, program.plan, program.module, registry, program.target,
                        {.compiler = "Intarsia " INTARSIA_VERSION,
                         .model_sha256 = model.file_sha256,
                         .board = options.package.board == "host" ? "" : options.package.board,
                         .sections = options.sections,
                         .weights_file = options.weights_file}));
    }
    INTARSIA_TRY_VOID(check_sections(options.sections, placeable_objects(model)));
  }
  if (enters(Stage::Package)) {
    INTARSIA_TRY_VOID(begin(Stage::Package));
    tell(options, "packaging");
    INTARSIA_TRY(model.package, make_package(model, registry, target, options.package));
  }
  return model;
}

Result<CompiledModel> run_pipeline(const ModelFile& file, const TargetRegistry& registry,
                                   const TargetSpec& target, const CompileOptions& options,
                                   Stage last) {
  ImportOptions import = file.options;
  import.foreign = registry.foreign_formats();
  INTARSIA_TRY_VOID(watched::begins(name_of(Stage::Import)));
  if (!import.on_progress) import.on_progress = options.on_progress;
  INTARSIA_TRY(graph::Module imported, import_model(file.bytes, import));
  return run_pipeline(imported_model(std::move(imported), file.bytes), registry, target, options,
                      last);
}

CompiledModel imported_model(graph::Module module, std::span<const uint8_t> file) {
  CompiledModel model;
  if (!file.empty()) model.file_sha256 = sha256(file);
  model.imported = std::move(module);
  model.reached = Stage::Import;
  return model;
}

Result<CompiledModel> compile(std::span<const uint8_t> bytes, const std::string& file,
                              const TargetRegistry& registry, const TargetSpec& target,
                              const CompileOptions& options) {
  return run_pipeline(ModelFile{bytes, {file}}, registry, target, options, Stage::Emit);
}

Result<CompiledModel> compile_module(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options) {
  return run_pipeline(imported_model(module), registry, target, options, Stage::Emit);
}

std::optional<Stage> stage_named(std::string_view name) {
  if (name == "slim") return Stage::Eliminate;  // its name before
  for (const StageName& each : kStageNames)
    if (each.name == name) return each.stage;
  return std::nullopt;
}

Result<ReducedModule> reduced_as_asked(const graph::Module& module, const CompileOptions& options) {
  if (!options.lowering.eliminate_dead_channels) return not_reduced(module);
  EliminationOptions elimination_options;
  for (const auto& [name, device] : options.partition.pins) elimination_options.keep.insert(name);
  return eliminate_dead_channels(module, elimination_options);
}

Result<TargetSpec> on_board(TargetSpec target, const TargetRegistry& registry,
                            const MemoryMap& board) {
  INTARSIA_TRY_VOID(choose_host_machine(registry, target));
  if (board.open) return target;
  const MemoryMap memory = planning_memory(board, registry, target);
  for (size_t i = 0; i < target.devices().size(); ++i) {
    const Target& device = target.devices()[i];
    const TargetKind& kind = registry.kind_of(device);
    if (!kind.on_board) continue;
    INTARSIA_TRY(auto values, kind.on_board(device, memory));
    for (auto& [name, value] : values) target.derive(i, name, std::move(value));
  }
  return target;
}

MemoryMap planning_memory(const MemoryMap& board, const TargetRegistry& registry,
                          const TargetSpec& target) {
  MemoryMap memory = board;
  for (const Target& device : target.devices()) {
    const TargetKind& kind = registry.kind_of(device);
    memory.masters[device.name] = kind.memory_master(device);
    if (!board.open) continue;
    for (MemoryPool& pool : kind.memories(device)) {
      const bool known =
          std::any_of(memory.pools.begin(), memory.pools.end(),
                      [&](const MemoryPool& other) { return other.name == pool.name; });
      if (!known) memory.pools.push_back(std::move(pool));
    }
  }
  return memory;
}

}  // namespace intarsia
