#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "measured_program.h"
#include "packaging/formats/format.h"

namespace intarsia::cli {

namespace {

Result<void> write_model(const std::string& folder, PackageContents package,
                         const ProgramReport& report) {
  package.files.push_back({"report.txt", report.text});
  package.files.push_back({"report.json", report.json});
  INTARSIA_TRY(std::string page, report_page(report.json, "report.json"));
  package.files.push_back({"report.html", std::move(page)});
  return write_package_folder(folder, std::move(package));
}

// The runtime with what other models need of it already.
Result<SplitPackage> split_with_runtime(const CompileCommand& command,
                                        const PackageContents& package) {
  INTARSIA_TRY(SplitPackage split, split_package(package));
  INTARSIA_TRY_VOID(add_runtime_of_folder(command.runtime_folder, split.runtime));
  return split;
}

// From one folder, which need not exist yet, to another.
Result<std::string> path_between(const std::string& from, const std::string& to) {
  std::error_code error;
  namespace fs = std::filesystem;
  const fs::path path = fs::relative(fs::absolute(to), fs::absolute(from), error);
  if (error || path.empty())
    return Diagnostics(to, fmt::format("has no relative path from {}", from),
                       "give both folders on one drive");
  return path.generic_string();
}

// With the build files of an ecosystem, and a sample with test data.
Result<void> write_formatted(const Context& context, const CompileCommand& command,
                             const packaging::Format& format, const MeasuredProgram& made) {
  INTARSIA_TRY(packaging::FormatFacts facts,
               packaging::make_format_facts(made.imported, context.registry, made.selection.target,
                                            made.selection.board));
  if (made.report.measured) facts.measured_with = made.report.measured->compiler;
  facts.not_measured = made.report.not_measured;
  SplitPackage split;
  if (!command.runtime_folder.empty()) {
    INTARSIA_TRY(split, split_with_runtime(command, made.package));
    INTARSIA_TRY(facts.runtime_folder, path_between(command.output_folder, command.runtime_folder));
    for (SourceFile& file : format.describe_runtime(split.runtime))
      split.runtime.files.push_back(std::move(file));
  }
  INTARSIA_TRY(packaging::FormattedPackage formatted,
               format.make(command.runtime_folder.empty() ? made.package : split.model, facts));
  if (!command.runtime_folder.empty())
    INTARSIA_TRY_VOID(write_package_folder(command.runtime_folder, std::move(split.runtime)));
  INTARSIA_TRY_VOID(write_model(command.output_folder, std::move(formatted.package), made.report));
  for (const std::string& note : formatted.notes) fmt::print(stderr, "note: {}\n", note);
  return {};
}

Result<void> write_as_asked(const Context& context, const CompileCommand& command,
                            const packaging::Format& format, const MeasuredProgram& made) {
  if (format.make != packaging::plain_format)
    return write_formatted(context, command, format, made);
  if (command.single_file) {
    INTARSIA_TRY(PackageContents single, single_file_package(made.package));
    return write_model(command.output_folder, std::move(single), made.report);
  }
  if (command.runtime_folder.empty())
    return write_model(command.output_folder, made.package, made.report);
  INTARSIA_TRY(SplitPackage split, split_with_runtime(command, made.package));
  INTARSIA_TRY_VOID(write_package_folder(command.runtime_folder, std::move(split.runtime)));
  return write_model(command.output_folder, std::move(split.model), made.report);
}

// Also whether the form that is asked for can be had in that format.
Result<const packaging::Format*> format_of(const CompileCommand& command) {
  INTARSIA_TRY(const packaging::Format* format, packaging::format_named(command.format));
  if (format->make != packaging::plain_format && command.single_file)
    return Diagnostics("--format " + command.format, "--single-file is a form of the plain package",
                       "leave one of them out");
  if (!command.runtime_folder.empty())
    INTARSIA_TRY_VOID(packaging::may_have_runtime_apart(*format));
  return format;
}

}  // namespace

int run_compile(Context& context, const CompileCommand& command) {
  const Result<const packaging::Format*> format = format_of(command);
  if (!format.ok()) return fail(format.error());
  Result<MeasuredProgram> made = compile_and_measure(context, command.common);
  if (!made.ok()) return fail(made.error());
  const MeasuredProgram& chosen = made.value();
  if (Result<void> written = write_as_asked(context, command, **format, chosen); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? chosen.report.json : chosen.report.text);
  return kDone;
}

}  // namespace intarsia::cli
