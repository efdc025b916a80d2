// What is wrong with a command line, in our words: the parser's own are about its types.
#pragma once

#include <CLI/CLI.hpp>

#include "intarsia/diagnostics.h"

namespace intarsia::cli {

// `command` is the one that was asked for, or the program itself.
Diagnostics usage_problems(const CLI::App& command, const CLI::ParseError& error);

}  // namespace intarsia::cli
