#include "requests/measured_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "build/measurable.h"
#include "requests/counted_program.h"
#include "support/files.h"
#include "support/watched.h"

namespace intarsia::requests {
namespace {

// From a partitioned model to a package that is measured.
Result<MeasuredProgram> package_and_measure(const Environment& environment,
                                            const MeasuredRequest& request,
                                            const ModelOptions& options, const Selection& selection,
                                            const CompiledModel& partitioned) {
  INTARSIA_TRY(CompiledModel model,
               compile_on(environment, selection, partitioned, Stage::Package));
  Result<Measurements> measured =
      Diagnostics(selection.board.name, "code and stack were not to be measured");
  std::optional<RunCycles> counted;
  BuildSetting setting = build_setting(environment, options, selection.board, selection.core, "",
                                       model.package.manifest);
  const Result<void> possible = build::may_be_measured(setting);
  // Told also where it ends at once: a progress bar knows the stages by what was asked for.
  if (request.measures || request.counts_cycles) INTARSIA_TRY_VOID(watched::begins("measure"));
  if (request.measures && !possible.ok()) measured = possible.error();
  if ((request.measures && possible.ok()) || request.counts_cycles) {
    // Measured in a folder of our own, so that the user's appears whole or not at all.
    INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
    INTARSIA_TRY_VOID(write_folder(work.path(), model.package.files));
    setting.folder = work.path();
    setting.on_progress = request.on_progress;
    if (request.measures && possible.ok()) measured = measure(setting);
    // A choice that exceeds the budget is not the one that is written.
    const bool is_kept = !options.flash_budget ||
                         (measured.ok() && measured->flash_bytes() <= *options.flash_budget);
    if (request.counts_cycles && is_kept) {
      INTARSIA_TRY(counted, count_cycles(setting, model.partitioned.module, work.path()));
    }
    INTARSIA_TRY_VOID(watched::goes_on());  // what was ended was not measured
  }
  ProgramReport report = report_of(selection, model, measured, std::move(counted));
  MeasuredProgram made{selection, std::move(model), std::move(report)};
  made.selection.options.on_progress = nullptr;  // whoever listens now may be gone later
  return made;
}

// `least`: of what was tried.
Diagnostics beyond_flash(const ProgramReport& least, int64_t budget) {
  const auto bytes = [](const OperatorRow& row) {
    return row.weight_bytes + row.table_bytes + row.stream_bytes;
  };
  const auto largest = std::max_element(
      least.operators.begin(), least.operators.end(),
      [&](const OperatorRow& a, const OperatorRow& b) { return bytes(a) < bytes(b); });
  std::string decides;
  if (largest != least.operators.end())
    decides = largest->stream_bytes > 0
                  ? fmt::format("; the command stream '{}' decides it with {} bytes",
                                largest->region, bytes(*largest))
                  : fmt::format("; '{}' decides it with {} bytes of constants", largest->name,
                                bytes(*largest));
  const Measurements& flash = *least.measured;
  const std::string streams =
      flash.stream_bytes == 0 ? "" : fmt::format(", {} of command streams", flash.stream_bytes);
  return Diagnostics(
      "--flash-budget",
      fmt::format("{} bytes are too few: the least is {} ({} of code, {} of constants{}){}", budget,
                  flash.flash_bytes(), flash.code_bytes, flash.constant_bytes, streams, decides),
      fmt::format("give at least {}", flash.flash_bytes()));
}

}  // namespace

Result<MeasuredProgram> compile_and_measure(Environment& environment,
                                            const MeasuredRequest& request) {
  ModelOptions options = request.options;
  options.keeps_flash_budget = true;
  INTARSIA_TRY(Selection selection, select(environment, options));
  selection.options.partition.cycles = true;
  selection.options.on_progress = request.on_progress;
  INTARSIA_TRY(CompiledModel partitioned,
               compile_bytes(environment, selection, options, request.bytes, Stage::Partition,
                             request.on_note));
  note_idle_devices(environment, selection, partitioned, request.on_note);
  std::optional<ProgramReport> least;
  for (;;) {
    INTARSIA_TRY(MeasuredProgram made,
                 package_and_measure(environment, request, options, selection, partitioned));
    if (!options.flash_budget) return made;
    if (!made.report.measured)
      return Diagnostics("--flash-budget", "flash cannot be measured: " + made.report.not_measured,
                         "leave it out, or choose another --board");
    const int64_t bytes = made.report.measured->flash_bytes();
    if (bytes <= *options.flash_budget) return made;
    if (!least || bytes < least->measured->flash_bytes()) least = std::move(made.report);
    if (options.optimise == "size") return beyond_flash(*least, *options.flash_budget);
    options.optimise = options.optimise == "speed" ? "balanced" : "size";
    INTARSIA_TRY(selection, select(environment, options));
    selection.options.on_progress = request.on_progress;
    const MemoryMap memory =
        planning_memory(selection.options.memory, environment.registry, selection.target);
    LoweringOptions lowering = selection.options.lowering;
    lowering.memory = &memory;
    lowering.cycles_of_constants =
        expected_cycles_of_constants(partitioned.partitioned.module, memory);
    partitioned.partitioned.explanation.cycles = estimated_cycles(
        partitioned.partitioned.module, environment.registry, selection.target, lowering);
  }
}

}  // namespace intarsia::requests
