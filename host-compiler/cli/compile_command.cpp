#include <fmt/format.h>

#include "commands.h"
#include "measured_program.h"
#include "requests/package_folder.h"

namespace intarsia::cli {

int run_compile(Context& context, const CompileCommand& command) {
  const requests::FolderRequest folder{command.output_folder, command.runtime_folder,
                                       command.single_file, command.format};
  if (Result<void> possible = requests::check_folder_request(folder); !possible.ok())
    return fail(possible.error());
  const Result<MeasuredProgram> made = compile_and_measure(context, command.common);
  if (!made.ok()) return fail(made.error());
  if (Result<void> written = requests::write_package(context, folder, *made, print_note);
      !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? made->report.json : made->report.text);
  return kDone;
}

}  // namespace intarsia::cli
