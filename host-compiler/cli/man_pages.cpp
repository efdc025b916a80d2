// Man pages in the man macros, which groff and mandoc both read.
#include <fmt/format.h>

#include "command_page.h"

namespace intarsia::cli {
namespace {

// Text that troff takes as it is: no escape, no request at the beginning of a line, hyphens that stay '-'.
std::string roff(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\n')
      result += "\n.br\n";
    else
      result += c;
  }
  return result;
}

// An argument of a macro.
std::string roff_argument(const std::string& text) {
  std::string result = "\"";
  for (const char c : roff(text)) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string title_line(const std::string& name, const std::string& version) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return fmt::format(".TH {} 1 \"\" {} {}\n.SH NAME\n", roff_argument(upper),
                     roff_argument("Intarsia " + version), roff_argument("Intarsia"));
}

std::string tagged(const std::string& name, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(text));
}

std::string options_text(const std::vector<OptionPage>& options) {
  std::string text;
  for (const OptionPage& option : options) text += tagged(spelled(option), option_text(option));
  return text;
}

std::string examples_text(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : examples) text += tagged(example.command, example.what);
  return text;
}

std::string environment_text(const ProgramPages& pages) {
  std::string text = ".SH ENVIRONMENT\n";
  for (const NamedText& variable : pages.environment) text += tagged(variable.name, variable.text);
  return text;
}

std::string exit_text(const ProgramPages& pages) {
  std::string text = ".SH EXIT STATUS\n";
  for (const NamedText& code : pages.exit_codes) text += tagged(code.name, code.text);
  return text;
}

std::string program_page(const ProgramPages& pages) {
  std::string text = title_line("intarsia", pages.version) + "intarsia \\- " + roff(pages.summary) +
                     "\n.SH SYNOPSIS\n.B intarsia\nCOMMAND [options]\n.SH COMMANDS\n";
  for (const auto& [title, commands] : grouped_commands(pages)) {
    text += ".SS " + roff_argument(title) + "\n";
    for (const CommandPage* command : commands)
      text += tagged("intarsia-" + command->name + "(1)", command->summary);
  }
  return text + ".SH OPTIONS\n" + options_text(pages.options) + examples_text(pages.examples) +
         environment_text(pages) + exit_text(pages);
}

std::string command_page(const ProgramPages& pages, const CommandPage& command) {
  std::string text = title_line("intarsia-" + command.name, pages.version) +
                     fmt::format("intarsia-{} \\- {}\n.SH SYNOPSIS\n{}\n", roff(command.name),
                                 roff(command.summary), roff(synopsis(command)));
  if (!command.text.empty()) text += ".SH DESCRIPTION\n" + roff(command.text) + "\n";
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n" + options_text(command.arguments);
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : command.groups)
    text += ".SS " + roff_argument(group.title) + "\n" + options_text(group.options);
  return text + examples_text(command.examples) + exit_text(pages) +
         ".SH SEE ALSO\n.BR intarsia (1)\n";
}

}  // namespace

std::vector<NamedText> man_pages(const ProgramPages& pages) {
  std::vector<NamedText> files{{"intarsia.1", program_page(pages)}};
  for (const CommandPage& command : pages.commands)
    files.push_back({fmt::format("intarsia-{}.1", command.name), command_page(pages, command)});
  return files;
}

}  // namespace intarsia::cli
