#include "manual_command.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "commands.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

// A line each: the value, a tab, and what it is. Boards that cannot be read are left out: completion has no place for
// messages.
std::string board_values(const Context& context) {
  std::string text;
  const Result<std::vector<std::string>> folders = context.board_folders();
  if (!folders.ok()) return text;
  std::set<std::string> known;
  for (const std::string& folder : *folders)
    for (const std::string& name : board::list_boards(folder)) {
      if (!known.insert(name).second) continue;
      const Result<board::Board> board = board::find_board(*folders, name);
      if (board.ok()) text += fmt::format("{}\t{}\n", name, board->summary);
    }
  return text;
}

std::string target_values(const TargetCatalogue& catalogue, bool with_kinds) {
  std::string text;
  if (with_kinds)
    for (const KindSpec& kind : catalogue.kinds())
      text += fmt::format("{}\t{}\n", kind.name, kind.summary);
  for (const TagSpec& tag : catalogue.tags())
    text += fmt::format("{}\t{}\n", tag.name, tag.summary);
  return text;
}

std::string values_text(const Context& context, const std::string& what) {
  if (what == "boards") return board_values(context);
  if (what == "codes") return status_code_lines();
  return target_values(context.registry.catalogue(), what == "targets-and-kinds");
}

// Where shells look for scripts below a prefix's share.
std::vector<NamedText> completion_files(const ProgramPages& pages) {
  return {{"bash-completion/completions/intarsia", bash_completion(pages)},
          {"zsh/site-functions/_intarsia", zsh_completion(pages)},
          {"fish/vendor_completions.d/intarsia.fish", fish_completion(pages)}};
}

Result<void> write_files(const std::string& folder, const std::vector<NamedText>& files) {
  for (const NamedText& file : files) {
    const fs::path path = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return Diagnostics(path.parent_path().string(), "cannot be made: " + error.message(),
                         "check the path and its permissions");
    INTARSIA_TRY_VOID(write_file(path.string(), file.text));
  }
  return {};
}

}  // namespace

int run_completion(Context& context, const CompletionCommand& command, const ProgramPages& pages) {
  if (!command.values.empty()) {
    fmt::print("{}", values_text(context, command.values));
    return kDone;
  }
  if (command.shell.empty()) {
    fmt::print(stderr, "SHELL is required: bash, zsh or fish\n");
    return kUsage;
  }
  fmt::print("{}", command.shell == "bash"  ? bash_completion(pages)
                   : command.shell == "zsh" ? zsh_completion(pages)
                                            : fish_completion(pages));
  return kDone;
}

int run_manual(const ManualCommand& command, const ProgramPages& pages) {
  if (command.markdown) fmt::print("{}", markdown_reference(pages));
  Result<void> written;
  if (!command.man_folder.empty()) written = write_files(command.man_folder, man_pages(pages));
  if (written.ok() && !command.completion_folder.empty())
    written = write_files(command.completion_folder, completion_files(pages));
  if (!written.ok()) return fail(written.error());
  if (command.markdown || !command.man_folder.empty() || !command.completion_folder.empty())
    return kDone;
  fmt::print(stderr, "one of --man, --markdown and --completion is required\n");
  return kUsage;
}

}  // namespace intarsia::cli
