#include "build/link_failure.h"

#include <regex>
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

// "15216 bytes too many in 'ram'", for each memory that overflows. GNU's linkers write "region `ram' overflowed by 15216 bytes",
// lld "region 'ram': overflowed by 15216 bytes".
std::vector<std::string> overflows(const std::string& complaints) {
  static const std::regex pattern("region [`'](\\w+)':? overflowed by (\\d+) bytes");
  std::vector<std::string> found;
  for (std::sregex_iterator at(complaints.begin(), complaints.end(), pattern), end; at != end; ++at)
    found.push_back(fmt::format("{} bytes too many in '{}'", (*at)[2].str(), (*at)[1].str()));
  return found;
}

// TEXT of the first `#error "TEXT"` that the compiler met, which GCC repeats and clang shortens; empty: it met none.
std::string own_words(const std::string& complaints) {
  static const std::regex pattern("error: (?:#error )?\"([^\"\n]+)\"");
  std::smatch found;
  return std::regex_search(complaints, found, pattern) ? found[1].str() : "";
}

}  // namespace

Diagnostics compile_failure(const std::string& source, const ProcessOutcome& outcome) {
  if (const std::string words = own_words(outcome.err); !words.empty())
    return Diagnostics(source, words, "or choose another target");
  return Diagnostics(
      source, fmt::format("the C compiler refused it ({}):\n{}", outcome.ending(), outcome.err),
      "this is a fault of the emitted code, please report it");
}

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
  if (const std::vector<std::string> found = overflows(outcome.err); !found.empty())
    return Diagnostics(name,
                       fmt::format("{} does not fit board {}: {}", what, setting.board.name,
                                   fmt::join(found, ", ")),
                       setting.when_too_large);
  return Diagnostics(name, fmt::format("linking {} for board {} failed ({}):\n{}", what,
                                       setting.board.name, outcome.ending(), outcome.err));
}

}  // namespace intarsia::build
