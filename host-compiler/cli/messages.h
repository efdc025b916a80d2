// Problems and notes on standard error, and the exit codes that go with them.
#pragma once

#include <string_view>

#include "intarsia/diagnostics.h"

namespace intarsia::cli {

// Exit codes of the command line; scripts rely on them.
enum ExitCode { kDone = 0, kUserError = 1, kUsage = 2, kInternalError = 3 };

// Prints each problem on a line of its own and returns kUserError.
int fail(const Diagnostics& problems);
void print_errors(const Diagnostics& problems);

// "note: TEXT", a line of its own.
void print_note(std::string_view text);

}  // namespace intarsia::cli
