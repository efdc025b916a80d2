// Runs another program: arguments as a vector, no shell, output captured, a time limit.
// After a timeout the program and those that it started in turn are asked to end, and soon after killed.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "intarsia/result.h"

namespace intarsia {

struct ProcessOptions {
  std::string directory;                 // working directory; empty: ours
  std::chrono::milliseconds timeout{0};  // 0: none
  std::function<void()> on_wait;         // called about ten times a second while it runs
  // Asked as often, and ends the program by saying no, beside the watch of this thread (intarsia/watch.h).
  std::function<bool()> is_wanted;
  // NAME=VALUE, beside what our own environment holds; a name that is there already gets this value.
  std::vector<std::string> environment;
};

struct ProcessOutcome {
  int exit_code = -1;  // when it exited by itself
  int signal = 0;      // otherwise, what ended it
  bool timed_out = false;
  std::string out;
  std::string err;

  bool succeeded() const { return exit_code == 0 && signal == 0 && !timed_out; }
  // "exit status 3", "signal 6 (Aborted)", "stopped after its time limit": for a diagnostic.
  std::string ending() const;
};

// `command[0]` is looked up in PATH. Standard input is empty. A failure means that the program
// could not be started, or that nobody wants it any more (intarsia/watch.h); a program that ran and failed is an outcome.
Result<ProcessOutcome> run_process(const std::vector<std::string>& command,
                                   const ProcessOptions& options = {});

// The command as one would type it, quoted where needed: for messages.
std::string command_line_text(const std::vector<std::string>& command);

}  // namespace intarsia
