#include "cycles_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "packaging/cycles_json.h"

namespace intarsia::cli {
namespace {

constexpr const char* kCalls = "(between operators)";

}  // namespace

nlohmann::ordered_json cycles_json(const std::vector<RunCycles>& runs) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const RunCycles& run : runs) array.push_back(packaging::counted_json(run));
  return array;
}

std::string cycles_text(const RunCycles& run) {
  std::string text =
      fmt::format("cycles of the last run: about {:.0f}, between {:.0f} and {:.0f}\n",
                  run.cycles.nominal, run.cycles.optimistic, run.cycles.pessimistic);
  std::vector<RunCycles::Operator> rows = run.operators;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.cycles.nominal > b.cycles.nominal;
  });
  size_t width = 8;
  for (const auto& row : rows)
    width = std::max(width, row.name.empty() ? std::string_view(kCalls).size() : row.name.size());
  text += fmt::format("  {:<{}}  {:>12}  {:>12}  {:>6}\n", "operator", width, "instructions",
                      "cycles", "share");
  for (const auto& row : rows)
    text += fmt::format("  {:<{}}  {:>12}  {:>12.0f}  {:>5.1f}%\n",
                        row.name.empty() ? kCalls : row.name, width, row.instructions,
                        row.cycles.nominal,
                        run.cycles.nominal > 0 ? 100 * row.cycles.nominal / run.cycles.nominal : 0);
  return text;
}

}  // namespace intarsia::cli
