// A script for zsh, on its _arguments and _describe.
#include <fmt/format.h>

#include "command_page.h"

namespace intarsia::cli {
namespace {

constexpr std::string_view kZshBeginning = R"sh(#compdef intarsia
# zsh completion for intarsia, made by 'intarsia completion zsh'.

# What the program knows: boards, targets, codes; each with what it is.
_intarsia_values() {
  local -a found
  local tab=$'\t'
  found=("${(@f)$($_intarsia_program completion --values $1 2> /dev/null)}")
  found=("${(@)found//:/\\:}")
  found=("${(@)found/$tab/:}")
  _describe -t $1 $1 found
}

_intarsia_boards() {
  _alternative 'boards:board: _intarsia_values boards' 'folders:folder of a board:_files -/'
}

_intarsia_targets() {
  # A target is several tags with '+' between them.
  compset -P '*+'
  _intarsia_values ${1:-targets}
}

_intarsia() {
  local context state state_descr line _intarsia_program=$words[1]
  typeset -A opt_args
  local -a commands
)sh";

// Text between single quotes, in which _arguments takes [, ] and : for its own.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += ' ';
    } else if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

// Words behind a blank are called as they are; else options for compadd come between.
std::string zsh_action(const ValueKind& value) {
  using From = ValueKind::From;
  switch (value.from) {
    case From::Anything:
      return " ";
    case From::File:
      return "_files";
    case From::Folder:
      return "_files -/";
    case From::Words:
      return fmt::format("({})", fmt::join(value.words, " "));
    case From::Boards:
      return " _intarsia_boards";
    case From::Targets:
      return " _intarsia_targets";
    case From::TargetsKinds:
      return " _intarsia_targets targets-and-kinds";
    case From::StatusCodes:
      return " _intarsia_values codes";
  }
  return " ";
}

// One specification for each name: '(--output -o)--output=[TEXT]:FOLDER:_files -/'.
std::string specifications(const OptionPage& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const std::string others =
        option.may_repeat ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    const bool is_long = name.starts_with("--");
    text += fmt::format(" \\\n        '{}{}{}[{}]", others, name,
                        !option.takes_value ? ""
                        : is_long           ? "="
                                            : "+",
                        zsh_text(option.text));
    if (option.takes_value)
      text += fmt::format(":{}:{}", zsh_text(option.value.name), zsh_action(option.value));
    text += "'";
  }
  return text;
}

}  // namespace

std::string zsh_completion(const ProgramPages& pages) {
  std::string text(kZshBeginning);
  text += "  commands=(\n";
  for (const CommandPage& command : pages.commands)
    text += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
  text += "  )\n  _arguments -C";
  for (const OptionPage& option : pages.options) text += specifications(option);
  text +=
      " \\\n        '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe -t commands command commands ;;\n"
      "    argument)\n      case $words[1] in\n";
  for (const CommandPage& command : pages.commands) {
    text += fmt::format("        {})\n          _arguments", command.name);
    for (const OptionGroup& group : command.groups)
      for (const OptionPage& option : group.options) text += specifications(option);
    for (size_t i = 0; i < command.arguments.size(); ++i)
      text += fmt::format(
          " \\\n        '{}{}{}:{}'", i + 1,
          command.arguments[i].is_required ? ":" : "::", zsh_text(command.arguments[i].value.name),
          zsh_action(command.arguments[i].value));
    text += "\n          ;;\n";
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n_intarsia \"$@\"\n";
}

}  // namespace intarsia::cli
