#include <array>

#include <fmt/format.h>

#include "intarsia/report.h"
#include "packaging/page/markup.h"
#include "packaging/page/page_files.h"
#include "packaging/page/views.h"
#include "support/sha256.h"

namespace intarsia {
namespace {

using namespace packaging::page;

// Of the script, as a browser is told which one may run: no other text of the page is a program then.
std::string script_hash(std::string_view script) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex =
      sha256({reinterpret_cast<const uint8_t*>(script.data()), script.size()}) + "0000";
  std::string text;
  for (size_t i = 0; i + 6 <= 66; i += 6) {
    const unsigned long three = std::stoul(hex.substr(i, 6), nullptr, 16);
    for (const int shift : {18, 12, 6, 0}) text += kDigits[(three >> shift) & 63];
  }
  text.back() = '=';  // 32 bytes are 43 digits and one that fills up
  return text;
}

// The page's template with what stands between '@' and '@' replaced, once: what is filled in is not looked at again.
std::string filled(std::string_view text, const auto& value_of) {
  std::string out;
  for (;;) {
    const size_t begin = text.find("@@");
    if (begin == std::string_view::npos) return out.append(text);
    const size_t end = text.find("@@", begin + 2);
    out.append(text.substr(0, begin)).append(value_of(text.substr(begin + 2, end - begin - 2)));
    text.remove_prefix(end + 2);
  }
}

std::string legend(const PageReport& page) {
  std::string html;
  for (const std::string& device : page.devices)
    html += fmt::format("<li><span class=\"chip {}\">{}</span></li>", page.colour(device),
                        escaped(device));
  return html;
}

std::string links(const PageReport& page, bool has_trace, bool has_baseline) {
  std::string html;
  const auto add = [&](const std::string& id, const std::string& text) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, text);
  };
  if (page.parts.size() == 1 && page.parts.front().cpu.empty()) {
    add("memory", "Memory");
    add("flash", "Flash");
    add("operators", "Operators");
    add("graph", "Graph");
    add("timeline", "Timeline");
  } else {
    for (const Part& part : page.parts) add(section_id("part", part), escaped(part.report.model));
  }
  if (has_trace) add("trace", "Trace");
  if (has_baseline) add("comparison", "Comparison");
  return html;
}

std::string part_views(const PageReport& page, const Part& part) {
  std::string html;
  if (!part.cpu.empty())
    html += fmt::format("<h2 id=\"{}\">{}, on {}</h2>\n", section_id("part", part),
                        escaped(part.report.model), escaped(part.cpu));
  return html + memory_view(page, part) + flash_view(page, part) + operators_view(page, part) +
         graph_view(page, part) + estimate_view(page, part);
}

}  // namespace

Result<std::string> report_page(const std::string& report_json, const std::string& name,
                                const ReportPageExtras& extras) {
  Diagnostics problems;
  Result<PageReport> read = read_page_report(report_json, name);
  std::optional<PageReport> baseline;
  std::optional<Trace> trace;
  if (!read.ok()) problems.append(read.error());
  if (!extras.baseline.empty()) {
    Result<PageReport> other = read_page_report(extras.baseline, extras.baseline_name);
    if (other.ok())
      baseline = *std::move(other);
    else
      problems.append(other.error());
  }
  if (!extras.trace.empty()) {
    Result<Trace> recorded = read_trace(extras.trace, extras.trace_name);
    if (recorded.ok())
      trace = *std::move(recorded);
    else
      problems.append(recorded.error());
  }
  if (!problems.empty()) return problems;

  const PageReport& page = *read;
  std::string views = summary_view(page);
  for (const Part& part : page.parts) views += part_views(page, part);
  if (trace) views += trace_view(page, *trace);
  if (baseline) views += comparison_view(page, *baseline, extras.baseline_name);
  return filled(template_text(), [&](std::string_view what) -> std::string {
    if (what == "model") return escaped(page.whole.model);
    if (what == "target") return escaped(page.whole.target);
    if (what == "board") return escaped(page.whole.board);
    if (what == "legend") return legend(page);
    if (what == "links") return links(page, trace.has_value(), baseline.has_value());
    if (what == "views") return views;
    if (what == "style") return std::string(style_text());
    if (what == "script") return std::string(script_text());
    if (what == "script-hash") return script_hash(script_text());
    if (what == "report") return json_in_script(report_json);
    INTARSIA_CHECK(false, "the template asks for what there is");
    return "";
  });
}

std::string report_html(const Report& report) {
  Result<std::string> page = report_page(report_json(report), "report.json");
  INTARSIA_CHECK(page.ok(), "a report can be read back");
  return *std::move(page);
}

}  // namespace intarsia
