#include <algorithm>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

// A drawing of this many rectangles is still quick to move in; of more buffers the largest are drawn.
constexpr size_t kMostBuffers = 1500;

struct MemoryChart {
  static constexpr double kLeft = 84, kRight = 24, kTop = 26, kWidth = 1000, kStrip = 12;
  const PageReport& page;
  const Part& part;
  const PoolRow& pool;
  int64_t steps;
  double plot_height;

  double x(int64_t step) const {
    return kLeft +
           (kWidth - kLeft - kRight) * static_cast<double>(step) / static_cast<double>(steps);
  }
  double y(int64_t address) const {
    return kTop + plot_height * (1 - static_cast<double>(address) /
                                         static_cast<double>(std::max<int64_t>(1, pool.peak)));
  }
};

std::string steps_text(const BufferRow& row) {
  return row.first_step == row.last_step
             ? fmt::format("step {}", row.first_step)
             : fmt::format("steps {} to {}", row.first_step, row.last_step);
}

// What made it, by which name the other views call it.
std::string label_of(const BufferRow& row) {
  const std::string name =
      row.written_by.empty() ? (row.tensor.empty() ? row.name : row.tensor) : row.written_by;
  return row.use == "tensor" || row.use.empty() ? name : fmt::format("{} ({})", name, row.use);
}

// As much of it as there is room for; "scratch" says more than the ends of a name.
std::string label_within(const BufferRow& row, size_t characters) {
  const std::string whole = label_of(row);
  if (shortened(whole, characters) == whole) return whole;
  const bool is_between = row.use == "tensor" || row.use.empty();
  if (!is_between) return row.use.size() <= characters ? row.use : "";
  return shortened(whole, characters);
}

std::string operator_of(const Part& part, const BufferRow& row) {
  if (!row.written_by.empty()) return part.id(row.written_by);
  return row.read_by.empty() ? "" : part.id(row.read_by.front());
}

std::string colour_of(const PageReport& page, const Part& part, const BufferRow& row) {
  const auto found = part.numbers.find(row.written_by);
  return found == part.numbers.end() ? "d-none"
                                     : page.colour(part.report.operators[found->second].device);
}

std::string users_of(const Part& part, const BufferRow& row) {
  std::string users;
  for (const std::string& name : row.read_by) {
    const std::string id = part.id(name);
    if (!id.empty()) users += (users.empty() ? "" : " ") + id;
  }
  return users;
}

std::string axes(const MemoryChart& chart) {
  std::string svg;
  const double right = MemoryChart::kWidth - MemoryChart::kRight;
  const int64_t distance = round_distance(chart.pool.peak, 5, true);
  for (int64_t at = 0; at <= chart.pool.peak; at += distance)
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"tick end\" x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>\n",
        MemoryChart::kLeft, chart.y(at), right, MemoryChart::kLeft - 8, chart.y(at) + 3.5,
        grouped(at));
  const double below = MemoryChart::kTop + chart.plot_height + MemoryChart::kStrip + 20;
  const int64_t every = round_distance(chart.steps, 12, false);
  for (int64_t step = 0; step < chart.steps; step += every)
    svg += fmt::format("<text class=\"tick middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       (chart.x(step) + chart.x(step + 1)) / 2, below, grouped(step));
  return svg + fmt::format(
                   "<text class=\"axis middle\" x=\"{:.1f}\" y=\"{:.1f}\">step</text>\n<text "
                   "class=\"axis end\" x=\"{:.1f}\" y=\"12\">address</text>\n",
                   (MemoryChart::kLeft + right) / 2, below + 17, MemoryChart::kLeft - 8);
}

// The operators that the steps belong to, below the buffers.
std::string operator_strip(const MemoryChart& chart) {
  std::string svg;
  const double top = MemoryChart::kTop + chart.plot_height + 4;
  bool is_odd = false;
  for (const StepRow& row : chart.part.report.step_rows) {
    if (row.first >= chart.steps) break;
    const double from = chart.x(row.first), to = chart.x(std::min(row.last + 1, chart.steps));
    const std::string id = chart.part.id(row.name);
    svg += fmt::format(
        "<rect class=\"run {} {}\"{} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.0f}\"><title>{}, {}</title></rect>\n",
        chart.page.colour(row.device), is_odd ? "odd" : "even",
        id.empty() ? "" : fmt::format(" data-op=\"{}\"", id), from, top, std::max(0.5, to - from),
        MemoryChart::kStrip, escaped(row.name),
        row.first == row.last ? fmt::format("step {}", row.first)
                              : fmt::format("steps {} to {}", row.first, row.last));
    is_odd = !is_odd;
  }
  return svg;
}

std::string buffer_shape(const MemoryChart& chart, size_t number) {
  const BufferRow& row = chart.part.report.buffers[number];
  const double from = chart.x(std::min(row.first_step, chart.steps)),
               to = chart.x(std::min(row.last_step + 1, chart.steps));
  const double top = chart.y(std::min(row.end, chart.pool.peak)),
               bottom = chart.y(std::min(row.begin, chart.pool.peak));
  const double width = std::max(1.0, to - from), height = std::max(1.0, bottom - top);
  const std::string id = operator_of(chart.part, row), users = users_of(chart.part, row);
  std::string svg = fmt::format(
      "<g class=\"buffer\" data-buf=\"{}.{}\"{}{}><title>{}: {}, {} from {:#x}, {}</title><rect "
      "class=\"{} use-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></g>",
      chart.part.number, number, id.empty() ? "" : fmt::format(" data-op=\"{}\"", id),
      users.empty() ? "" : fmt::format(" data-users=\"{}\"", users), escaped(label_of(row)),
      escaped(row.name), bytes_text(row.end - row.begin), row.begin, steps_text(row),
      colour_of(chart.page, chart.part, row), row.use == "scratch" ? "scratch" : "tensor", from,
      top, width, height);
  if (width > 44 && height > 14)
    svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", from + 6,
                       top + std::min(height / 2 + 4, 16.0),
                       escaped(label_within(row, static_cast<size_t>((width - 10) / kCharacter))));
  return svg + "\n";
}

std::string line(const MemoryChart& chart, int64_t bytes, const char* name, const char* text) {
  const double right = MemoryChart::kWidth - MemoryChart::kRight, at = chart.y(bytes);
  return fmt::format(
      "<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"mark end\" x=\"{:.1f}\" "
      "y=\"{:.1f}\">{} {}</text>\n",
      name, MemoryChart::kLeft, at, right, right, at - 5, text, grouped(bytes));
}

std::string drawing(const MemoryChart& chart, const std::vector<size_t>& drawn) {
  const double height = MemoryChart::kTop + chart.plot_height + MemoryChart::kStrip + 44;
  std::string svg = fmt::format(
      "<svg class=\"chart items\" role=\"img\" viewBox=\"0 0 {1:.0f} {2:.0f}\" aria-label=\"{0} "
      "over "
      "the steps of the plan: a rectangle for each buffer\">\n",
      escaped(chart.pool.name), MemoryChart::kWidth, height);
  svg += axes(chart);
  if (chart.pool.fullest_bytes > 0 && chart.pool.fullest_step < chart.steps)
    svg += fmt::format(
        "<rect class=\"fullest\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.0f}\"><title>Most bytes are in use at step {}</title></rect>\n",
        chart.x(chart.pool.fullest_step), MemoryChart::kTop,
        std::max(1.0, chart.x(chart.pool.fullest_step + 1) - chart.x(chart.pool.fullest_step)),
        chart.plot_height, chart.pool.fullest_step);
  for (const size_t number : drawn) svg += buffer_shape(chart, number);
  if (chart.pool.lower_bound > 0 && chart.pool.lower_bound < chart.pool.peak) {
    svg += line(chart, chart.pool.lower_bound, "bound", "lower bound");
    svg += line(chart, chart.pool.peak, "peak", "peak");
  } else {
    svg += line(chart, chart.pool.peak, "peak", "peak = lower bound");
  }
  return scrolled(label_in(chart.part, "Drawing of " + chart.pool.name),
                  svg + operator_strip(chart) + "</svg>");
}

std::string buffer_table(const Part& part, const PoolRow& pool,
                         const std::vector<size_t>& numbers) {
  std::string html =
      "<table>\n<thead><tr><th scope=\"col\">Buffer</th><th scope=\"col\">Use</th><th "
      "scope=\"col\">Tensor</th><th scope=\"col\">Written by</th><th scope=\"col\">Read by</th><th "
      "scope=\"col\" class=\"n\">Address</th><th scope=\"col\" class=\"n\">Bytes</th><th "
      "scope=\"col\" class=\"n\">Steps</th><th scope=\"col\">Shares bytes of</th></tr></thead>\n"
      "<tbody>\n";
  for (const size_t number : numbers) {
    const BufferRow& row = part.report.buffers[number];
    const std::string id = operator_of(part, row);
    html += fmt::format(
        "<tr data-buf=\"{}.{}\"{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td class=\"n\">{:#x}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}–{}</td><td>{}</td></tr>\n",
        part.number, number, id.empty() ? "" : fmt::format(" data-op=\"{}\"", id),
        escaped(row.name), escaped(row.use), escaped(row.tensor), escaped(row.written_by),
        escaped(fmt::format("{}", fmt::join(row.read_by, ", "))), row.begin,
        grouped(row.end - row.begin), row.first_step, row.last_step, escaped(row.alias));
  }
  return scrolled(label_in(part, "Buffers of " + pool.name), html + "</tbody></table>");
}

std::string figures_of(const PoolRow& pool) {
  std::string text = fmt::format("{}", bytes_text(pool.peak));
  if (pool.size > 0)
    text += fmt::format(" of {} ({})", grouped(pool.size),
                        percent(static_cast<double>(pool.peak), static_cast<double>(pool.size)));
  if (pool.proven_optimal)
    text += "; no plan is smaller for this order of operators and these in-place pairs";
  else
    text += fmt::format("; at least {} are needed, so a smaller plan may exist",
                        grouped(pool.lower_bound));
  if (!pool.fullest_at.empty())
    text += fmt::format(". Most are in use while <b>{}</b> runs: {}", escaped(pool.fullest_at),
                        grouped(pool.fullest_bytes));
  return text + ".";
}

std::string one_memory(const PageReport& page, const Part& part, const PoolRow& pool) {
  std::string html = fmt::format("<figure><figcaption>{}<p>{}</p></figcaption>\n",
                                 heading(part, 1, escaped(pool.name)), figures_of(pool));
  std::vector<size_t> numbers;
  int64_t steps = std::max<int64_t>(1, part.report.steps);
  for (size_t i = 0; i < part.report.buffers.size(); ++i) {
    if (part.report.buffers[i].pool != pool.name) continue;
    numbers.push_back(i);
    steps = std::max(steps, part.report.buffers[i].last_step + 1);
  }
  if (numbers.empty())
    return html +
           "<p class=\"note\">This report does not say where each buffer is: it is of an earlier "
           "version.</p></figure>\n";
  std::vector<size_t> drawn = numbers;
  const auto area = [&](size_t i) {
    const BufferRow& row = part.report.buffers[i];
    return static_cast<double>(row.end - row.begin) *
           static_cast<double>(row.last_step - row.first_step + 1);
  };
  std::stable_sort(drawn.begin(), drawn.end(),
                   [&](size_t a, size_t b) { return area(a) > area(b); });
  if (drawn.size() > kMostBuffers) {
    drawn.resize(kMostBuffers);
    html += fmt::format(
        "<p class=\"note\">Drawn are the {} largest of {} buffers; the list has all.</p>\n",
        grouped(kMostBuffers), grouped(static_cast<int64_t>(numbers.size())));
  }
  // A few buffers need no large drawing.
  const double height = std::clamp(80.0 + 30 * static_cast<double>(drawn.size()), 110.0, 300.0);
  html += drawing({page, part, pool, steps, height}, drawn);
  html += folded(fmt::format("{} of {}", counted(static_cast<int64_t>(numbers.size()), "buffer"),
                             escaped(pool.name)),
                 buffer_table(part, pool, numbers));
  return html + "</figure>\n";
}

}  // namespace

std::string memory_view(const PageReport& page, const Part& part) {
  std::string html = section_begin("memory", part, "Memory over time") +
                     "<p class=\"lead\">Each rectangle is a buffer: how long its bytes are in use, "
                     "and where they are. Dashed ones are scratch of one operator. The strip below "
                     "shows which operator runs.</p>\n";
  bool is_any = false;
  for (const PoolRow& pool : part.report.pools) {
    if (pool.peak == 0) continue;
    html += one_memory(page, part, pool);
    is_any = true;
  }
  if (!is_any) html += "<p class=\"note\">The model needs no working memory.</p>\n";
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
