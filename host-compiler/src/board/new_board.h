// A board of a user's own, as a folder to begin with: that of another board, under another name.
#pragma once

#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/plugin/artifacts.h"

namespace intarsia::board {

struct NewBoard {
  std::string name;        // also of the folder
  std::string like;        // name or path of the board to begin with
  bool own_files = false;  // linker script and startup code are written too, to be changed by hand
};

// What is wrong with a board's name; empty: nothing.
std::string board_name_problem(const std::string& name);

// The files of its folder. `folders`: where `like` is looked for; `root`: as for support_sources().
Result<std::vector<SourceFile>> new_board_files(const NewBoard& wanted,
                                                const std::vector<std::string>& folders,
                                                const std::string& root);

}  // namespace intarsia::board
