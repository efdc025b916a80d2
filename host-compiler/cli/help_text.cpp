// --help: pages as text for a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "command_page.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

// Text does not read better in wider lines.
constexpr size_t kWidest = 100;
constexpr size_t kIndent = 2, kTextAt = 26;

class HelpWriter {
 public:
  HelpWriter(int width, bool has_colours)
      : terminal_{true, has_colours, width},
        width_(std::min(kWidest, static_cast<size_t>(width))),
        // Narrow terminals have the text below the name.
        text_at_(width_ < 2 * kTextAt ? 2 * kIndent : kTextAt) {}

  void line(const std::string& text) { text_ += wrapped(text, width_, 0) + "\n"; }
  void heading(const std::string& title) {
    text_ += "\n" + tinted(terminal_, Tint::Heading, title + ":") + "\n";
  }
  void row(const std::string& name, const std::string& text) {
    text_ += std::string(kIndent, ' ') + tinted(terminal_, Tint::Name, name);
    size_t at = kIndent + columns_of(name);
    if (at + 2 > text_at_) {
      text_ += "\n";
      at = 0;
    }
    text_ += std::string(text_at_ - at, ' ') + wrapped(text, width_, text_at_, text_at_) + "\n";
  }
  void options(const std::string& title, const std::vector<OptionPage>& options) {
    if (options.empty()) return;
    heading(title);
    for (const OptionPage& option : options) row(spelled(option), option_text(option));
  }
  void examples(const std::vector<Example>& examples) {
    if (examples.empty()) return;
    heading("Examples");
    for (const Example& example : examples) {
      text_ += std::string(kIndent, ' ') + tinted(terminal_, Tint::Name, example.command) + "\n";
      text_ += std::string(3 * kIndent, ' ') +
               wrapped(example.what, width_, 3 * kIndent, 3 * kIndent) + "\n";
    }
  }
  std::string take() { return std::move(text_); }

 private:
  Terminal terminal_;
  size_t width_, text_at_;
  std::string text_;
};

}  // namespace

std::string program_help(const ProgramPages& pages, int width, bool has_colours) {
  HelpWriter writer(width, has_colours);
  writer.line("Intarsia: " + pages.summary);
  writer.line("\nUsage: intarsia COMMAND [options]");
  for (const auto& [title, commands] : grouped_commands(pages)) {
    writer.heading(title);
    for (const CommandPage* command : commands) writer.row(command->name, command->summary);
  }
  writer.options("Options", pages.options);
  writer.examples(pages.examples);
  writer.heading("Environment");
  for (const NamedText& variable : pages.environment) writer.row(variable.name, variable.text);
  writer.line("\n'intarsia COMMAND --help' describes a command.");
  return writer.take();
}

std::string command_help(const CommandPage& command, int width, bool has_colours) {
  HelpWriter writer(width, has_colours);
  writer.line(fmt::format("intarsia {}: {}", command.name, command.summary));
  writer.line("\nUsage: " + synopsis(command));
  if (!command.text.empty()) writer.line("\n" + command.text);
  writer.examples(command.examples);
  writer.options("Arguments", command.arguments);
  for (const OptionGroup& group : command.groups) writer.options(group.title, group.options);
  return writer.take();
}

}  // namespace intarsia::cli
