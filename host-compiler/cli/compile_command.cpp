#include <algorithm>

#include <fmt/format.h>

#include "commands.h"
#include "packaging/formats/format.h"
#include "program.h"
#include "support/files.h"

namespace intarsia::cli {

namespace {

struct Attempt {
  graph::Module imported;
  PackageContents package;
  ProgramReport report;
};

// From a partitioned model to a package that is measured.
Result<Attempt> attempt(Context& context, const CommonOptions& options, const Selection& selection,
                        const CompiledModel& partitioned) {
  INTARSIA_TRY(CompiledModel model, compile_on(context, selection, partitioned, Stage::Package));
  // Measured in a folder of our own, so that the user's appears whole or not at all.
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path(), model.package.files));
  ProgramReport report = report_of(
      selection, model,
      measure(build_setting(context, options, selection, work.path(), model.package.manifest)));
  return Attempt{std::move(model.imported), std::move(model.package), std::move(report)};
}

Diagnostics beyond_flash(const ProgramReport& report, int64_t budget, const Measurements& least) {
  const auto bytes = [](const OperatorRow& row) {
    return row.weight_bytes + row.table_bytes + row.stream_bytes;
  };
  const auto largest = std::max_element(
      report.operators.begin(), report.operators.end(),
      [&](const OperatorRow& a, const OperatorRow& b) { return bytes(a) < bytes(b); });
  const std::string decides = largest == report.operators.end()
                                  ? ""
                                  : fmt::format("; '{}' decides it with {} bytes of constants",
                                                largest->name, bytes(*largest));
  const int64_t total = least.code_bytes + least.constant_bytes;
  return Diagnostics(
      "--flash-budget",
      fmt::format("{} bytes are too few: the least is {} ({} of code, {} of constants){}", budget,
                  total, least.code_bytes, least.constant_bytes, decides),
      fmt::format("give at least {}", total));
}

// Smaller code, step by step, until it keeps to the budget.
Result<Attempt> within_flash(Context& context, CommonOptions options) {
  INTARSIA_TRY(Selection selection, select(context, options));
  INTARSIA_TRY(const CompiledModel partitioned,
               compile_file(context, selection, options, Stage::Partition));
  report_idle_devices(context, selection, partitioned);
  std::optional<Measurements> least;
  for (;;) {
    INTARSIA_TRY(Attempt made, attempt(context, options, selection, partitioned));
    if (!options.flash_budget) return made;
    if (!made.report.measured)
      return Diagnostics("--flash-budget", "flash cannot be measured: " + made.report.not_measured,
                         "leave it out, or choose another --board");
    const Measurements now = *made.report.measured;
    if (now.code_bytes + now.constant_bytes <= *options.flash_budget) return made;
    if (!least || now.code_bytes + now.constant_bytes < least->code_bytes + least->constant_bytes)
      least = now;
    if (options.optimise == "size") return beyond_flash(made.report, *options.flash_budget, *least);
    options.optimise = options.optimise == "speed" ? "balanced" : "size";
    INTARSIA_TRY(selection, select(context, options));
  }
}

Result<void> write_model(const std::string& folder, PackageContents package,
                         const ProgramReport& report) {
  package.files.push_back({"report.txt", report.text});
  package.files.push_back({"report.json", report.json});
  return write_package_folder(folder, std::move(package));
}

// With the build files of an ecosystem, and a sample with test data.
Result<void> write_formatted(const CompileCommand& command, const packaging::Format& format,
                             const Attempt& made) {
  packaging::FormatFacts facts;
  INTARSIA_TRY(facts.sample, packaging::make_sample_data(made.imported));
  facts.measured_with = made.report.measured
                            ? made.report.measured->compiler
                            : "not measured: " + made.report.not_measured;
  INTARSIA_TRY(packaging::FormattedPackage formatted, format.make(made.package, facts));
  INTARSIA_TRY_VOID(write_model(command.output_folder, std::move(formatted.package), made.report));
  for (const std::string& note : formatted.notes) fmt::print(stderr, "note: {}\n", note);
  return {};
}

Result<void> write_as_asked(const CompileCommand& command, const packaging::Format& format,
                            const Attempt& made) {
  if (format.make != packaging::plain_format) return write_formatted(command, format, made);
  if (command.single_file) {
    INTARSIA_TRY(PackageContents single, single_file_package(made.package));
    return write_model(command.output_folder, std::move(single), made.report);
  }
  if (command.runtime_folder.empty())
    return write_model(command.output_folder, made.package, made.report);
  INTARSIA_TRY(SplitPackage split, split_package(made.package));
  INTARSIA_TRY_VOID(add_runtime_of_folder(command.runtime_folder, split.runtime));
  INTARSIA_TRY_VOID(write_package_folder(command.runtime_folder, std::move(split.runtime)));
  return write_model(command.output_folder, std::move(split.model), made.report);
}

// Also whether the form that is asked for can be had in that format.
Result<const packaging::Format*> format_of(const CompileCommand& command) {
  INTARSIA_TRY(const packaging::Format* format, packaging::format_named(command.format));
  if (format->make != packaging::plain_format && (command.single_file || !command.runtime_folder.empty()))
    return Diagnostics("--format " + command.format,
                       fmt::format("{} is a form of the plain package",
                                   command.single_file ? "--single-file" : "--runtime"),
                       "leave one of them out");
  return format;
}

}  // namespace

int run_compile(Context& context, const CompileCommand& command) {
  const Result<const packaging::Format*> format = format_of(command);
  if (!format.ok()) return fail(format.error());
  Result<Attempt> made = within_flash(context, command.common);
  if (!made.ok()) return fail(made.error());
  const Attempt& chosen = made.value();
  if (Result<void> written = write_as_asked(command, **format, chosen); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? chosen.report.json : chosen.report.text);
  return kDone;
}

}  // namespace intarsia::cli
