#include <fmt/format.h>

#include "commands.h"
#include "requests/board_list.h"

namespace intarsia::cli {
namespace {

void print_board(const board::Board& board) {
  fmt::print("{}: {}\n", board.name, board.summary);
  for (const board::Core& core : board.cores) fmt::print("  core {}\n", core.name);
  for (const board::Memory& memory : board.memories)
    fmt::print("  {:<8} {:<5} {:#010x} {:>10} bytes, {} for a model\n", memory.name,
               memory.kind == board::MemoryKind::Flash ? "flash" : "ram", memory.base, memory.size,
               board::available(board, memory));
}

}  // namespace

int run_boards(Context& context, const std::string& name, bool json) {
  const Result<std::vector<board::Board>> boards = requests::boards_named(context, name);
  if (!boards.ok()) return fail(boards.error());
  if (json) {
    fmt::print("{}", requests::boards_json(*boards));
    return kDone;
  }
  for (const board::Board& board : *boards)
    if (name.empty())
      fmt::print("{:<14} {}\n", board.name, board.summary);
    else
      print_board(board);
  return kDone;
}

}  // namespace intarsia::cli
