// What a well-spelled board.json must also satisfy.
#pragma once

#include <string>

#include "intarsia/board.h"

namespace intarsia::board {

void validate_board(const Board& board, const std::string& where, Diagnostics& problems);

}  // namespace intarsia::board
