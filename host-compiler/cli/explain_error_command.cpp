#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"

namespace intarsia::cli {
namespace {

struct Status {
  const char* name;
  int value;
  const char* sentence;
};

constexpr Status kStatuses[] = {
#define INTARSIA_STATUS(name, value, sentence) {"INTARSIA_" #name, value, sentence},
#include "intarsia/contract/status.def"
#undef INTARSIA_STATUS
};

}  // namespace

std::string status_code_lines() {
  std::string text;
  for (const Status& status : kStatuses)
    text += fmt::format("{}\t{}\n", status.name, status.sentence);
  return text;
}

int run_explain_error(const std::string& code, bool json) {
  int value = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), value);
  const bool number = error == std::errc() && end == code.data() + code.size();
  std::vector<std::string> names;
  for (const Status& status : kStatuses) {
    names.push_back(status.name);
    if (number ? status.value != value : code != status.name) continue;
    if (json)
      fmt::print("{}\n",
                 nlohmann::ordered_json{
                     {"name", status.name}, {"code", status.value}, {"meaning", status.sentence}}
                     .dump());
    else
      fmt::print("{} ({}): {}\n", status.name, status.value, status.sentence);
    return kDone;
  }
  const std::string near = nearest_name(code, names);
  return fail(Diagnostics("explain-error", fmt::format("there is no status code '{}'", code),
                          near.empty() ? "codes are listed in intarsia/contract/status.def"
                                       : fmt::format("did you mean '{}'?", near)));
}

}  // namespace intarsia::cli
