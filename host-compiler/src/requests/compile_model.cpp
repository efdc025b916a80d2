#include "requests/compile_model.h"

#include <set>

#include <fmt/format.h>

#include "intarsia/import.h"
#include "passes/quantised_edges.h"
#include "support/watched.h"
#include "target_kind/owners.h"

namespace intarsia::requests {

Result<graph::Module> import_as_asked(const Environment& environment, const ModelOptions& options,
                                      std::span<const uint8_t> bytes, const NoteSink& on_note,
                                      const ProgressListener& on_progress) {
  INTARSIA_TRY_VOID(watched::begins("import"));
  Diagnostics notes;
  Result<graph::Module> module = import_model(
      bytes,
      {options.model, &notes, options.name, environment.registry.foreign_formats(), on_progress});
  if (module.ok() && options.io == "int8") {
    passes::QuantisedEdges edges = passes::quantised_edges(*module);
    notes.append(edges.kept);
    module = std::move(edges.module);
  }
  if (on_note)
    for (const Diagnostic& note : notes.items()) on_note(note.to_string());
  return module;
}

Result<CompiledModel> compile_bytes(const Environment& environment, const Selection& selection,
                                    const ModelOptions& options, std::span<const uint8_t> bytes,
                                    Stage last, const NoteSink& on_note) {
  INTARSIA_TRY(graph::Module module, import_as_asked(environment, options, bytes, on_note,
                                                     selection.options.on_progress));
  return compile_on(environment, selection, imported_model(std::move(module), bytes), last);
}

Result<CompiledModel> compile_on(const Environment& environment, const Selection& selection,
                                 CompiledModel model, Stage last) {
  CompileOptions options = selection.options;
  options.package = options_for(selection.board, selection.core, environment.resource_root).package;
  return run_pipeline(std::move(model), environment.registry, selection.target, options, last);
}

void note_idle_devices(const Environment& environment, const Selection& selection,
                       const CompiledModel& model, const NoteSink& on_note) {
  if (!on_note) return;
  const TargetSpec& target = selection.target;
  const std::vector<size_t> owners = owners_of(target, environment.registry);
  std::set<size_t> busy;
  for (const auto& row : model.partitioned.explanation.operators)
    for (size_t m = 0; m < owners.size(); ++m)
      if (target.devices()[m].name == row.device) busy.insert({m, owners[m]});
  for (size_t m = 1; m < owners.size(); ++m)
    if (!busy.contains(m))
      on_note(
          fmt::format("{} runs nothing of {}; 'intarsia explain' says why, operator by operator",
                      target.devices()[m].name, model.partitioned.module.name));
}

}  // namespace intarsia::requests
