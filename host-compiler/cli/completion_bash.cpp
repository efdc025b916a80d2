// A script for bash: one function, which needs no other package. Values that a user's boards and tags decide are asked of
// the program itself.
#include <fmt/format.h>

#include "command_page.h"

namespace intarsia::cli {
namespace {

constexpr std::string_view kBashBeginning =
    R"sh(# bash completion for intarsia, made by 'intarsia completion bash'.

# Words of the second argument that begin with what is typed; what stays before them is the third.
_intarsia_words() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    [[ -n $word && $word == "$1"* ]] && COMPREPLY+=("${3-}$word")
  done <<< "$2"
}

_intarsia_files() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

# What the program knows: boards, targets, codes.
_intarsia_values() {
  local before=
  # A target is several tags with '+' between them.
  if [[ $1 == targets && $2 == *+* ]]; then before=${2%+*}+; fi
  _intarsia_words "${2#"$before"}" "$("${COMP_WORDS[0]}" completion --values "$1" 2> /dev/null | cut -f 1)" "$before"
  if [[ $1 == boards && ( $2 == */* || $2 == .* ) ]]; then _intarsia_files -d "$2"; fi
}

_intarsia() {
  local current=${COMP_WORDS[COMP_CWORD]} previous= command= i
  if ((COMP_CWORD > 0)); then previous=${COMP_WORDS[COMP_CWORD - 1]}; fi
  # --option=value is three words.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  COMPREPLY=()
)sh";

// The bash words that offer values of this kind.
std::string offer(const ValueKind& value) {
  using From = ValueKind::From;
  switch (value.from) {
    case From::Anything:
      return ":";
    case From::File:
      return "_intarsia_files -f \"$current\"";
    case From::Folder:
      return "_intarsia_files -d \"$current\"";
    case From::Words:
      return fmt::format("_intarsia_words \"$current\" $'{}'", fmt::join(value.words, "\\n"));
    case From::Boards:
      return "_intarsia_values boards \"$current\"";
    case From::Targets:
      return "_intarsia_values targets \"$current\"";
    case From::TargetsKinds:
      return "_intarsia_values targets-and-kinds \"$current\"";
    case From::StatusCodes:
      return "_intarsia_values codes \"$current\"";
  }
  return ":";
}

std::string names_of(const std::vector<OptionPage>& options) {
  std::string text;
  for (const OptionPage& option : options)
    for (const std::string& name : option.names) text += (text.empty() ? "" : "\\n") + name;
  return text;
}

std::string values_of(const CommandPage& command) {
  std::string text;
  for (const OptionGroup& group : command.groups)
    for (const OptionPage& option : group.options)
      if (option.takes_value)
        text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, " | "),
                            offer(option.value));
  return text.empty() ? "" : "      case $previous in\n" + text + "      esac\n";
}

std::string case_of(const CommandPage& command) {
  std::vector<OptionPage> options;
  for (const OptionGroup& group : command.groups)
    options.insert(options.end(), group.options.begin(), group.options.end());
  std::string text = fmt::format("    {})\n{}", command.name, values_of(command));
  text += fmt::format(
      "      if [[ $current == -* ]]; then\n        _intarsia_words \"$current\" $'{}'\n",
      names_of(options));
  if (!command.arguments.empty())
    text += "      else\n        " + offer(command.arguments.front().value) + "\n";
  return text + "      fi\n      ;;\n";
}

}  // namespace

std::string bash_completion(const ProgramPages& pages) {
  std::string names;
  for (const CommandPage& command : pages.commands) names += command.name + "\\n";
  std::string text = std::string(kBashBeginning) + "  case $command in\n";
  text += fmt::format("    '') _intarsia_words \"$current\" $'{}{}' ;;\n", names,
                      names_of(pages.options));
  for (const CommandPage& command : pages.commands) text += case_of(command);
  return text + "  esac\n}\n\ncomplete -F _intarsia intarsia\n";
}

}  // namespace intarsia::cli
