// Why an emulator ended without having run the program, in the words of board.json.
#pragma once

#include <optional>

#include "intarsia/board.h"
#include "intarsia/diagnostics.h"
#include "support/process.h"

namespace intarsia::build {

// Nothing where the fault is not known to be the board's description. `outcome` is of the emulator, which failed.
std::optional<Diagnostics> emulator_failure(const board::Board& board,
                                            const ProcessOutcome& outcome);

// The names in what `-M help` prints: the first word of every line but the heading.
std::vector<std::string> machines_in(const std::string& help);

}  // namespace intarsia::build
