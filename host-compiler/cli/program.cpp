#include "program.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/import.h"
#include "multicore/multicore.h"
#include "packaging/cycles_json.h"
#include "packaging/report_text.h"
#include "packaging/rows_on_lines.h"
#include "packaging/tensor_json.h"
#include "support/files.h"
#include "target_kind/owners.h"

namespace intarsia::cli {
void report_idle_devices(const Context& context, const Selection& selection,
                         const CompiledModel& model) {
  const TargetSpec& target = selection.target;
  const std::vector<size_t> owners = owners_of(target, context.registry);
  std::set<size_t> busy;
  for (const auto& row : model.partitioned.explanation.operators)
    for (size_t m = 0; m < owners.size(); ++m)
      if (target.devices()[m].name == row.device) busy.insert({m, owners[m]});
  for (size_t m = 1; m < owners.size(); ++m)
    if (!busy.contains(m))
      fmt::print(stderr,
                 "note: {} runs nothing of {}; 'intarsia explain' says why, operator by operator\n",
                 target.devices()[m].name, model.partitioned.module.name);
}

Result<CompiledModel> compile_on(const Context& context, const Selection& selection,
                                 CompiledModel model, Stage last) {
  CompileOptions options = selection.options;
  options.package = options_for(selection.board, selection.core, context.resource_root).package;
  return run_pipeline(std::move(model), context.registry, selection.target, options, last);
}

Result<CompiledModel> compile_file(const Context& context, const Selection& selection,
                                   const CommonOptions& options, Stage last) {
  INTARSIA_TRY(graph::Module module, import_file(context, options));
  INTARSIA_TRY(const std::vector<uint8_t> file, read_file(options.model));
  return compile_on(context, selection, imported_model(std::move(module), file), last);
}

Result<CompiledModel> compile_into(const Context& context, const Selection& selection,
                                   const graph::Module& module, const std::string& folder) {
  INTARSIA_TRY(CompiledModel model,
               compile_on(context, selection, imported_model(module), Stage::Package));
  INTARSIA_TRY_VOID(write_folder(folder, model.package.files));
  return model;
}

Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(options.model, error)) {
    if (options.io != "float")
      return Diagnostics(options.model, "is compiled: its inputs and outputs are what they are",
                         fmt::format("compile the model again with --io {}", options.io));
    return setting_of_folder(context, options);
  }
  INTARSIA_TRY(const Selection selection, select(context, options));
  INTARSIA_TRY(const CompiledModel model,
               compile_file(context, selection, options, Stage::Package));
  report_idle_devices(context, selection, model);
  INTARSIA_TRY_VOID(write_folder(folder, model.package.files));
  return build_setting(context, options, selection, folder, model.package.manifest);
}

namespace {

ProgramReport multicore_report(const Selection& selection, const CompiledModel& model) {
  const std::string target = to_string(selection.target);
  const MulticorePartition& multicore = model.multicore;
  const Explanation& explanation = model.partitioned.explanation;
  ProgramReport result;
  nlohmann::ordered_json json = {{"format", kReportFormat},
                                 {"model", multicore.name},
                                 {"target", target},
                                 {"board", selection.board.name},
                                 {"parts", multicore.cpus},
                                 {"mailbox_bytes", mailbox_bytes(multicore)},
                                 {"transfers", explanation.transfers},
                                 {"transfer_bytes", explanation.transfer_bytes}};
  result.text = fmt::format(
      "{} in {} parts for {}\n{} transfers between them, {} bytes; mailbox of {} bytes\n",
      multicore.name, multicore.cpus.size(), target, explanation.transfers,
      explanation.transfer_bytes, mailbox_bytes(multicore));
  if (const std::string note = search_note(explanation); !note.empty()) {
    json["search"] = note;  // where it always was
    json["partition_search"] = note;
    result.text += note + "\n";
  }
  json["inputs"] = packaging::tensors_json(model.package.manifest.inputs);
  json["outputs"] = packaging::tensors_json(model.package.manifest.outputs);
  Report cycles;
  add_cycles(explanation, cycles);
  if (!cycles.cycles.empty())
    json["estimated_cycles"] = packaging::cycles_json(cycles.device_cycles, cycles.cycles);
  result.text +=
      "\n" + packaging::edges_text(model.package.manifest.inputs, model.package.manifest.outputs) +
      packaging::cycles_text(cycles.device_cycles);
  for (const CompiledProgram& program : model.programs) {
    Report report = make_report(program, target, selection.board.name);
    add_placement(explanation, report);
    result.not_measured = "the parts are firmware of their own; measure each when it is built";
    report.not_measured = result.not_measured;
    result.operators.insert(result.operators.end(), report.operators.begin(),
                            report.operators.end());
    result.text += fmt::format("\nPart {}\n{}", program.cpu, report_text(report));
    auto row = nlohmann::ordered_json::parse(report_json(report));
    row["member"] = program.cpu;
    json["stages"].push_back(std::move(row));
  }
  result.json = packaging::rows_on_lines(json) + "\n";
  return result;
}

}  // namespace

ProgramReport report_of(const Selection& selection, const CompiledModel& model,
                        const Result<Measurements>& measured) {
  if (!model.multicore.segments.empty()) return multicore_report(selection, model);
  Report report = make_report(model, to_string(selection.target), selection.board.name);
  if (measured.ok())
    report.measured = *measured;
  else
    report.not_measured = measured.error().items().front().to_string();
  return {report_text(report), report_json(report), report.operators, report.measured,
          report.not_measured};
}

}  // namespace intarsia::cli
