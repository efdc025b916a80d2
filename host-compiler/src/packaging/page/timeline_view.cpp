#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

// More bars of a row than this are drawn together where they are next to each other.
constexpr size_t kMostBars = 1500;

struct Bar {
  std::string name, id, colour, text;
  double begin = 0, length = 0;
};
struct BarRow {
  std::string device, unit;
  std::vector<Bar> bars;
};

constexpr double kNames = 200, kChartWidth = 1000, kRowHeight = 26, kBarHeight = 18;

// 1, 2 or 5 times a power of ten.
double round_time(double least) {
  double ten = std::pow(10, std::floor(std::log10(std::max(least, 1e-6))));
  for (const double factor : {1.0, 2.0, 5.0})
    if (ten * factor >= least) return ten * factor;
  return ten * 10;
}

std::string bars_drawing(const std::vector<BarRow>& rows, double end, const std::string& label) {
  const double bottom = 8 + kRowHeight * static_cast<double>(rows.size());
  const double scale = (kChartWidth - kNames - 16) / std::max(end, 1e-9);
  std::string svg = fmt::format(
      "<svg class=\"chart items\" role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-label=\"{}\">\n",
      kChartWidth, bottom + 24, escaped(label));
  const double distance = round_time(end / 8);
  for (int mark = 0; mark * distance <= end * 1.0001; ++mark) {
    const double x = kNames + mark * distance * scale;
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} 4V{1:.1f}\"/><text class=\"tick middle\" x=\"{0:.1f}\" "
        "y=\"{2:.1f}\">{3}</text>\n",
        x, bottom, bottom + 15, mark == 0 ? "0" : time_text(mark * distance));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    const double top = 8 + kRowHeight * static_cast<double>(r);
    svg += fmt::format(
        "<text class=\"row end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kNames - 10, top + 13,
        escaped(shortened(rows[r].unit.empty() ? rows[r].device : rows[r].unit, 30)));
    for (const Bar& bar : rows[r].bars) {
      const double x = kNames + bar.begin * scale, width = std::max(0.6, bar.length * scale);
      svg += fmt::format(
          "<g class=\"bar\"{}><title>{}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" "
          "width=\"{:.2f}\" height=\"{:.0f}\"/></g>",
          bar.id.empty() ? "" : fmt::format(" data-op=\"{}\"", bar.id), escaped(bar.text),
          bar.colour, x, top, width, kBarHeight);
      if (width > 40)
        svg += fmt::format(
            "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 5, top + 13,
            escaped(shortened(bar.name, static_cast<size_t>((width - 9) / kCharacter))));
      svg += "\n";
    }
  }
  return scrolled(label, svg + "</svg>");
}

// The operators of the model in all parts.
struct OperatorNames {
  explicit OperatorNames(const PageReport& page) {
    for (const Part& part : page.parts)
      for (const auto& [name, number] : part.numbers)
        known.try_emplace(name, part.id(name), page.colour(part.report.operators[number].device));
  }
  std::map<std::string, std::pair<std::string, std::string>> known;  // id and colour
};

Bar bar_of(const OperatorNames& names, const std::string& name, const char* other_colour) {
  Bar bar{name, "", other_colour};
  if (const auto found = names.known.find(name); found != names.known.end())
    std::tie(bar.id, bar.colour) = found->second;
  return bar;
}

// Bars of one name that follow each other are one, and the shortest are left out, until few enough are left.
size_t thin_out(std::vector<Bar>& bars, double end) {
  if (bars.size() <= kMostBars) return 0;
  std::vector<Bar> joined;
  for (Bar& bar : bars) {
    const bool goes_on = !joined.empty() && joined.back().name == bar.name &&
                         bar.begin - (joined.back().begin + joined.back().length) < end / 2000;
    if (goes_on)
      joined.back().length = bar.begin + bar.length - joined.back().begin;
    else
      joined.push_back(std::move(bar));
  }
  bars = std::move(joined);
  if (bars.size() <= kMostBars) return 0;
  std::vector<double> lengths;
  for (const Bar& bar : bars) lengths.push_back(bar.length);
  std::nth_element(lengths.begin(), lengths.begin() + kMostBars - 1, lengths.end(),
                   std::greater<>());
  const double least = lengths[kMostBars - 1];
  const size_t before = bars.size();
  std::erase_if(bars, [&](const Bar& bar) { return bar.length < least; });
  return before - bars.size();
}

bool is_of_operations(const Trace::Row& row) {
  return std::any_of(row.events.begin(), row.events.end(),
                     [](const Trace::Event& event) { return event.mac > 0 || event.output > 0; });
}

BarRow row_of(const Trace::Row& from, const OperatorNames& names, const std::string& unit,
              double Trace::Event::*length, bool at_end) {
  BarRow row{from.device, unit, {}};
  for (const Trace::Event& event : from.events) {
    const double busy = event.*length;
    if (!(busy > 0)) continue;
    Bar bar = bar_of(names, event.name, "d-none");
    bar.begin = at_end ? event.begin + event.length - busy : event.begin;
    bar.length = busy;
    bar.text =
        fmt::format("{}: {}, {} at {}", event.name, unit, time_text(busy), time_text(bar.begin));
    row.bars.push_back(std::move(bar));
  }
  return row;
}

std::string unit_name(const Trace::Row& row, bool has_several) {
  if (row.unit.empty()) return row.device;
  return has_several ? fmt::format("{} {}", row.device, row.unit) : row.unit;
}

// What the operations of each operator took, all runs together.
std::string trace_table(const Trace& trace, const OperatorNames& names) {
  struct Sum {
    double time = 0, mac = 0, output = 0, macs = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Sum> sums;
  double whole = 0;
  for (const Trace::Row& row : trace.rows) {
    if (!is_of_operations(row)) continue;
    for (const Trace::Event& event : row.events) {
      const auto [sum, is_new] = sums.try_emplace(event.name);
      if (is_new) order.push_back(event.name);
      sum->second.time += event.length;
      sum->second.mac += event.mac;
      sum->second.output += event.output;
      whole += event.length;
    }
  }
  std::string html =
      "<table>\n<thead><tr><th scope=\"col\">Operator</th><th scope=\"col\" class=\"n\">Time</th>"
      "<th scope=\"col\" class=\"n\">Share</th><th scope=\"col\" class=\"n\">MAC unit busy</th><th "
      "scope=\"col\" class=\"n\">Output unit busy</th></tr></thead>\n<tbody>\n";
  for (const std::string& name : order) {
    const Sum& sum = sums[name];
    const auto known = names.known.find(name);
    html += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        known == names.known.end() ? "" : fmt::format(" data-op=\"{}\"", known->second.first),
        escaped(name), time_text(sum.time), percent(sum.time, whole), percent(sum.mac, sum.time),
        percent(sum.output, sum.time));
  }
  return scrolled("Operations of the trace", html + "</tbody></table>");
}

}  // namespace

std::string estimate_view(const PageReport& page, const Part& part) {
  std::string html = section_begin("timeline", part, "Timeline");
  if (part.times.empty() || !(part.microseconds() > 0))
    return html + "<p class=\"note\">Nothing is estimated in this report.</p></section>\n";
  html += fmt::format(
      "<p class=\"lead\"><b>Estimated by the compiler, not measured:</b> {} for one run, at the "
      "clocks that the estimates assume ({}). What moving tensors between devices takes is not in "
      "it.</p>\n",
      time_text(part.microseconds()), [&] {
        std::string clocks;
        for (const DeviceCycles& device : page.whole.device_cycles)
          clocks += fmt::format("{}{} at {:g} MHz", clocks.empty() ? "" : ", ",
                                escaped(device.device), device.clock_mhz);
        return clocks;
      }());
  std::vector<BarRow> rows;
  double now = 0;
  for (size_t i = 0; i < part.report.operators.size(); ++i) {
    const OperatorRow& each = part.report.operators[i];
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const BarRow& other) { return other.device == each.device; });
    if (row == rows.end()) row = rows.insert(rows.end(), {each.device, "", {}});
    const Part::Time& time = part.times[i];
    if (time.microseconds > 0)
      row->bars.push_back({each.name, fmt::format("{}.{}", part.number, i),
                           page.colour(each.device),
                           fmt::format("{}: {}, {} cycles", each.name, time_text(time.microseconds),
                                       grouped(time.cycles)),
                           now, time.microseconds});
    now += time.microseconds;
  }
  size_t left_out = 0;
  for (BarRow& row : rows) left_out += thin_out(row.bars, now);
  html +=
      bars_drawing(rows, now, label_in(part, "Estimated time of the operators, device by device"));
  if (left_out > 0)
    html += fmt::format("<p class=\"note\">{} short bars are not drawn.</p>\n",
                        grouped(static_cast<int64_t>(left_out)));
  return html + "</section>\n";
}

std::string trace_view(const PageReport& page, const Trace& trace) {
  std::string html =
      "<section id=\"trace\" aria-labelledby=\"trace-title\"><h2 id=\"trace-title\">Trace of the "
      "simulated devices</h2>\n";
  html += fmt::format(
      "<p class=\"lead\"><b>Recorded by a simulator</b> (<code>intarsia run --trace</code>): {} "
      "from "
      "the first command to the last. The simulator's timing is a model of the device's. Within an "
      "operation, the bars of its units say how long they are busy, not when exactly. CPUs are not "
      "simulated with a clock: where they have rows, their operators are as long as the compiler "
      "estimates.</p>\n",
      time_text(trace.end));
  const OperatorNames names(page);
  std::map<std::string, int> devices;
  for (const Trace::Row& row : trace.rows) devices.try_emplace(row.device, 0);
  const bool has_several = devices.size() > 1;
  std::vector<BarRow> rows;
  for (const Trace::Row& row : trace.rows) {
    const std::string unit = unit_name(row, has_several);
    rows.push_back(row_of(row, names, unit, &Trace::Event::length, false));
    if (!is_of_operations(row)) continue;
    rows.push_back(row_of(row, names, "MAC unit", &Trace::Event::mac, false));
    rows.push_back(row_of(row, names, "output unit", &Trace::Event::output, true));
  }
  size_t left_out = 0;
  for (BarRow& row : rows) left_out += thin_out(row.bars, trace.end);
  html += bars_drawing(rows, trace.end, "What the units of the devices did");
  if (left_out > 0)
    html += fmt::format("<p class=\"note\">{} short bars are not drawn.</p>\n",
                        grouped(static_cast<int64_t>(left_out)));
  html += folded("Operations, operator by operator", trace_table(trace, names));
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
