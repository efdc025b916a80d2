// Many choices at once: every model, compiled for every target on every board within every budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "requests/environment.h"
#include "requests/select.h"
#include "requests/sweep_row.h"

namespace intarsia::requests {

struct SweepRequest {
  ModelOptions options;              // of every row, but for what is listed below
  std::vector<std::string> models;   // paths
  std::vector<std::string> targets;  // as ModelOptions::target; none: each board's own core
  // As ModelOptions::board; none: this machine where there are targets, else every other board that there is.
  std::vector<std::string> boards;
  std::vector<SweepBudget> ram_budgets;  // none: no budget
  // NAME=VALUE,VALUE...: an attribute of devices. Each target that has such a device is taken with every value, the
  // others once.
  std::vector<std::string> attributes;
  bool measures = true;  // code and stack, on boards with a cross compiler
  unsigned jobs = 1;     // threads; 0: by the number of cores
  std::function<void(size_t ready, size_t all)> on_progress = {};  // by one thread at a time
};

// A row for each model, target, value of attributes, board and budget, in that order whatever the number of jobs; what is
// named twice counts once. Models that cannot be read, and targets, boards and attributes that there are not, are problems
// before anything is compiled. A combination that cannot be had is a row with its error.
Result<std::vector<SweepRow>> sweep(Environment& environment, const SweepRequest& request);

// What models are called in a sweep: by their files' names without what is behind the last dot, and by their paths where
// that is taken.
std::vector<std::string> sweep_names(const std::vector<std::string>& paths);

}  // namespace intarsia::requests
