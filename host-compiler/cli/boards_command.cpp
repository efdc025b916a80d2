#include <filesystem>

#include <fmt/format.h>

#include "board/new_board.h"
#include "commands.h"
#include "requests/board_list.h"
#include "support/amounts.h"
#include "support/files.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

// What its programs are run in.
std::string runs_in(const board::Board& board) {
  if (board.native() && board.emulator)
    return fmt::format("{}, simulated devices too", board.emulator->program);
  if (board.native()) return "this machine, simulated devices too";
  if (board.probe)
    return fmt::format("the board itself, by the debug probe at {}:{}", board.probe->host,
                       board.probe->port);
  if (!board.emulator) return "nothing from here: 'build' makes a program for a debug probe";
  return fmt::format("{} -M {}{}", board.emulator->program, board.emulator->machine,
                     board.takes_simulated_devices() ? ", simulated devices beside it" : "");
}

void print_board(const board::Board& board) {
  const Terminal& terminal = output_terminal();
  fmt::print("{}: {}\n", tinted(terminal, Tint::Heading, board.name), board.summary);
  std::vector<TableRow> rows;
  for (const board::Core& core : board.cores) rows.push_back({{"core", Tint::Name}, {core.name}});
  rows.push_back({{"runs in", Tint::Name}, {runs_in(board)}});
  fmt::print("{}", table_text(rows, terminal, {.indent = 2}));
  if (board.memories.empty()) return;
  rows = {{{"memory"}, {"kind"}, {"base"}, {"bytes"}, {""}, {"for a model"}, {""}}};
  for (const board::Memory& memory : board.memories) {
    const auto free = static_cast<int64_t>(board::available(board, memory));
    rows.push_back({{memory.name, Tint::Name},
                    {memory.kind == board::MemoryKind::Flash ? "flash" : "ram"},
                    {fmt::format("{:#010x}", memory.base)},
                    {fmt::format("{}", memory.size)},
                    {readable_room(static_cast<int64_t>(memory.size))},
                    {fmt::format("{}", free)},
                    {readable_room(free)}});
  }
  fmt::print("{}",
             table_text(rows, terminal, {.indent = 2, .has_heading = true, .right = {3, 4, 5, 6}}));
}

Result<void> check_words(const BoardsCommand& command) {
  const bool is_new = command.name == kNewBoard;
  if (is_new && command.new_name.empty())
    return Diagnostics("boards new", "the new board has no name",
                       "for example: intarsia boards new my-board --like mps2-an386");
  if (is_new && command.like.empty())
    return Diagnostics("boards new", "it is not said which board the new one is made from",
                       "name one with --like; 'intarsia boards' lists them");
  if (is_new) return {};
  if (!command.new_name.empty())
    return Diagnostics("boards",
                       fmt::format("shows one board: '{}' is one word too many", command.new_name),
                       "'intarsia boards new NAME --like BOARD' writes one");
  if (!command.like.empty() || command.own_files)
    return Diagnostics(command.like.empty() ? "--own-files" : "--like",
                       "is of a board that is written",
                       "'intarsia boards new NAME --like BOARD' writes one");
  return {};
}

// What is said of --board where another word of the command line names the board.
Diagnostics said_of(const std::string& word, const Diagnostics& problems) {
  Diagnostics said;
  for (const Diagnostic& problem : problems.items())
    said.add(problem.where == "--board" ? word : problem.where, problem.what, problem.hint);
  return said;
}

// A folder of that name, which must not be there with anything in it.
Result<int> write_board(Context& context, const BoardsCommand& command) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(command.new_name).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::string name = folder.filename().string();
  if (const std::string problem = board::board_name_problem(name); !problem.empty())
    return Diagnostics("boards new", fmt::format("'{}' {}", name, problem), "for example my-board");
  std::error_code error;
  if (fs::exists(folder, error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    return Diagnostics(folder.string(), "is there already",
                       "choose another name, or remove what is there");
  INTARSIA_TRY(const std::vector<std::string> folders, context.board_folders());
  const Result<std::vector<SourceFile>> files = board::new_board_files(
      {name, command.like, command.own_files}, folders, context.resource_root);
  if (!files.ok()) return said_of("--like", files.error());
  INTARSIA_TRY_VOID(write_folder(folder.string(), *files));
  const std::string path =
      folder.string().find('/') == std::string::npos ? "./" + folder.string() : folder.string();
  fmt::print("{}: a board like {}; its README.md says what to change\n", folder.string(),
             command.like);
  fmt::print("'intarsia boards {}' shows it, and '--board {}' takes it\n", path, path);
  return static_cast<int>(kDone);
}

Result<int> show_boards(Context& context, const BoardsCommand& command) {
  const Result<std::vector<board::Board>> named = requests::boards_named(context, command.name);
  if (!named.ok()) return said_of("boards", named.error());
  const std::vector<board::Board>& boards = *named;
  if (command.json) {
    fmt::print("{}", requests::boards_json(boards));
    return static_cast<int>(kDone);
  }
  if (!command.name.empty()) {
    print_board(boards.front());
    return static_cast<int>(kDone);
  }
  std::vector<TableRow> rows;
  for (const board::Board& board : boards)
    rows.push_back({{board.name, Tint::Name}, {board.summary}});
  fmt::print("{}", table_text(rows, output_terminal()));
  return static_cast<int>(kDone);
}

Result<int> boards(Context& context, const BoardsCommand& command) {
  INTARSIA_TRY_VOID(check_words(command));
  return command.name == kNewBoard ? write_board(context, command) : show_boards(context, command);
}

}  // namespace

int run_boards(Context& context, const BoardsCommand& command) {
  const Result<int> result = boards(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
