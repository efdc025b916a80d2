// Budgets as a gate for continuous integration: models are compiled and measured as `compile` does it, and what their
// reports say is held against limits and against earlier reports.
#include <algorithm>

#include <fmt/format.h>

#include "budgets/budgets_file.h"
#include "budgets/outcome.h"
#include "commands.h"
#include "common_options.h"
#include "measured_program.h"
#include "support/amounts.h"
#include "support/files.h"
#include "support/shown_text.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

using budgets::Growth;
using budgets::Kind;
using budgets::Limit;
using budgets::ModelBudget;

// One model with everything that is asked of it.
struct Job {
  std::string where;  // in a file of budgets; empty: the command line
  CommonOptions common;
  std::vector<Limit> limits;
  std::string baseline;
  Growth growth = 0;
};

Result<std::vector<Limit>> limits_of(const CheckCommand& command) {
  std::vector<Limit> limits;
  Diagnostics problems;
  const auto add = [&](Kind kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      Result<Limit> limit =
          budgets::parse_limit(kind, text, fmt::format("--max-{}", budgets::to_string(kind)));
      if (limit.ok())
        limits.push_back(*std::move(limit));
      else
        problems.append(limit.error());
    }
  };
  add(Kind::Ram, command.max_ram);
  add(Kind::Flash, command.max_flash);
  add(Kind::Stack, command.max_stack);
  add(Kind::Cycles, command.max_cycles);
  if (!problems.empty()) return problems;
  return limits;
}

// The command line's options are for all models of the file, its own for each.
Job job_of(const CommonOptions& common, const ModelBudget& entry) {
  Job job{entry.where, common, entry.limits, entry.baseline, entry.max_growth.value_or(0)};
  job.common.model = entry.model;
  const auto take = [&](const char* option, std::string& into) {
    if (const auto found = entry.options.find(option); found != entry.options.end())
      into = found->second;
  };
  take("target", job.common.target);
  take("board", job.common.board);
  take("name", job.common.name);
  take("policy", job.common.policy);
  take("optimise", job.common.optimise);
  take("io", job.common.io);
  if (const auto found = entry.options.find("ram-budget"); found != entry.options.end())
    set_ram_budget(job.common, found->second);
  const auto name = [](const std::string& pin) { return pin.substr(0, pin.rfind('=')); };
  std::erase_if(job.common.pins, [&](const std::string& pin) {
    return std::ranges::any_of(entry.pins,
                               [&](const std::string& own) { return name(own) == name(pin); });
  });
  job.common.pins.insert(job.common.pins.end(), entry.pins.begin(), entry.pins.end());
  return job;
}

Result<std::vector<Job>> jobs_of_file(const CheckCommand& command) {
  if (!command.common.model.empty())
    return Diagnostics("--file", "names models of its own, beside the one on the command line",
                       "give a model or --file");
  for (const auto* texts :
       {&command.max_ram, &command.max_flash, &command.max_stack, &command.max_cycles})
    if (!texts->empty())
      return Diagnostics("--file", "has budgets of its own, beside those on the command line",
                         "write them into the file");
  if (!command.baseline.empty() || command.max_growth)
    return Diagnostics("--file", "has baselines of its own, beside the one on the command line",
                       "write 'baseline' and 'max_growth' into the file");
  INTARSIA_TRY(const std::string text, read_text_file(command.file));
  INTARSIA_TRY(const std::vector<ModelBudget> entries, budgets::parse_budgets(text, command.file));
  std::vector<Job> jobs;
  for (const ModelBudget& entry : entries) jobs.push_back(job_of(command.common, entry));
  return jobs;
}

Result<std::vector<Job>> jobs_of(const CheckCommand& command) {
  if (!command.file.empty()) return jobs_of_file(command);
  if (command.common.model.empty())
    return Diagnostics("check", "there is no model to check",
                       "name a model, or a file of budgets with --file");
  INTARSIA_TRY(std::vector<Limit> limits, limits_of(command));
  if (limits.empty() && command.baseline.empty())
    return Diagnostics("check", "there is no budget to check",
                       "give at least one of --max-ram, --max-flash, --max-stack, --max-cycles and "
                       "--baseline");
  if (command.max_growth && command.baseline.empty())
    return Diagnostics("--max-growth", "there is no baseline to grow from",
                       "name a report.json with --baseline");
  Growth growth = 0;
  if (command.max_growth) {
    INTARSIA_TRY(growth, budgets::parse_growth(*command.max_growth, "--max-growth"));
  }
  return std::vector<Job>{{"", command.common, std::move(limits), command.baseline, growth}};
}

// Budgets for what is not there and a baseline that cannot be compared are found together.
Result<budgets::Outcome> check(Context& context, const Job& job) {
  std::optional<budgets::Figures> baseline;
  if (!job.baseline.empty()) {  // read first: it takes no time to find out that it is not there
    INTARSIA_TRY(const std::string text, read_text_file(report_file(job.baseline)));
    INTARSIA_TRY(baseline, budgets::read_figures(text, job.baseline));
  }
  INTARSIA_TRY(const MeasuredProgram made, compile_and_measure(context, job.common));
  budgets::Outcome outcome;
  INTARSIA_TRY(outcome.figures, budgets::read_figures(made.report.json, "report.json"));
  Diagnostics problems;
  Result<std::vector<budgets::Verdict>> verdicts =
      budgets::check_limits(outcome.figures, job.limits);
  if (verdicts.ok())
    outcome.verdicts = *std::move(verdicts);
  else
    problems.append(verdicts.error());
  if (baseline) {
    Result<budgets::Comparison> comparison =
        budgets::compare(*baseline, job.baseline, outcome.figures, job.growth);
    if (comparison.ok())
      outcome.comparison = *std::move(comparison);
    else
      problems.append(comparison.error());
  }
  if (!problems.empty()) return problems;
  return outcome;
}

// What is wrong with a model of a file says which of them it is.
Diagnostics located(const Job& job, const Diagnostics& problems) {
  if (job.where.empty()) return problems;
  Diagnostics result;
  for (const Diagnostic& problem : problems.items())
    result.add(fmt::format("{}: {}", job.where, problem.where), problem.what, problem.hint);
  return result;
}

// The words that decide stand out.
std::string with_tints(std::string text) {
  const Terminal& terminal = output_terminal();
  if (!terminal.has_colours) return text;
  struct Word {
    std::string_view around, word;
    Tint tint;
  };
  constexpr Word kWords[] = {{"  within  ", "within", Tint::Good},
                             {"  EXCEEDED  ", "EXCEEDED", Tint::Error},
                             {": passed\n", "passed", Tint::Good},
                             {": FAILED: ", "FAILED", Tint::Error}};
  for (const Word& each : kWords)
    for (size_t at = 0; (at = text.find(each.around, at)) != std::string::npos;) {
      const size_t begin = text.find(each.word, at);
      const std::string shown = tinted(terminal, each.tint, each.word);
      text.replace(begin, each.word.size(), shown);
      at = begin + shown.size();
    }
  return text;
}

}  // namespace

int run_check(Context& context, const CheckCommand& command) {
  const Result<std::vector<Job>> jobs = jobs_of(command);
  if (!jobs.ok()) return fail(jobs.error());
  std::vector<budgets::Outcome> outcomes;
  Diagnostics problems;
  for (const Job& job : *jobs) {
    Result<budgets::Outcome> outcome = check(context, job);
    if (outcome.ok())
      outcomes.push_back(*std::move(outcome));
    else
      problems.append(located(job, outcome.error()));
  }
  clear_progress();
  bool passed = problems.empty();
  for (const budgets::Outcome& outcome : outcomes) {
    passed = passed && outcome.passed();
    if (!command.common.json)
      fmt::print("{}", with_tints(shown_lines(budgets::outcome_text(outcome))));
  }
  if (command.common.json && problems.empty()) fmt::print("{}", budgets::outcomes_json(outcomes));
  if (!problems.empty()) return fail(problems);
  return passed ? kDone : kUserError;
}

}  // namespace intarsia::cli
