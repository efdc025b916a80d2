// `intarsia completion` and `intarsia manual`: what the pages of the commands become.
#pragma once

#include <string>

#include "command_page.h"
#include "context.h"

namespace intarsia::cli {

struct CompletionCommand {
  std::string shell;   // bash, zsh, fish
  std::string values;  // what the scripts ask: boards, targets, targets-and-kinds, codes
};
int run_completion(Context& context, const CompletionCommand& command, const ProgramPages& pages);

struct ManualCommand {
  std::string man_folder, completion_folder;
  bool markdown = false;
};
int run_manual(const ManualCommand& command, const ProgramPages& pages);

}  // namespace intarsia::cli
