#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

// A number that is sorted by its value, and not by how it is written.
std::string number_cell(int64_t value, const std::string& text) {
  return fmt::format("<td class=\"n\" data-value=\"{}\">{}</td>", value, text);
}

std::string operator_line(const PageReport& page, const Part& part, size_t number,
                          double microseconds, bool has_reasons) {
  const OperatorRow& row = part.report.operators[number];
  const int64_t bytes = row.weight_bytes + row.table_bytes + row.stream_bytes;
  std::string html = fmt::format(
      "<tr data-op=\"{}.{}\"><td class=\"n muted\" data-value=\"{}\">{}</td><th scope=\"row\" "
      "data-value=\"{}\"><span class=\"name\">{}</span><span class=\"sub\">{}{}{}</span></th>",
      part.number, number, number, number + 1, escaped(row.name), escaped(row.name),
      escaped(row.kind), row.kind.empty() ? "" : " ", escaped(row.shapes));
  const bool is_of_stream =
      std::any_of(part.report.regions.begin(), part.report.regions.end(),
                  [&](const RegionRow& region) { return region.name == row.region; });
  html += fmt::format(
      "<td class=\"device\"><span class=\"chip {}\">{}</span>{}</td>", page.colour(row.device),
      escaped(row.device),
      is_of_stream ? fmt::format("<span class=\"sub\">{}</span>", escaped(row.region)) : "");
  html += number_cell(row.macs, grouped(row.macs));
  if (!part.times.empty()) {
    const Part::Time& time = part.times[number];
    html += number_cell(time.cycles, (time.is_share ? "≈" : "") + grouped(time.cycles));
    const double share = microseconds > 0 ? 100 * time.microseconds / microseconds : 0;
    html += fmt::format(
        "<td class=\"n share\" data-value=\"{:.4f}\">{}<span class=\"bar\"><span class=\"{}\" "
        "style=\"width:{:.1f}%\"></span></span></td>",
        share, percent(time.microseconds, microseconds), page.colour(row.device), share);
  }
  if (!part.counted.empty()) {
    const std::optional<RunCycles::Operator>& counted = part.counted[number];
    const auto cycles = static_cast<int64_t>(counted ? std::llround(counted->cycles.nominal) : 0);
    const auto instructions = static_cast<int64_t>(counted ? counted->instructions : 0);
    html += number_cell(cycles, counted ? grouped(cycles) : "-");
    html += number_cell(instructions, counted ? grouped(instructions) : "-");
  }
  html += number_cell(bytes, grouped(bytes));
  if (has_reasons) html += fmt::format("<td class=\"why\">{}</td>", escaped(row.placement));
  return html + "</tr>\n";
}

std::string column(const char* title, bool is_number) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", title);
}

}  // namespace

std::string operators_view(const PageReport& page, const Part& part) {
  std::string html = section_begin("operators", part, "Operators");
  bool has_shares = false, has_reasons = false;
  for (const OperatorRow& row : part.report.operators)
    has_reasons = has_reasons || !row.placement.empty();
  for (const Part::Time& time : part.times) has_shares = has_shares || time.is_share;
  html += fmt::format("<p class=\"lead\">{} in the order they run.",
                      counted(static_cast<int64_t>(part.report.operators.size()), "operator"));
  if (!part.times.empty())
    html +=
        " Cycles are the compiler's estimate at each device's clock, not measured; the share is "
        "of the time that all take.";
  if (has_shares)
    html +=
        " Operators of one stream are estimated together: those marked ≈ have their part of "
        "it, in proportion to what each would take alone.";
  if (part.report.counted) {
    const RunCycles& run = *part.report.counted;
    const auto whole = [](double cycles) { return grouped(std::llround(cycles)); };
    html += fmt::format(
        " Counted: a run in the emulator of the board took {} instructions and about {} cycles, "
        "between {} and {} by what is documented of the core.",
        grouped(static_cast<int64_t>(run.instructions)), whole(run.cycles.nominal),
        whole(run.cycles.optimistic), whole(run.cycles.pessimistic));
  }
  html += "</p>\n";
  std::string table = "<table class=\"operators\">\n<thead><tr>" + column("#", true) +
                      column("Operator", false) + column("Device", false) + column("MACs", true);
  if (!part.times.empty()) table += column("Cycles", true) + column("Share", true);
  if (!part.counted.empty()) table += column("Counted", true) + column("Instructions", true);
  table += column("Bytes", true);
  if (has_reasons) table += column("Why there", false);
  table += "</tr></thead>\n<tbody>\n";
  const double microseconds = part.microseconds();
  for (size_t i = 0; i < part.report.operators.size(); ++i)
    table += operator_line(page, part, i, microseconds, has_reasons);
  table += "</tbody></table>";
  return html + scrolled(label_in(part, "Table of operators"), table) + "</section>\n";
}

}  // namespace intarsia::packaging::page
