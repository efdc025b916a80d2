#include "board/process_board.h"

#include <algorithm>

namespace intarsia::board {

bool runs_processes(const Board& board, const Core& core, const std::string& boards) {
  if (!is_this_machine(board) || core.name == "native") return board.native();
  const std::vector<std::string> names = list_boards(boards);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Result<Board> other = find_board(boards, name);
    return other.ok() && other->native() && !is_this_machine(*other) &&
           core_for(*other, core.name).ok();
  });
}

}  // namespace intarsia::board
