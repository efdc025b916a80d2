#include <fmt/format.h>

#include "commands.h"
#include "requests/board_list.h"
#include "support/amounts.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

// What its programs are run in.
std::string runs_in(const board::Board& board) {
  if (board.native()) return "this machine, simulated devices too";
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

}  // namespace

int run_boards(Context& context, const std::string& name, bool json) {
  const Result<std::vector<board::Board>> found = requests::boards_named(context, name);
  if (!found.ok()) return fail(found.error());
  const std::vector<board::Board>& boards = *found;
  if (json) {
    fmt::print("{}", requests::boards_json(boards));
    return kDone;
  }
  if (!name.empty()) {
    print_board(boards.front());
    return kDone;
  }
  std::vector<TableRow> rows;
  for (const board::Board& board : boards)
    rows.push_back({{board.name, Tint::Name}, {board.summary}});
  fmt::print("{}", table_text(rows, output_terminal()));
  return kDone;
}

}  // namespace intarsia::cli
