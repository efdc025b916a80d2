// `intarsia plan PROBLEM.csv [--capacity N] -o OUT.csv`: the memory planner alone, on MiniMalloc's
// format. Writes the whole output file or leaves what was there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "intarsia/memory_plan.h"

namespace intarsia::cli {

struct PlanCommandOptions {
  std::string problem_path;
  std::string output_path;          // empty: only report
  std::optional<int64_t> capacity;  // none: the smallest peak that the limits allow to find
  plan::SearchLimits limits;
  bool json = false;
};

// The exit code: 0 a checked placement was written, 1 the input is wrong or does not fit.
int run_plan_command(const PlanCommandOptions& options);

}  // namespace intarsia::cli
