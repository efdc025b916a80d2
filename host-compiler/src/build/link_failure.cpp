#include "build/link_failure.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace intarsia::build {
namespace {

// Libraries of the package that the linker has not found. GNU's linkers and lld name them "-lNAME".
std::vector<std::string> missing_libraries(const BuildSetting& setting,
                                           const ProcessOutcome& outcome) {
  std::vector<std::string> missing;
  for (const std::string& library : setting.manifest.link_libraries)
    for (const char* complaint : {"cannot find -l", "unable to find library -l"}) {
      const std::string words = complaint + library;
      const size_t at = outcome.err.find(words);
      if (at == std::string::npos) continue;
      const size_t end = at + words.size();
      if (end < outcome.err.size() && outcome.err[end] != ':' && outcome.err[end] != '\n') continue;
      missing.push_back(library);
      break;
    }
  return missing;
}

}  // namespace

Diagnostics link_failure(const BuildSetting& setting, std::string_view what,
                         const ProcessOutcome& outcome) {
  const std::string& name = setting.manifest.model;
  if (const std::vector<std::string> missing = missing_libraries(setting, outcome);
      !missing.empty())
    return Diagnostics(
        name,
        fmt::format("{} for board {} needs the {} {}, which {} does not find", what,
                    setting.board.name, missing.size() == 1 ? "library" : "libraries",
                    fmt::join(missing, ", "), setting.board.compiler),
        "install it for the machine that the compiler makes programs for, with the files that "
        "programs are built with, or choose a target without the device that uses it");
  return Diagnostics(name,
                     fmt::format("linking {} for board {} failed ({}):\n{}", what,
                                 setting.board.name, outcome.ending(), outcome.err),
                     setting.board.native() ? "" : "if a memory overflows, choose a larger board");
}

}  // namespace intarsia::build
