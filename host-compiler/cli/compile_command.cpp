#include <fmt/format.h>

#include "commands.h"
#include "measured_program.h"

namespace intarsia::cli {

namespace {

Result<void> write_model(const std::string& folder, PackageContents package,
                         const ProgramReport& report) {
  package.files.push_back({"report.txt", report.text});
  package.files.push_back({"report.json", report.json});
  return write_package_folder(folder, std::move(package));
}

Result<void> write_as_asked(const CompileCommand& command, const MeasuredProgram& made) {
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

}  // namespace

int run_compile(Context& context, const CompileCommand& command) {
  Result<MeasuredProgram> made = compile_and_measure(context, command.common);
  if (!made.ok()) return fail(made.error());
  const MeasuredProgram& chosen = made.value();
  if (Result<void> written = write_as_asked(command, chosen); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? chosen.report.json : chosen.report.text);
  return kDone;
}

}  // namespace intarsia::cli
