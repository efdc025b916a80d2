#include <fmt/format.h>

#include "commands.h"
#include "measured_program.h"

namespace intarsia::cli {

int run_compile(Context& context, const CompileCommand& command) {
  Result<MeasuredProgram> made = compile_and_measure(context, command.common);
  if (!made.ok()) return fail(made.error());
  MeasuredProgram& chosen = made.value();
  chosen.package.files.push_back({"report.txt", chosen.report.text});
  chosen.package.files.push_back({"report.json", chosen.report.json});
  if (Result<void> written = write_package_folder(command.output_folder, std::move(chosen.package));
      !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? chosen.report.json : chosen.report.text);
  return kDone;
}

}  // namespace intarsia::cli
