#include "requests/package_folder.h"

#include <filesystem>

#include <fmt/format.h>

#include "packaging/formats/format.h"

namespace intarsia::requests {
namespace {

Result<PackageContents> with_report(PackageContents package, const ProgramReport& report) {
  package.files.push_back({"report.txt", report.text});
  package.files.push_back({"report.json", report.json});
  INTARSIA_TRY(std::string page, report_page(report.json, "report.json"));
  package.files.push_back({"report.html", std::move(page)});
  return package;
}

Result<void> write_model(const std::string& folder, PackageContents package,
                         const ProgramReport& report) {
  INTARSIA_TRY(PackageContents whole, with_report(std::move(package), report));
  return write_package_folder(folder, std::move(whole));
}

// The runtime with what other models need of it already.
Result<SplitPackage> split_with_runtime(const FolderRequest& request,
                                        const PackageContents& package) {
  INTARSIA_TRY(SplitPackage split, split_package(package));
  INTARSIA_TRY_VOID(add_runtime_of_folder(request.runtime_folder, split.runtime));
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
Result<void> write_formatted(const Environment& environment, const FolderRequest& request,
                             const packaging::Format& format, const MeasuredProgram& made,
                             const NoteSink& on_note) {
  if (format.make != packaging::cmake_format)
    INTARSIA_TRY_VOID(
        packaging::may_hold_objects("--format " + request.format, made.model.package.manifest));
  INTARSIA_TRY(packaging::FormatFacts facts,
               packaging::make_format_facts(made.model.imported, environment.registry,
                                            made.selection.target, made.selection.board));
  if (made.report.measured) facts.measured_with = made.report.measured->compiler;
  facts.not_measured = made.report.not_measured;
  SplitPackage split;
  if (!request.runtime_folder.empty()) {
    INTARSIA_TRY(split, split_with_runtime(request, made.model.package));
    INTARSIA_TRY(facts.runtime_folder, path_between(request.folder, request.runtime_folder));
    for (SourceFile& file : format.describe_runtime(split.runtime))
      split.runtime.files.push_back(std::move(file));
  }
  INTARSIA_TRY(
      packaging::FormattedPackage formatted,
      format.make(request.runtime_folder.empty() ? made.model.package : split.model, facts));
  if (!request.runtime_folder.empty())
    INTARSIA_TRY_VOID(write_package_folder(request.runtime_folder, std::move(split.runtime)));
  INTARSIA_TRY_VOID(write_model(request.folder, std::move(formatted.package), made.report));
  if (on_note)
    for (const std::string& note : formatted.notes) on_note(note);
  return {};
}

Result<void> write_as_asked(const Environment& environment, const FolderRequest& request,
                            const packaging::Format& format, const MeasuredProgram& made,
                            const NoteSink& on_note) {
  if (format.make != packaging::plain_format)
    return write_formatted(environment, request, format, made, on_note);
  if (request.single_file) {
    INTARSIA_TRY_VOID(packaging::may_hold_objects("--single-file", made.model.package.manifest));
    INTARSIA_TRY(PackageContents single, single_file_package(made.model.package));
    return write_model(request.folder, std::move(single), made.report);
  }
  if (request.runtime_folder.empty())
    return write_model(request.folder, made.model.package, made.report);
  INTARSIA_TRY(SplitPackage split, split_with_runtime(request, made.model.package));
  INTARSIA_TRY_VOID(write_package_folder(request.runtime_folder, std::move(split.runtime)));
  return write_model(request.folder, std::move(split.model), made.report);
}

// Also whether the form that is asked for can be had in that format.
Result<const packaging::Format*> format_of(const FolderRequest& request) {
  INTARSIA_TRY(const packaging::Format* format,
               packaging::format_named(request.format, request.other_formats));
  if (format->make != packaging::plain_format && request.single_file)
    return Diagnostics("--format " + request.format, "--single-file is a form of the plain package",
                       "leave one of them out");
  if (!request.runtime_folder.empty())
    INTARSIA_TRY_VOID(packaging::may_have_runtime_apart(*format));
  return format;
}

}  // namespace

Result<std::vector<SourceFile>> plain_files(const MeasuredProgram& made) {
  INTARSIA_TRY(PackageContents whole, with_report(made.model.package, made.report));
  return listed_files(std::move(whole));
}

Result<void> check_folder_request(const FolderRequest& request) {
  const Result<const packaging::Format*> format = format_of(request);
  if (!format.ok()) return format.error();
  return {};
}

Result<void> write_package(const Environment& environment, const FolderRequest& request,
                           const MeasuredProgram& made, const NoteSink& on_note) {
  INTARSIA_TRY(const packaging::Format* format, format_of(request));
  return write_as_asked(environment, request, *format, made, on_note);
}

}  // namespace intarsia::requests
