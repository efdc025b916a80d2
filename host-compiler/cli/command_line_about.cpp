// Commands about the program itself: which targets and boards there are, its manual, and completion in shells.
#include "command_line.h"

#include <optional>

#include "common_options.h"
#include "targets_command.h"

namespace intarsia::cli {
namespace {

constexpr const char *kKnown = "What there is", *kShell = "Manual and shell";

}  // namespace

void CommandLine::add_targets() {
  DescribedCommand& command =
      add("targets", kKnown, "kinds of targets, their attributes, and tags");
  command.example("intarsia targets " + example_.kind, "the attributes of a kind");
  command.example("intarsia targets " + example_.composed, "what a target stands for");
  command.argument(target_name_, {"NAME", ValueKind::From::TargetsKinds},
                   "a kind, a tag or a whole target");
  command.group("Other");
  command.option("--tags", tags_file_, file_value(), "a JSON file of your own target tags");
  add_json(command, json_, "as JSON");
  command.app().callback([&] {
    if (!tags_file_.empty()) {
      const Result<void> loaded = context_.registry.catalogue().load_tags_file(tags_file_);
      if (!loaded.ok()) {
        exit_code_ = fail(loaded.error());
        return;
      }
    }
    exit_code_ = run_targets_command(
        context_.registry.catalogue(),
        target_name_.empty() ? std::nullopt : std::optional(target_name_), json_);
  });
}

void CommandLine::add_boards() {
  DescribedCommand& command =
      add("boards", kKnown, "boards and their memories; 'boards new' begins one of your own");
  command.example("intarsia boards mps2-an386", "a board's cores and memories");
  command.example("intarsia boards new my-board --like mps2-an386",
                  "the folder my-board with a copy to change: docs/adding-a-board.md");
  command.argument(boards_.name, {"NAME", ValueKind::From::Boards},
                   "a board, or the path of a board's folder; new: write one");
  command.argument(boards_.new_name, folder_value(),
                   "after 'new': the folder, called as the board");
  command.group("A new board");
  command
      .option("--like", boards_.like, {"BOARD", ValueKind::From::Boards},
              "the board that it is made from, which it is until you change it")
      ->check(not_empty);
  command.flag("--own-files", boards_.own_files,
               "write linker script and startup code too, to be changed by hand instead of being "
               "made from board.json");
  add_json(command, boards_.json, "as JSON");
  command.app().callback([&] { exit_code_ = run_boards(context_, boards_); });
}

void CommandLine::add_completion() {
  DescribedCommand& command =
      add("completion", kShell, "a script that completes command lines in a shell");
  command.explain(
      "An installed Intarsia has the scripts where these shells look for them. They ask the "
      "program for its "
      "boards and targets: those of INTARSIA_BOARDS too.");
  command.example("source <(intarsia completion bash)", "for this bash");
  command.example("intarsia completion zsh > ~/.zfunc/_intarsia", "a folder of $fpath, for zsh");
  command.example("intarsia completion fish > ~/.config/fish/completions/intarsia.fish",
                  "for fish");
  command
      .argument(completion_.shell, word_value("SHELL", {"bash", "zsh", "fish"}),
                "bash, zsh or fish")
      ->check(one_of({"bash", "zsh", "fish"}));
  // Asked by the scripts: of no group, so on no page.
  command.group("");
  command.option("--values", completion_.values, any_value("WHAT"), "")
      ->check(one_of({"boards", "targets", "targets-and-kinds", "codes"}));
  command.app().callback([&] { exit_code_ = run_completion(context_, completion_, pages()); });
}

void CommandLine::add_manual() {
  DescribedCommand& command =
      add("manual", kShell, "man pages of all commands, or one page of Markdown");
  command.example("intarsia manual --man ~/.local/share/man/man1", "then 'man intarsia-compile'");
  command.group("What is written");
  command.option("--man", manual_.man_folder, folder_value(), "man pages into this folder")
      ->check(not_empty);
  command
      .option("--completion", manual_.completion_folder, folder_value(),
              "the scripts of 'completion', each where its shell looks below a prefix's share")
      ->check(not_empty);
  command.flag("--markdown", manual_.markdown, "print docs/command-line.md");
  command.app().callback([&] { exit_code_ = run_manual(manual_, pages()); });
}

}  // namespace intarsia::cli
