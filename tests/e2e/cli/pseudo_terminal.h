// A program at a terminal that we hold the other end of.
#pragma once

#include <string>
#include <vector>

namespace intarsia::test {

struct ShownOnTerminal {
  int exit_code = -1;
  std::string bytes;                // everything that was written
  std::vector<std::string> screen;  // what is left to read at the end, without colours
};

// Standard output and standard error are the terminal. `environment`: NAME=VALUE beside our own.
ShownOnTerminal run_on_terminal(const std::vector<std::string>& command,
                                const std::string& directory, int columns,
                                const std::vector<std::string>& environment);

// The lines that a terminal shows for these bytes: carriage returns, erased lines, colours.
std::vector<std::string> screen_of(const std::string& bytes);

}  // namespace intarsia::test
