#include "build/link_libraries.h"

#include <algorithm>
#include <filesystem>

#include "support/process.h"

namespace intarsia::build {
namespace {

std::string file_of(const std::string& library) {
  return "lib" + library + ".a";
}

bool is_in_a_folder_of(const board::Core& core, const std::string& library) {
  return std::any_of(core.flags.begin(), core.flags.end(), [&](const std::string& flag) {
    return flag.starts_with("-L") &&
           std::filesystem::exists(std::filesystem::path(flag.substr(2)) / file_of(library));
  });
}

// A compiler answers with the path of a file that it has, and with the bare name of one that it has not.
Result<bool> compiler_has(const BuildSetting& setting, const std::string& library) {
  std::vector<std::string> command = {setting.board.compiler};
  command.insert(command.end(), setting.core.flags.begin(), setting.core.flags.end());
  command.push_back("-print-file-name=" + file_of(library));
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command));
  return outcome.succeeded() && outcome.out.find('/') != std::string::npos;
}

}  // namespace

Result<std::vector<std::string>> libraries_not_found(const BuildSetting& setting) {
  std::vector<std::string> missing;
  for (const std::string& library : setting.manifest.link_libraries) {
    if (is_in_a_folder_of(setting.core, library)) continue;
    INTARSIA_TRY(const bool has, compiler_has(setting, library));
    if (!has) missing.push_back(library);
  }
  return missing;
}

}  // namespace intarsia::build
