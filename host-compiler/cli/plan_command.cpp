#include "plan_command.h"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "messages.h"
#include "plan/asked_placement.h"
#include "progress_line.h"
#include "support/files.h"

namespace intarsia::cli {

namespace {

using plan::FitOutcome;
using plan::FitStatus;
using plan::PlacementProblem;
using plan::PlacementSolution;

int refuse(const Diagnostics& problems) {
  return fail(problems);
}

std::string quality(const PlacementSolution& best) {
  if (best.proven_optimal) return "proven optimal";
  return fmt::format("at most {} bytes above the optimum", best.peak - best.lower_bound);
}

const char* status_name(FitStatus status) {
  switch (status) {
    case FitStatus::Fits:
      return "fits";
    case FitStatus::ProvenNotToFit:
      return "does-not-fit";
    case FitStatus::BudgetEnded:
      return "budget-ended";
  }
  return "";
}

void print_report(const PlanCommandOptions& options, const PlacementProblem& problem,
                  const FitOutcome& outcome) {
  const PlacementSolution& best = outcome.best;
  if (options.json) {
    nlohmann::ordered_json report;
    report["problem"] = options.problem_path;
    report["buffers"] = problem.buffers.size();
    report["capacity"] = nullptr;
    if (options.capacity) report["capacity"] = *options.capacity;
    report["status"] = status_name(outcome.status);
    report["peak"] = best.peak;
    report["lower_bound"] = best.lower_bound;
    report["proven_optimal"] = best.proven_optimal;
    report["method"] = best.method;
    report["steps"] = best.steps;
    // A path need not be UTF-8.
    using Json = nlohmann::ordered_json;
    fmt::print("{}\n", report.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (outcome.status == FitStatus::Fits) {
    fmt::print("buffers      {}\n", problem.buffers.size());
    if (options.capacity) fmt::print("capacity     {}\n", *options.capacity);
    fmt::print("peak         {}\nlower bound  {}\nquality      {}\nmethod       {}\n", best.peak,
               best.lower_bound, quality(best), best.method);
  }
  std::fflush(stdout);
}

}  // namespace

int run_plan_command(const PlanCommandOptions& options) {
  const Result<std::string> text = read_text_file(options.problem_path);
  if (!text) return refuse(text.error());
  Result<PlacementProblem> read = plan::read_problem_csv(*text, options.problem_path);
  if (!read) return refuse(read.error());
  PlacementProblem problem = std::move(read).value();
  problem.capacity = options.capacity;

  plan::SearchLimits limits = options.limits;
  limits.on_progress = progress_listener();
  const Result<FitOutcome> outcome = plan::solve(problem, limits);
  clear_progress();
  if (!outcome) return refuse(outcome.error());
  if (outcome->status == FitStatus::Fits) {
    const Diagnostics faults = plan::check_placement(problem, outcome->best);
    INTARSIA_CHECK(faults.empty(), "a placement passes the checker: " + faults.to_string());
    if (!options.output_path.empty()) {
      const auto written =
          write_file(options.output_path, plan::write_solution_csv(problem, outcome->best));
      if (!written) return refuse(written.error());
    }
  }
  print_report(options, problem, *outcome);
  return outcome->status == FitStatus::Fits
             ? 0
             : refuse(plan::misfit(problem, limits, *outcome, options.problem_path, "--capacity "));
}

}  // namespace intarsia::cli
