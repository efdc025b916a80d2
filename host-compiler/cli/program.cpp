#include "program.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/import.h"
#include "intarsia/owners.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

// A model that runs without a device it was compiled for is no error, but nobody should learn it from a profile.
// A CPU that drives a device is not idle.
void report_idle_devices(const Partitioned& partitioned, const TargetRegistry& registry,
                         const TargetSpec& target) {
  const std::vector<size_t> owners = owners_of(target, registry);
  std::set<size_t> busy;
  for (const auto& row : partitioned.explanation.operators)
    for (size_t m = 0; m < owners.size(); ++m)
      if (target.members()[m].name == row.member) busy.insert({m, owners[m]});
  for (size_t m = 1; m < owners.size(); ++m)
    if (!busy.contains(m))
      fmt::print(stderr,
                 "note: {} runs nothing of {}; 'intarsia explain' says why, operator by operator\n",
                 target.members()[m].name, partitioned.module.name);
}

}  // namespace

Result<CompiledProgram> compile_program(const Context& context, const Selection& selection,
                                        const graph::Module& module) {
  const TargetRegistry& registry = context.registry;
  INTARSIA_TRY(FrontEnd front,
               compile_front_end(module, registry, selection.target, selection.options));
  if (has_parts(front.partitioned.module, registry, selection.target)) {
    INTARSIA_TRY(CompiledParts parts,
                 compile_parts(std::move(front), registry, selection.target, selection.options));
    return CompiledProgram(std::move(parts));
  }
  INTARSIA_TRY(CompiledModel model,
               compile_back_end(std::move(front), registry, selection.target, selection.options));
  return CompiledProgram(std::move(model));
}

Result<CompiledProgram> compile_program(const Context& context, const Selection& selection,
                                        const CommonOptions& options) {
  INTARSIA_TRY(const graph::Module module, import_file(options));
  INTARSIA_TRY(CompiledProgram program, compile_program(context, selection, module));
  report_idle_devices(partitioned_of(program), context.registry, selection.target);
  return program;
}

const Partitioned& partitioned_of(const CompiledProgram& program) {
  if (const auto* parts = std::get_if<CompiledParts>(&program)) return parts->front.partitioned;
  return std::get<CompiledModel>(program).partitioned;
}

Result<PackageContents> package_of(const Context& context, const Selection& selection,
                                   const CompiledProgram& program) {
  if (const auto* parts = std::get_if<CompiledParts>(&program))
    return make_parts_package({*parts, context.registry, selection.target, selection.board.name,
                               selection.core.name, context.resource_root,
                               selection.board.native()});
  return make_package({std::get<CompiledModel>(program), context.registry, selection.target,
                       selection.board.name, selection.core.name, context.resource_root,
                       selection.board.native(), selection.board.takes_simulated_devices()});
}

Result<PackageManifest> write_package(const Context& context, const Selection& selection,
                                      const CompiledProgram& program, const std::string& folder) {
  INTARSIA_TRY(PackageContents package, package_of(context, selection, program));
  INTARSIA_TRY_VOID(write_folder(folder, package.files));
  return std::move(package.manifest);
}

Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(options.model, error))
    return setting_of_folder(context, options);
  INTARSIA_TRY(const Selection selection, select(context, options));
  INTARSIA_TRY(const CompiledProgram program, compile_program(context, selection, options));
  INTARSIA_TRY(const PackageManifest manifest, write_package(context, selection, program, folder));
  return build_setting(context, options, selection, folder, manifest);
}

namespace {

ProgramReport parts_report(const Selection& selection, const CompiledParts& parts) {
  const std::string target = to_string(selection.target);
  const Pipeline& pipeline = parts.pipeline;
  const Explanation& explanation = parts.front.partitioned.explanation;
  ProgramReport result;
  nlohmann::ordered_json json = {{"model", pipeline.name},
                                 {"target", target},
                                 {"board", selection.board.name},
                                 {"parts", pipeline.members},
                                 {"mailbox_bytes", mailbox_bytes(pipeline)},
                                 {"transfers", explanation.transfers},
                                 {"transfer_bytes", explanation.transfer_bytes}};
  result.text = fmt::format(
      "{} in {} parts for {}\n{} transfers between them, {} bytes; mailbox of {} bytes\n",
      pipeline.name, pipeline.members.size(), target, explanation.transfers,
      explanation.transfer_bytes, mailbox_bytes(pipeline));
  if (const std::string note = search_note(explanation); !note.empty()) {
    json["search"] = note;
    result.text += note + "\n";
  }
  for (const CompiledStage& stage : parts.stages) {
    Report report = make_report(stage.model, target, selection.board.name);
    result.not_measured = "the parts are firmware of their own; measure each when it is built";
    report.not_measured = result.not_measured;
    result.operators.insert(result.operators.end(), report.operators.begin(),
                            report.operators.end());
    result.text += fmt::format("\nPart {}\n{}", stage.member, report_text(report));
    auto row = nlohmann::ordered_json::parse(report_json(report));
    row["member"] = stage.member;
    json["stages"].push_back(std::move(row));
  }
  result.json = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return result;
}

}  // namespace

ProgramReport report_of(const Selection& selection, const CompiledProgram& program,
                        const Result<Measurements>& measured) {
  if (const auto* parts = std::get_if<CompiledParts>(&program))
    return parts_report(selection, *parts);
  Report report = make_report(std::get<CompiledModel>(program), to_string(selection.target),
                              selection.board.name);
  if (measured.ok())
    report.measured = *measured;
  else
    report.not_measured = measured.error().items().front().to_string();
  return {report_text(report), report_json(report), report.operators, report.measured,
          report.not_measured};
}

}  // namespace intarsia::cli
