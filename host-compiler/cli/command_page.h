// What can be said about a command and its options. Help, shell completion, man pages and docs/command-line.md are made
// from these pages, and the pages from the options that the parser has (described_command.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace intarsia::cli {

// What may stand for a value: its name in a synopsis, and what a shell offers for it.
struct ValueKind {
  enum class From : uint8_t {
    Anything,  // that only the user knows
    File,
    Folder,
    Words,
    Boards,        // names of boards, or a folder
    Targets,       // tags, several of them with '+' between
    TargetsKinds,  // tags and kinds
    StatusCodes,   // of the runtime
  };
  std::string name = "VALUE";
  From from = From::Anything;
  std::vector<std::string> words = {};
};

struct OptionPage {
  std::vector<std::string> names;  // "-o", "--output"; of an argument none
  bool takes_value = true;
  ValueKind value;
  std::string text;
  std::string default_text;
  bool is_required = false;
  bool may_repeat = false;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionPage> options;
};

struct Example {
  std::string command, what;
};

struct CommandPage {
  std::string name;     // "compile"
  std::string group;    // of commands, on the program's page
  std::string summary;  // one line
  std::string text;     // further paragraphs; may be empty
  std::vector<OptionPage> arguments;
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
};

struct NamedText {
  std::string name, text;
};

struct ProgramPages {
  std::string version;
  std::string summary;
  std::vector<CommandPage> commands;
  std::vector<OptionPage> options;  // of the program itself
  std::vector<Example> examples;
  std::vector<NamedText> environment, exit_codes;
};

// "-o, --output FOLDER"; of an argument "MODEL".
std::string spelled(const OptionPage& option);
// "intarsia compile MODEL -o FOLDER [options]".
std::string synopsis(const CommandPage& command);
// The commands by their groups, in the order in which these are first met.
std::vector<std::pair<std::string, std::vector<const CommandPage*>>> grouped_commands(
    const ProgramPages& pages);
// The sentence that says the default and whether it may be repeated, behind the option's text.
std::string option_text(const OptionPage& option);

// As --help prints them, in lines of at most `width` columns; headings and names marked when `has_colours`.
std::string program_help(const ProgramPages& pages, int width, bool has_colours);
std::string command_help(const CommandPage& command, int width, bool has_colours);

// Man pages: by file name, "intarsia.1" and one for each command.
std::vector<NamedText> man_pages(const ProgramPages& pages);
// docs/command-line.md.
std::string markdown_reference(const ProgramPages& pages);

// A script that makes a shell complete the program's command lines.
std::string bash_completion(const ProgramPages& pages);
std::string zsh_completion(const ProgramPages& pages);
std::string fish_completion(const ProgramPages& pages);

}  // namespace intarsia::cli
