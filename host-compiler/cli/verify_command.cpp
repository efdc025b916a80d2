// Four ways to compute a model, compared: the reference evaluator, the generated C on this machine, the firmware in the
// board's emulator, and the compiled model executed in this process, each with its devices simulated. Every program is run twice: as it is,
// for the model's outputs, and with every intermediate tensor as an output, which tells for each operator
// whether it computes what the reference does.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include "passes/dead_channel_elimination.h"
#include "verify_package.h"

#include "verify_programs.h"
#include "verify_report.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;
// One program, as it is and operator by operator.
Result<Column> look_at(const Context& context, const VerifyCommand& command,
                       const Platform& platform, const Subject& subject,
                       const graph::Module& reduced, Explanation& explanation) {
  Column column{platform.name};
  INTARSIA_TRY(const Ran closed, run_module(context, command.common, platform, subject.module,
                                            subject.samples, command.count_cycles));
  column.cycles = closed.cycles;
  explanation = closed.explanation;
  column.cannot = closed.cannot;
  column.is_object = closed.is_object;
  if (!column.cannot.empty()) return column;
  column.difference = first_difference(subject.module, subject.expected, closed.results);
  if (!column.difference.empty())
    INTARSIA_TRY_VOID(check_reduced(subject.module, reduced, command.samples));
  const graph::Module opened = with_all_outputs(pinned_as(reduced, closed.explanation));
  const std::map<std::string, int32_t> allowed =
      tolerances(opened, closed.explanation, context.registry, platform.selection.target);
  for (const auto& [name, steps] : allowed) column.allowed = std::max(column.allowed, steps);
  if (!command.layers && column.difference.empty()) return column;

  Platform open = platform;
  LoweringOptions& lowering = open.selection.options.lowering;
  lowering.eliminate_dead_channels =
      false;  // outputs hold every channel: there is less to eliminate
  lowering.ram_budget.reset();
  open.selection.options.fits_by_row_tiles = false;
  Result<Ran> ran = run_module(context, command.common, open, opened, subject.samples);
  if (!ran.ok()) {
    // With every result kept it may need more memory than there is.
    if (command.layers_are_asked_for || column.allowed > 0) return ran.error();
    column.not_looked = ran.error().to_string();
    return column;
  }
  INTARSIA_TRY(OperatorCheck check,
               check_operators(opened, allowed, subject.samples, ran->results));
  column.is_told_by_operators =
      !column.difference.empty() && makes_integers_of_computed_floats(reduced);
  column.rows = std::move(check.rows);
  column.largest = check.largest;
  if (!check.difference.empty()) {
    column.difference = check.difference;
  } else if (column.allowed > 0 || column.is_told_by_operators) {
    // What the operators were seen to do has to be what the program as it is does.
    std::vector<Values> outputs;
    for (const Values& all : ran->results)
      outputs.emplace_back(all.begin(),
                           all.begin() + static_cast<int64_t>(closed.results[0].size()));
    column.difference = first_difference(subject.module, outputs, closed.results);
  }
  return column;
}

Result<int> verify_model(Context& context, const VerifyCommand& command) {
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  if (command.count_cycles) INTARSIA_TRY_VOID(check_cycles_are_countable(selection.board));
  INTARSIA_TRY(const Platforms platforms, platforms_of(context, selection));
  INTARSIA_TRY(const Subject subject, subject_of(context, command, command.common.model));
  INTARSIA_TRY(const ReducedModule reduced, reduced_as_asked(subject.module, selection.options));
  Verdict verdict{subject.module.name,
                  to_string(selection.target),
                  selection.board.name,
                  {},
                  subject.samples.size(),
                  reduced.module.entry_function().nodes,
                  &reduced.module.entry_function()};
  if (!platforms.left_out.empty()) verdict.notes.push_back(platforms.left_out);
  for (const Platform& platform : platforms.all) {
    INTARSIA_TRY(Column column,
                 look_at(context, command, platform, subject, reduced.module, verdict.explanation));
    if (column.cannot.empty())
      verdict.columns.push_back(std::move(column));
    else
      verdict.notes.push_back(fmt::format("the {} is left out: {}",
                                          platform.is_engine ? "engine" : "program on this machine",
                                          column.cannot));
  }
  if (verdict.columns.empty())
    return Diagnostics(verdict.model,
                       fmt::format("nothing could be compared with the reference: {}",
                                   fmt::join(verdict.notes, "; ")),
                       "name a board that has such a core with --board, or another target");
  return report(command, verdict,
                "this is a fault of the compiler, please report it with the model");
}

}  // namespace

int run_verify(Context& context, const VerifyCommand& command) {
  std::error_code error;
  const Result<int> result = fs::is_directory(command.common.model, error)
                                 ? verify_package(context, command)
                                 : verify_model(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
