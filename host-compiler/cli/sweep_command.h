// Many choices at once: what each takes, and which no other one beats.
#pragma once

#include <string>
#include <vector>

#include "context.h"

namespace intarsia::cli {

struct SweepCommand {
  CommonOptions common;  // without model, target, board and budget, of which there are several
  std::vector<std::string> models, targets, boards, ram_budgets, attributes;
  std::vector<std::string> by;  // names of figures
  bool no_measure = false;
  bool csv = false;
  unsigned jobs = 0;  // 0: by the number of cores
  std::string output_file, plot_file;
};
// kUserError too when no choice can be had.
int run_sweep(Context& context, const SweepCommand& command);

// A word of --ram-budget, for the parser.
std::string check_budget(const std::string& text);
std::vector<std::string> figure_names();

}  // namespace intarsia::cli
