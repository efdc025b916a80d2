// docs/command-line.md: the pages of all commands.
#include <fmt/format.h>

#include "command_page.h"

namespace intarsia::cli {
namespace {

// A cell of a table: no line feeds, no bars that end it, no words that would be taken for HTML.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "<br>";
    else if (c == '|' || c == '*' || c == '_')
      result += std::string("\\") + c;
    else if (c == '<')
      result += "&lt;";
    else
      result += c;
  }
  return result;
}

std::string table_of(const std::vector<OptionPage>& options, const char* title) {
  std::string text = fmt::format("| {} | |\n|---|---|\n", title);
  for (const OptionPage& option : options)
    text += fmt::format("| `{}` | {} |\n", spelled(option), cell(option_text(option)));
  return text;
}

std::string examples_block(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string text = "\n```sh not run: names stand for files of yours\n";
  for (const Example& example : examples)
    text += fmt::format("# {}\n{}\n", example.what, example.command);
  return text + "```\n";
}

std::string section_of(const CommandPage& command) {
  std::string text = fmt::format("\n## intarsia {}\n\n{}.\n\n    {}\n", command.name,
                                 command.summary, synopsis(command));
  // The first letter of a sentence.
  const size_t at = text.find(command.summary);
  if (text[at] >= 'a' && text[at] <= 'z') text[at] = static_cast<char>(text[at] - 'a' + 'A');
  if (!command.text.empty()) text += "\n" + command.text + "\n";
  text += examples_block(command.examples);
  if (!command.arguments.empty()) text += "\n" + table_of(command.arguments, "argument");
  for (const OptionGroup& group : command.groups)
    text += "\n" + table_of(group.options, group.title.c_str());
  return text;
}

}  // namespace

std::string markdown_reference(const ProgramPages& pages) {
  std::string text =
      "# The command line\n\n"
      "This page is what `intarsia manual --markdown` prints, made from what `intarsia COMMAND "
      "--help` says; a test compares\n"
      "the two. `intarsia manual --man FOLDER` writes man pages of the same text, and an installed "
      "Intarsia has them in\n"
      "`share/man`. `intarsia completion bash`, `zsh` or `fish` prints what makes a shell complete "
      "commands, options and their\n"
      "values; an installed Intarsia has that in the folders where these shells look.\n\n"
      "| command | |\n|---|---|\n";
  for (const auto& [title, commands] : grouped_commands(pages))
    for (const CommandPage* command : commands)
      text += fmt::format("| [{}](#intarsia-{}) | {} |\n", command->name, command->name,
                          cell(command->summary));
  text += "\n" + table_of(pages.options, "option");
  text += examples_block(pages.examples);
  text += "\n| exit status | |\n|---|---|\n";
  for (const NamedText& code : pages.exit_codes)
    text += fmt::format("| {} | {} |\n", code.name, cell(code.text));
  text += "\n| environment | |\n|---|---|\n";
  for (const NamedText& variable : pages.environment)
    text += fmt::format("| `{}` | {} |\n", variable.name, cell(variable.text));
  for (const CommandPage& command : pages.commands) text += section_of(command);
  return text;
}

}  // namespace intarsia::cli
