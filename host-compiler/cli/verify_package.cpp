#include "verify_package.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "emission/emit.h"
#include "package_operators.h"
#include "program.h"
#include "support/files.h"
#include "verify_programs.h"
#include "verify_report.h"

namespace intarsia::cli {
namespace {

Result<void> check_tensors(const std::string& folder, const std::string& model,
                           const std::vector<TensorInfo>& of_package,
                           const std::vector<TensorInfo>& of_model) {
  const bool same = std::equal(of_package.begin(), of_package.end(), of_model.begin(),
                               of_model.end(), [](const TensorInfo& a, const TensorInfo& b) {
                                 return a.type == b.type && a.shape == b.shape;
                               });
  if (same) return {};
  return Diagnostics(folder, fmt::format("has other inputs or outputs than {}", model),
                     "name the model that it was compiled from");
}

// The names of the operators that made what was shown, each with its tensors in order, by sample.
using Shown = std::map<std::string, std::vector<const graph::TensorValue*>>;
std::vector<Shown> by_operator(const std::vector<std::vector<ShownResult>>& runs) {
  std::vector<Shown> samples;
  for (const std::vector<ShownResult>& run : runs) {
    samples.emplace_back();
    for (const ShownResult& result : run) samples.back()[result.name].push_back(&result.bytes);
  }
  return samples;
}

// What the program's operators computed beside what the reference's did, each with what its own had computed before:
// the first that differs is at fault, those behind it may only have been given other operands. `expected`: of
// with_all_outputs(reduced), by sample.
std::vector<OperatorCheck::Row> compare_shown(const graph::Module& opened,
                                              const std::vector<Values>& expected,
                                              const std::vector<Shown>& shown) {
  const graph::Function& entry = opened.entry_function();
  std::map<int32_t, size_t> place;  // of a tensor among the outputs
  for (size_t i = 0; i < entry.outputs.size(); ++i) place[entry.outputs[i].index] = i;
  std::vector<OperatorCheck::Row> rows;
  for (const graph::Node& node : entry.nodes) {
    OperatorCheck::Row row{.node = node.name, .is_looked_at = false};
    for (size_t s = 0; s < shown.size(); ++s) {
      const auto found = shown[s].find(node.name);
      if (found == shown[s].end()) continue;
      for (size_t o = 0; o < std::min(node.outputs.size(), found->second.size()); ++o) {
        const graph::TensorId id = node.outputs[o];
        const graph::TensorValue& wanted = expected[s][place.at(id.index)];
        // Of another size it is part of the operator, or the folder was compiled with other options.
        if (found->second[o]->size() != wanted.size()) continue;
        row.is_looked_at = true;
        if (row.difference.empty())
          row.difference =
              describe_difference(node, entry.tensor(id), s, wanted, *found->second[o]);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Builds the program and runs it; with `layers` it shows what its operators compute.
Result<Column> look_at(const BuildSetting& package, const VerifyCommand& command, bool layers,
                       const Subject& subject, const graph::Module& reduced) {
  Column column{package.board.name};
  column.is_object = std::ranges::any_of(
      package.manifest.sources, [](const std::string& source) { return source.ends_with(".o"); });
  BuildSetting setting = package;
  setting.shows_results = layers;
  std::vector<std::vector<ShownResult>> shown;
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY(const std::vector<Values> results,
               run_package(setting, subject.samples, work.path(), {layers ? &shown : nullptr}));
  if (command.count_cycles) {
    // A program of its own: showing results takes cycles.
    INTARSIA_TRY(const TemporaryFolder again, TemporaryFolder::make());
    INTARSIA_TRY(const std::vector<Values> counted,
                 run_package(package, subject.samples, again.path(), {.cycles = &column.cycles}));
  }
  column.difference = first_difference(subject.module, subject.expected, results);
  if (!layers) return column;
  const graph::Module opened = with_all_outputs(reduced);
  INTARSIA_TRY(const std::vector<Values> expected, evaluate(opened, subject.samples));
  column.rows = compare_shown(opened, expected, by_operator(shown));
  for (const OperatorCheck::Row& row : column.rows)
    if (!row.difference.empty()) {
      column.difference = row.difference;
      break;
    }
  return column;
}

}  // namespace

Result<int> verify_package(Context& context, const VerifyCommand& command) {
  const std::string& folder = command.common.model;
  if (command.reference.empty())
    return Diagnostics(folder, "is a compiled package, which does not hold the model itself",
                       "name the model that it was compiled from with --reference FILE");
  INTARSIA_TRY_VOID(check_nothing_is_compiled(command.common, "is compiled", Reading::OfReference));
  INTARSIA_TRY(const BuildSetting setting, setting_of_folder(context, command.common));
  const bool is_whole = setting.manifest.parts.empty();
  if (command.layers_are_asked_for && !is_whole)
    return Diagnostics(folder, "its parts run at the same time: there is no order of operators",
                       "name the model that it was compiled from in place of the folder");
  INTARSIA_TRY(const Subject subject, subject_of(context, command, command.reference));
  const graph::Function& entry = subject.module.entry_function();
  INTARSIA_TRY_VOID(check_tensors(folder, command.reference, setting.manifest.inputs,
                                  tensor_infos(entry, entry.inputs)));
  INTARSIA_TRY_VOID(check_tensors(folder, command.reference, setting.manifest.outputs,
                                  tensor_infos(entry, entry.outputs)));
  CompileOptions options;
  options.lowering.eliminate_dead_channels = !command.common.keep_dead_channels;
  INTARSIA_TRY(const ReducedModule reduced, reduced_as_asked(subject.module, options));
  Verdict verdict{setting.manifest.model,
                  setting.manifest.target,
                  setting.board.name,
                  {},
                  subject.samples.size(),
                  reduced.module.entry_function().nodes,
                  &reduced.module.entry_function()};
  verdict.explanation.operators = operators_of_package(folder);
  INTARSIA_TRY(Column column,
               look_at(setting, command, command.layers && is_whole, subject, reduced.module));
  verdict.columns.push_back(std::move(column));
  return report(
      command, verdict,
      fmt::format("'intarsia verify {}' tells whether a fresh compilation agrees; devices "
                  "that round in their own way are compared there only",
                  command.reference));
}

}  // namespace intarsia::cli
