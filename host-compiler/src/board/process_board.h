// Boards whose programs are processes of an operating system.
#pragma once

#include "intarsia/board.h"

namespace intarsia::board {

// The machine that compiles, which takes code for any core of its own. Other boards of the port stdio have a compiler of
// their own, the cores that it knows, and an emulator of processes where they are another machine.
inline bool is_this_machine(const Board& board) {
  return board.native() && board.cores.empty();
}

}  // namespace intarsia::board
