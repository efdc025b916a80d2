#include "measured_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::cli {
namespace {

// From a partitioned model to a package that is measured.
Result<MeasuredProgram> package_and_measure(Context& context, const CommonOptions& options,
                                            const Selection& selection,
                                            const CompiledModel& partitioned) {
  INTARSIA_TRY(CompiledModel model, compile_on(context, selection, partitioned, Stage::Package));
  // Measured in a folder of our own, so that the user's appears whole or not at all.
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path(), model.package.files));
  ProgramReport report = report_of(
      selection, model,
      measure(build_setting(context, options, selection, work.path(), model.package.manifest)));
  return MeasuredProgram{selection, std::move(model.imported), std::move(model.package),
                         std::move(report)};
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

Result<MeasuredProgram> compile_and_measure(Context& context, const CommonOptions& asked) {
  CommonOptions options = asked;
  INTARSIA_TRY(Selection selection, select(context, options));
  selection.options.partition.cycles = true;
  INTARSIA_TRY(CompiledModel partitioned,
               compile_file(context, selection, options, Stage::Partition));
  report_idle_devices(context, selection, partitioned);
  std::optional<ProgramReport> least;
  for (;;) {
    INTARSIA_TRY(MeasuredProgram made,
                 package_and_measure(context, options, selection, partitioned));
    if (!options.flash_budget) return made;
    if (!made.report.measured)
      return Diagnostics("--flash-budget", "flash cannot be measured: " + made.report.not_measured,
                         "leave it out, or choose another --board");
    const int64_t bytes = made.report.measured->flash_bytes();
    if (bytes <= *options.flash_budget) return made;
    if (!least || bytes < least->measured->flash_bytes()) least = std::move(made.report);
    if (options.optimise == "size") return beyond_flash(*least, *options.flash_budget);
    options.optimise = options.optimise == "speed" ? "balanced" : "size";
    INTARSIA_TRY(selection, select(context, options));
    const MemoryMap memory =
        planning_memory(selection.options.memory, context.registry, selection.target);
    LoweringOptions lowering = selection.options.lowering;
    lowering.memory = &memory;
    partitioned.partitioned.explanation.cycles = estimated_cycles(
        partitioned.partitioned.module, context.registry, selection.target, lowering);
  }
}

}  // namespace intarsia::cli
