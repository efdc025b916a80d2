#include "intarsia/compile.h"

#include <algorithm>

#include "intarsia/import.h"

namespace intarsia {

MemoryMap planning_memory(const MemoryMap& board, const TargetRegistry& registry,
                          const TargetSpec& target, const LoweringOptions& options) {
  MemoryMap memory = board;
  for (const Target& member : target.members()) {
    const TargetKind& kind = registry.kind_of(member);
    memory.masters[member.name] = kind.memory_master(member);
    if (!board.open) continue;
    for (MemoryPool& pool : kind.memories(member, options)) {
      const bool known =
          std::any_of(memory.pools.begin(), memory.pools.end(),
                      [&](const MemoryPool& other) { return other.name == pool.name; });
      if (!known) memory.pools.push_back(std::move(pool));
    }
  }
  return memory;
}

Result<FrontEnd> compile_front_end(std::span<const uint8_t> bytes, const std::string& file,
                                   const TargetRegistry& registry, const TargetSpec& target,
                                   const CompileOptions& options) {
  INTARSIA_TRY(graph::Module imported, import_model(bytes, {file}));
  return compile_front_end(std::move(imported), registry, target, options);
}

Result<FrontEnd> compile_front_end(graph::Module imported, const TargetRegistry& registry,
                                   const TargetSpec& target, const CompileOptions& options) {
  FrontEnd result;
  result.imported = std::move(imported);
  INTARSIA_TRY(result.slimmed, slim_as_asked(result.imported, options));
  INTARSIA_TRY(result.partitioned,
               partition(result.slimmed.module, registry, target, options.partition));
  return result;
}

Result<Slimmed> slim_as_asked(const graph::Module& module, const CompileOptions& options) {
  if (!options.lowering.slim) return not_slimmed(module);
  SlimOptions slim_options;
  for (const auto& [name, member] : options.partition.pins) slim_options.keep.insert(name);
  return slim(module, slim_options);
}

Result<CompiledModel> compile_partitioned(Partitioned partitioned, const TargetRegistry& registry,
                                          const TargetSpec& target, const CompileOptions& options) {
  CompiledModel result;
  result.partitioned = std::move(partitioned);
  const MemoryMap memory = planning_memory(options.memory, registry, target, options.lowering);
  LoweringOptions lowering = options.lowering;
  lowering.memory = &memory;
  INTARSIA_TRY(PlannedModel planned, lower_and_plan(result.partitioned.module, registry, target,
                                                    lowering, memory, options.plan));
  result.lowered = std::move(planned.lowered);
  result.plan = std::move(planned.plan);
  result.ram_budget = std::move(planned.ram_budget);
  INTARSIA_TRY(result.emitted,
               emit(result.lowered, result.plan, result.partitioned.module, registry, target));
  return result;
}

Result<CompiledModel> compile_back_end(FrontEnd front, const TargetRegistry& registry,
                                       const TargetSpec& target, const CompileOptions& options) {
  INTARSIA_TRY(CompiledModel result,
               compile_partitioned(std::move(front.partitioned), registry, target, options));
  result.imported = std::move(front.imported);
  result.slimmed = std::move(front.slimmed);
  return result;
}

Result<CompiledModel> compile_module(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options) {
  INTARSIA_TRY(FrontEnd front, compile_front_end(module, registry, target, options));
  return compile_back_end(std::move(front), registry, target, options);
}

Result<CompiledModel> compile(std::span<const uint8_t> bytes, const std::string& file,
                              const TargetRegistry& registry, const TargetSpec& target,
                              const CompileOptions& options) {
  INTARSIA_TRY(FrontEnd front, compile_front_end(bytes, file, registry, target, options));
  return compile_back_end(std::move(front), registry, target, options);
}

}  // namespace intarsia
