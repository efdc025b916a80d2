#include "command_page.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia::cli {

std::string spelled(const OptionPage& option) {
  if (option.names.empty()) return option.value.name;
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  return option.takes_value ? text + " " + option.value.name : text;
}

std::string synopsis(const CommandPage& command) {
  std::string text = "intarsia " + command.name;
  for (const OptionPage& argument : command.arguments)
    text += argument.is_required ? " " + argument.value.name
                                 : fmt::format(" [{}]", argument.value.name);
  bool has_others = false;
  for (const OptionGroup& group : command.groups)
    for (const OptionPage& option : group.options) {
      has_others = has_others || (!option.is_required && option.names.back() != "--help");
      if (option.is_required)
        text += fmt::format(" {} {}", option.names.front(), option.value.name);
    }
  return has_others ? text + " [options]" : text;
}

std::vector<std::pair<std::string, std::vector<const CommandPage*>>> grouped_commands(
    const ProgramPages& pages) {
  std::vector<std::pair<std::string, std::vector<const CommandPage*>>> groups;
  for (const CommandPage& command : pages.commands) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == command.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {command.group, {}});
    found->second.push_back(&command);
  }
  return groups;
}

std::string option_text(const OptionPage& option) {
  std::string text = option.text;
  const auto add = [&](const std::string& more) {
    // Behind a list, on a line of its own.
    text += text.find('\n') == std::string::npos ? "; " + more : "\n" + more;
  };
  if (option.value.from == ValueKind::From::Words &&
      text.find(option.value.words.front()) == std::string::npos)
    text += fmt::format(": {}", fmt::join(option.value.words, ", "));
  if (option.may_repeat) add("may be repeated");
  if (option.is_required && !option.names.empty()) add("required");
  if (!option.default_text.empty()) add("default: " + option.default_text);
  return text;
}

}  // namespace intarsia::cli
