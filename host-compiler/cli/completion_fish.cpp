// A script for fish: one `complete` for each option of each command.
#include <fmt/format.h>

#include "command_page.h"

namespace intarsia::cli {
namespace {

constexpr std::string_view kFishBeginning =
    R"sh(# fish completion for intarsia, made by 'intarsia completion fish'.

# What the program knows: boards, targets, codes; each with what it is.
function __intarsia_values
  set -l program (commandline -opc)[1]
  $program completion --values $argv[1] 2> /dev/null
end

# A target is several tags with '+' between them.
function __intarsia_targets
  set -l before (string match -r '^.*\+' -- (commandline -ct | string replace -r '^--target=' ''))
  for line in (__intarsia_values $argv[1])
    echo $before[1]$line
  end
end

complete -c intarsia -f
)sh";

// A text between single quotes.
std::string fish_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return "'" + result + "'";
}

// The switches that offer values of this kind.
std::string fish_offer(const ValueKind& value) {
  using From = ValueKind::From;
  switch (value.from) {
    case From::Anything:
      return "-x";
    case From::File:
      return "-r -F";
    case From::Folder:
      return "-x -a '(__fish_complete_directories)'";
    case From::Words:
      return fmt::format("-x -a '{}'", fmt::join(value.words, " "));
    case From::Boards:
      return "-x -a '(__intarsia_values boards; __fish_complete_directories)'";
    case From::Targets:
      return "-x -a '(__intarsia_targets targets)'";
    case From::TargetsKinds:
      return "-x -a '(__intarsia_targets targets-and-kinds)'";
    case From::StatusCodes:
      return "-x -a '(__intarsia_values codes)'";
  }
  return "-x";
}

std::string complete_line(const std::string& condition, const OptionPage& option) {
  std::string text = fmt::format("complete -c intarsia -n '{}'", condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) text += " " + fish_offer(option.value);
  return text + " -d " + fish_text(option.text) + "\n";
}

}  // namespace

std::string fish_completion(const ProgramPages& pages) {
  std::string text(kFishBeginning);
  for (const OptionPage& option : pages.options)
    text += complete_line("__fish_use_subcommand", option);
  for (const CommandPage& command : pages.commands) {
    const std::string inside = "__fish_seen_subcommand_from " + command.name;
    text += fmt::format("\ncomplete -c intarsia -n __fish_use_subcommand -a {} -d {}\n",
                        command.name, fish_text(command.summary));
    for (const OptionPage& argument : command.arguments)
      text += fmt::format(
          "complete -c intarsia -n '{}' {}\n", inside,
          argument.value.from == ValueKind::From::File ? "-F" : fish_offer(argument.value));
    for (const OptionGroup& group : command.groups)
      for (const OptionPage& option : group.options) text += complete_line(inside, option);
  }
  return text;
}

}  // namespace intarsia::cli
