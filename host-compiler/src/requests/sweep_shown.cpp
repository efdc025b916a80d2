#include "requests/sweep_shown.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "support/amounts.h"

namespace intarsia::requests {
namespace {

constexpr Figure kShown[] = {Figure::Ram, Figure::Flash, Figure::Constants, Figure::Cycles,
                             Figure::Microseconds};

// The first of the problems, and how many there are behind it.
std::string in_one_line(const std::string& problems) {
  const size_t end = problems.find('\n');
  if (end == std::string::npos) return problems;
  const auto more = std::count(problems.begin() + static_cast<int64_t>(end), problems.end(), '\n');
  return fmt::format("{} (and {} more)", problems.substr(0, end),
                     more == 1 ? "1 line" : fmt::format("{} lines", more));
}

}  // namespace

std::string shown_name(Figure figure) {
  if (figure == Figure::Ram) return "RAM";
  if (figure == Figure::Microseconds) return "time";
  if (figure == Figure::Macs) return "MACs";
  return std::string(to_string(figure));
}

std::string shown_names(std::span<const Figure> figures) {
  std::string text;
  for (size_t i = 0; i < figures.size(); ++i)
    text += (i == 0 ? "" : i + 1 < figures.size() ? ", " : " and ") + shown_name(figures[i]);
  return text;
}

std::string shown_value(Figure figure, double value) {
  if (figure == Figure::Microseconds) return packaging::page::time_text(value);
  const auto number = static_cast<int64_t>(std::llround(value));
  const bool is_count = figure == Figure::Cycles || figure == Figure::Macs;
  return is_count ? readable_count(number) : readable_bytes(number);
}

std::string shown_budget(const SweepBudget& budget) {
  if (budget.is_auto) return kAutoSweepBudget;
  return budget.bytes ? readable_room(*budget.bytes) : "none";
}

ShownSweep shown_sweep(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten,
                       std::span<const Figure> by) {
  const auto any = [&](const auto& holds) { return std::any_of(rows.begin(), rows.end(), holds); };
  const bool has_models = any([&](const SweepRow& row) { return row.model != rows.front().model; });
  const bool has_boards = any([&](const SweepRow& row) { return row.board != "host"; });
  const bool has_budgets = any([](const SweepRow& row) { return row.ram_budget.is_given(); });

  ShownSweep shown;
  const auto column = [&](const std::string& heading, bool is_number) {
    if (is_number) shown.right.push_back(shown.headings.size());
    shown.headings.push_back(heading);
  };
  column("#", true);
  shown.mark = shown.headings.size();
  column("", false);
  if (has_models) column("model", false);
  column("target", false);
  if (has_boards) column("board", false);
  if (has_budgets) column("budget", true);
  for (const Figure figure : kShown) column(shown_name(figure), true);

  for (size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    std::vector<std::string>& cells = shown.cells.emplace_back();
    cells = {std::to_string(i + 1), unbeaten[i] ? kUnbeatenMark : ""};
    if (has_models) cells.push_back(row.model);
    cells.push_back(row.choice);
    if (has_boards) cells.push_back(row.board);
    if (has_budgets) cells.push_back(shown_budget(row.ram_budget));
    for (const Figure figure : kShown) {
      const std::optional<double> value =
          row.has_figures() ? row.figures.value(figure) : std::nullopt;
      cells.push_back(value ? shown_value(figure, *value) : "-");
    }
    shown.reasons.push_back(in_one_line(row.error));
  }
  if (std::find(unbeaten.begin(), unbeaten.end(), true) != unbeaten.end())
    shown.remarks.push_back(fmt::format(
        "{} no other choice{} is as good in {}, and better in one; cycles and time are estimates",
        kUnbeatenMark, has_models ? " for the model" : "", shown_names(by)));
  for (const SweepRow& row : rows) {
    if (row.not_measured.empty()) continue;
    std::string remark = "- flash is not measured: " + in_one_line(row.not_measured);
    if (std::find(shown.remarks.begin(), shown.remarks.end(), remark) == shown.remarks.end())
      shown.remarks.push_back(std::move(remark));
  }
  return shown;
}

}  // namespace intarsia::requests
