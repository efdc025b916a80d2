#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

// A figure in both reports; a figure that one of them does not have is no zero.
struct Figure {
  std::string name;
  std::optional<int64_t> before, now;
};

std::string signed_text(int64_t change) {
  return (change > 0 ? "+" : change < 0 ? "−" : "±") + grouped(std::abs(change));
}

std::string figure_line(const Figure& figure) {
  const auto cell = [](const std::optional<int64_t>& value) {
    return value ? grouped(*value) : std::string("–");
  };
  std::string change = "<td class=\"n\">–</td><td class=\"n\">–</td>";
  if (figure.before && figure.now) {
    const int64_t difference = *figure.now - *figure.before;
    const char* kind = difference > 0 ? " more" : difference < 0 ? " less" : "";
    const std::string relative =
        difference == 0       ? "0%"
        : *figure.before == 0 ? "–"
                              : fmt::format("{}{:.1f}%", difference > 0 ? "+" : "−",
                                            100.0 * static_cast<double>(std::abs(difference)) /
                                                static_cast<double>(*figure.before));
    change = fmt::format("<td class=\"n{0}\">{1}</td><td class=\"n{0}\">{2}</td>", kind,
                         signed_text(difference), relative);
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>{}</tr>\n",
      escaped(figure.name), cell(figure.before), cell(figure.now), change);
}

std::string figures_table(const char* title, const std::vector<Figure>& figures) {
  std::string html = fmt::format(
      "<table class=\"comparison\">\n<caption>{}</caption>\n<thead><tr><th "
      "scope=\"col\">Figure</th>"
      "<th scope=\"col\" class=\"n\">Baseline</th><th scope=\"col\" class=\"n\">This</th><th "
      "scope=\"col\" class=\"n\">Change</th><th scope=\"col\" class=\"n\">In per "
      "cent</th></tr></thead>\n<tbody>\n",
      title);
  for (const Figure& figure : figures) html += figure_line(figure);
  return scrolled(title, html + "</tbody></table>");
}

// In the order of the report, then what only the baseline has.
class FigureList {
 public:
  void now(const std::string& name, int64_t value) {
    at(name).now = at(name).now.value_or(0) + value;
  }
  void before(const std::string& name, int64_t value) {
    at(name).before = at(name).before.value_or(0) + value;
  }
  const std::vector<Figure>& figures() const { return figures_; }

 private:
  Figure& at(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, figures_.size());
    if (is_new) figures_.push_back({name, {}, {}});
    return figures_[place->second];
  }
  std::vector<Figure> figures_;
  std::map<std::string, size_t> places_;
};

void add_totals(const PageReport& page, const auto& add) {
  for (const Block& block : page.blocks) add("peak of " + block.pool + ", bytes", block.bytes);
  if (page.blocks.empty())
    for (const Part& part : page.parts)
      for (const PoolRow& pool : part.report.pools)
        add("peak of " + pool.name + ", bytes", pool.peak);
  if (page.mailbox_bytes > 0) add("mailbox, bytes", page.mailbox_bytes);
  if (const auto& measured = page.whole.measured) {
    add("flash, bytes", measured->flash_bytes());
    add("code, bytes", measured->code_bytes);
    add("stack, bytes", measured->stack_bytes);
  }
  add("weights, bytes", page.whole.weight_bytes);
  add("tables, bytes", page.whole.table_bytes);
  add("command streams, bytes", page.whole.stream_bytes);
  for (const DeviceCycles& device : page.whole.device_cycles)
    add("estimated cycles of " + device.device, device.cycles);
  add("multiply-accumulates", page.whole.macs);
  add("transfers between devices", page.whole.transfers);
  int64_t operators = 0;
  for (const Part& part : page.parts)
    operators += static_cast<int64_t>(part.report.operators.size());
  add("operators", operators);
}

void add_operators(const PageReport& page, const auto& add) {
  for (const Part& part : page.parts)
    for (size_t i = 0; i < part.report.operators.size(); ++i) {
      const OperatorRow& row = part.report.operators[i];
      if (!part.times.empty()) add(row.name + ": cycles", part.times[i].cycles);
      add(row.name + ": bytes", row.weight_bytes + row.table_bytes + row.stream_bytes);
    }
}

std::string moved_operators(const PageReport& now, const PageReport& before) {
  std::map<std::string, std::string> devices;
  for (const Part& part : before.parts)
    for (const OperatorRow& row : part.report.operators) devices.try_emplace(row.name, row.device);
  std::string html;
  int64_t count = 0;
  for (const Part& part : now.parts)
    for (const OperatorRow& row : part.report.operators) {
      const auto was = devices.find(row.name);
      if (was == devices.end() || was->second == row.device) continue;
      ++count;
      html += fmt::format("<li{}>{}: from {} to {}</li>\n", operator_attribute(part, row.name),
                          escaped(row.name), escaped(was->second), escaped(row.device));
    }
  return html.empty() ? ""
                      : folded(counted(count, "operator") + " on another device",
                               "<ul>\n" + html + "</ul>\n");
}

std::string name_of(const PageReport& page) {
  return fmt::format("{} for {} on {}", escaped(page.whole.model), escaped(page.whole.target),
                     escaped(page.whole.board));
}

}  // namespace

std::string comparison_view(const PageReport& now, const PageReport& before,
                            const std::string& before_name) {
  FigureList totals, operators;
  add_totals(now, [&](const std::string& name, int64_t value) { totals.now(name, value); });
  add_totals(before, [&](const std::string& name, int64_t value) { totals.before(name, value); });
  add_operators(now, [&](const std::string& name, int64_t value) { operators.now(name, value); });
  add_operators(before,
                [&](const std::string& name, int64_t value) { operators.before(name, value); });
  std::vector<Figure> changed;
  for (const Figure& figure : operators.figures())
    if (figure.before != figure.now) changed.push_back(figure);
  std::string html = fmt::format(
      "<section id=\"comparison\" aria-labelledby=\"comparison-title\"><h2 "
      "id=\"comparison-title\">Comparison</h2>\n<p class=\"lead\">Baseline <code>{}</code>: "
      "{}.<br>This: {}.</p>\n",
      escaped(before_name), name_of(before), name_of(now));
  html += figures_table("All together", totals.figures());
  html += moved_operators(now, before);
  if (changed.empty())
    html += "<p class=\"note\">No operator has other figures.</p>\n";
  else
    html += folded(
        counted(static_cast<int64_t>(changed.size()), "figure") + " of operators that changed",
        figures_table("Operators", changed));
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
