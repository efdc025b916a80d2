// Boards whose programs are processes of an operating system.
#pragma once

#include <string>

#include "intarsia/board.h"

namespace intarsia::board {

// The machine that compiles, which takes code for any core of its own. Other boards of the port stdio have a compiler of
// their own, the cores that it knows, and an emulator of processes where they are another machine.
inline bool is_this_machine(const Board& board) {
  return board.native() && board.cores.empty();
}

// Whether programs of a board for one of its cores are processes. The machine that compiles takes any core's name: its own
// core is "native", and others are those of processes where a board among `boards`, a folder of boards, says so.
bool runs_processes(const Board& board, const Core& core, const std::string& boards);

}  // namespace intarsia::board
