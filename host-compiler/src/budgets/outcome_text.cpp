#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "budgets/outcome.h"

namespace intarsia::budgets {
namespace {

// Of a part in a whole that may be nothing.
std::string percent(int64_t part, int64_t whole) {
  if (whole == 0) return "from nothing";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string shares_text(const std::vector<Share>& shares) {
  std::vector<std::string> words;
  for (const Share& share : shares) words.push_back(fmt::format("{} {}", share.name, share.amount));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string verdict_text(const Verdict& verdict) {
  const std::string_view unit = to_string(unit_of(verdict.limit.kind));
  const std::string name = verdict.limit.name();
  const auto of_limit = [&](int64_t part) {
    return verdict.limit.most == 0 ? "" : fmt::format(" ({})", percent(part, verdict.limit.most));
  };
  if (!verdict.exceeded())
    return fmt::format("  within    {:<16} {:>10} {} of {}{}\n", name, verdict.figure, unit,
                       verdict.limit.most, of_limit(verdict.figure));
  std::string text =
      fmt::format("  EXCEEDED  {:<16} {:>10} {} of {}: {} too many{}\n", name, verdict.figure, unit,
                  verdict.limit.most, verdict.excess(), of_limit(verdict.excess()));
  for (const Verdict::Reason& reason : verdict.reasons)
    text += reason.shares.empty()
                ? fmt::format("            {}\n", reason.text)
                : fmt::format("            {}: {}\n", reason.text, shares_text(reason.shares));
  return text;
}

std::string growth_text(Growth growth) {
  std::string text = fmt::format("{}.{:03}", growth / 1000, growth % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

std::string change_text(const Change& change) {
  const int64_t by = change.now - change.before;
  std::string text =
      fmt::format("  {:<9} {:<16} {:>10} -> {} {}: {:+} ({}{})",
                  change.is_detail    ? ""
                  : change.too_much() ? "GREW"
                  : by < 0            ? "shrank"
                                      : "grew",
                  change.figure, change.before, change.now, to_string(change.unit), by,
                  by > 0 && change.before != 0 ? "+" : "", percent(by, change.before));
  if (change.too_much()) text += fmt::format("; allowed: {}", change.allowed);
  return text + "\n";
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("compared with {}, growth of {} allowed\n", comparison.baseline,
                                 growth_text(comparison.growth));
  for (const std::string& note : comparison.notes) text += fmt::format("  note: {}\n", note);
  std::vector<std::string> same;
  for (const Change& change : comparison.changes) {
    if (change.changed())
      text += change_text(change);
    else
      same.push_back(change.figure);
  }
  if (!same.empty()) text += fmt::format("  unchanged {}\n", fmt::join(same, ", "));
  for (const Moved& row : comparison.moved) {
    if (row.before.empty())
      text += fmt::format("  operator  '{}' is new, on {}\n", row.name, row.now);
    else if (row.now.empty())
      text += fmt::format("  operator  '{}' is gone, it was on {}\n", row.name, row.before);
    else
      text += fmt::format("  operator  '{}' moved from {} to {}\n", row.name, row.before, row.now);
  }
  return text;
}

// "passed", or how much is wrong.
std::string summary(const Outcome& outcome) {
  if (outcome.passed()) return "passed";
  const auto exceeded = std::count_if(outcome.verdicts.begin(), outcome.verdicts.end(),
                                      [](const Verdict& verdict) { return verdict.exceeded(); });
  std::vector<std::string> wrong;
  if (exceeded > 0)
    wrong.push_back(fmt::format("{} of {} {} exceeded", exceeded, outcome.verdicts.size(),
                                outcome.verdicts.size() == 1 ? "budget" : "budgets"));
  if (outcome.comparison) {
    const std::vector<Change>& changes = outcome.comparison->changes;
    const auto grew = std::count_if(changes.begin(), changes.end(),
                                    [](const Change& change) { return change.too_much(); });
    if (grew > 0)
      wrong.push_back(fmt::format("{} {} grew too much", grew, grew == 1 ? "figure" : "figures"));
  }
  return fmt::format("FAILED: {}", fmt::join(wrong, ", "));
}

}  // namespace

bool Outcome::passed() const {
  return std::none_of(verdicts.begin(), verdicts.end(),
                      [](const Verdict& verdict) { return verdict.exceeded(); }) &&
         (!comparison || comparison->passed());
}

std::string outcome_text(const Outcome& outcome) {
  std::string text = fmt::format("{} for {} on board {}\n", outcome.figures.model,
                                 outcome.figures.target, outcome.figures.board);
  for (const Verdict& verdict : outcome.verdicts) text += verdict_text(verdict);
  if (outcome.comparison) text += comparison_text(*outcome.comparison);
  text += fmt::format("{}: {}\n", outcome.figures.model, summary(outcome));
  return text;
}

}  // namespace intarsia::budgets
