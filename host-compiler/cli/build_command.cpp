// A program for a board, as a file that a debug probe loads: the boards' generic main with the model.
#include <filesystem>

#include <fmt/format.h>

#include "build/shared_library.h"
#include "commands.h"
#include "program.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

Result<int> build(Context& context, const BuildCommand& command) {
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY(const BuildSetting setting,
               setting_of(context, command.common, work.path() + "/package"));
  const bool is_shared = build::names_shared_library(command.output_file);
  INTARSIA_TRY(const std::string program,
               is_shared ? build::build_shared_library(setting, command.output_file, work.path())
                         : build_program(setting, work.path()));
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(program));
  INTARSIA_TRY_VOID(write_file(command.output_file, bytes));
  std::error_code error;
  fs::permissions(command.output_file, fs::perms::owner_exec | fs::perms::group_exec,
                  fs::perm_options::add, error);
  clear_progress();
  fmt::print(
      "{}: {} for board {}; it {}\n", command.output_file, setting.manifest.model,
      setting.board.name,
      is_shared
          ? fmt::format("has the functions of {}.h, which 'compile' writes", setting.manifest.model)
      : setting.board.native() ? "takes a run file (boards/README.md)"
      : setting.board.probe    ? "is served by 'run', by the board's debug probe (docs/running.md)"
                               : "reads and writes files by semihosting (boards/README.md)");
  return static_cast<int>(kDone);
}

}  // namespace

int run_build(Context& context, const BuildCommand& command) {
  const Result<int> result = build(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
