#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "program.h"
#include "support/files.h"

namespace intarsia::cli {

int run_compile(Context& context, const CompileCommand& command) {
  Result<Selection> selection = select(context, command.common);
  if (!selection.ok()) return fail(selection.error());
  const Result<CompiledProgram> program = compile_program(context, *selection, command.common.model);
  if (!program.ok()) return fail(program.error());
  Result<PackageContents> package = package_of(context, *selection, *program);
  if (!package.ok()) return fail(package.error());

  // Measured in a folder of our own, so that the user's appears whole or not at all.
  Result<TemporaryFolder> work = TemporaryFolder::make();
  if (!work.ok()) return fail(work.error());
  if (Result<void> written = write_folder(work->path(), package->files); !written.ok())
    return fail(written.error());
  const ProgramReport report = report_of(
      *selection, *program,
      measure(build_setting(context, command.common, *selection, work->path(), package->manifest)));

  std::vector<SourceFile> files = std::move(package->files);
  files.push_back({"report.txt", report.text});
  files.push_back({"report.json", report.json});
  if (Result<void> written = write_folder(command.output_folder, files); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? report.json : report.text);
  return kDone;
}

}  // namespace intarsia::cli
