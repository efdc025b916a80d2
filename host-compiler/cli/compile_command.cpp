#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "commands.h"
#include "support/files.h"

namespace intarsia::cli {

namespace {

struct Attempt {
  std::vector<SourceFile> files;
  Report report;
};

Result<Attempt> attempt(Context& context, const CommonOptions& options) {
  INTARSIA_TRY(const Selection selection, select(context, options));
  INTARSIA_TRY(const CompiledModel model, compile_model(context, selection, options.model));
  Attempt made;
  made.report = make_report(model, to_string(selection.target), selection.board.name);
  INTARSIA_TRY(PackageContents package,
               make_package({model, context.registry, selection.target, selection.board.name, selection.core.name,
                             context.resource_root, selection.board.native(),
                             selection.board.takes_simulated_devices()}));
  // Measured in a folder of our own, so that the user's appears whole or not at all.
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path(), package.files));
  const Result<Measurements> measured =
      measure(build_setting(context, options, selection, work.path(), package.manifest));
  if (measured.ok())
    made.report.measured = *measured;
  else
    made.report.not_measured = measured.error().items().front().to_string();
  made.files = std::move(package.files);
  return made;
}

Diagnostics beyond_flash(const Report& report, int64_t budget, int64_t code, int64_t constants) {
  const auto bytes = [](const OperatorRow& row) { return row.weight_bytes + row.table_bytes + row.stream_bytes; };
  const auto largest =
      std::max_element(report.operators.begin(), report.operators.end(),
                       [&](const OperatorRow& a, const OperatorRow& b) { return bytes(a) < bytes(b); });
  const std::string decides = largest == report.operators.end()
                                  ? ""
                                  : fmt::format("; '{}' decides it with {} bytes of constants", largest->name, bytes(*largest));
  return Diagnostics("--flash-budget",
                     fmt::format("{} bytes are too few: the least is {} ({} of code, {} of constants){}", budget,
                                 code + constants, code, constants, decides),
                     fmt::format("give at least {}", code + constants));
}

// Smaller code, step by step, until it keeps to the budget.
Result<Attempt> within_flash(Context& context, CommonOptions options) {
  std::optional<Measurements> least;
  for (;;) {
    INTARSIA_TRY(Attempt made, attempt(context, options));
    if (!options.flash_budget) return made;
    if (!made.report.measured)
      return Diagnostics("--flash-budget", "flash cannot be measured: " + made.report.not_measured,
                         "leave it out, or choose another --board");
    const Measurements now = *made.report.measured;
    if (now.code_bytes + now.constant_bytes <= *options.flash_budget) return made;
    if (!least || now.code_bytes + now.constant_bytes < least->code_bytes + least->constant_bytes) least = now;
    if (options.optimise == "size")
      return beyond_flash(made.report, *options.flash_budget, least->code_bytes, least->constant_bytes);
    options.optimise = options.optimise == "speed" ? "balanced" : "size";
  }
}

}  // namespace

int run_compile(Context& context, const CompileCommand& command) {
  Result<Attempt> made = within_flash(context, command.common);
  if (!made.ok()) return fail(made.error());
  const std::string json = report_json(made->report), text = report_text(made->report);
  made->files.push_back({"report.txt", text});
  made->files.push_back({"report.json", json});
  if (Result<void> written = write_folder(command.output_folder, made->files); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? json : text);
  return kDone;
}

}  // namespace intarsia::cli
