#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

// `used` of `size` as a bar below the figure; no bar where there is no size.
std::string card(const std::string& title, const std::string& figure, const std::string& text,
                 int64_t used = 0, int64_t size = 0) {
  std::string bar;
  if (size > 0)
    bar = fmt::format("<span class=\"bar\"><span style=\"width:{:.1f}%\"></span></span>",
                      std::min(100.0, 100 * static_cast<double>(used) / static_cast<double>(size)));
  return fmt::format(
      "<div class=\"card\"><dt>{}</dt><dd><b>{}</b>{}<span class=\"sub\">{}</span></dd></div>\n",
      title, figure, bar, text);
}

std::string block_cards(const PageReport& page) {
  std::string html;
  for (const Block& block : page.blocks)
    html += card(fmt::format("RAM in {} of {}", escaped(block.name), escaped(block.cpu)),
                 grouped(block.bytes),
                 block.stages == 1 ? "bytes, for one stage"
                                   : fmt::format("bytes, for {} stages in turn", block.stages));
  return html;
}

std::string memory_cards(const PageReport& page) {
  std::string html = block_cards(page);
  for (const Part& part : page.parts)
    for (const PoolRow& pool : part.report.pools) {
      if (pool.peak == 0 || !page.blocks.empty()) continue;
      const std::string where =
          part.cpu.empty() ? escaped(pool.name)
                           : fmt::format("{} of {}", escaped(pool.name), escaped(part.cpu));
      std::string text =
          pool.size > 0
              ? fmt::format("{} of {} bytes",
                            percent(static_cast<double>(pool.peak), static_cast<double>(pool.size)),
                            grouped(pool.size))
              : "bytes";
      text += pool.proven_optimal ? ", proven minimal"
                                  : fmt::format(", at least {}", grouped(pool.lower_bound));
      html += card("RAM in " + where, grouped(pool.peak), text, pool.peak, pool.size);
    }
  if (page.mailbox_bytes > 0)
    html += card("Mailbox", grouped(page.mailbox_bytes), "bytes, between the parts");
  return html;
}

std::string flash_cards(const Report& report) {
  std::string parts;
  const auto add = [&](const char* what, int64_t bytes) {
    if (bytes > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, grouped(bytes));
  };
  if (!report.measured) {
    add("weights", report.weight_bytes);
    add("tables", report.table_bytes);
    add("streams", report.stream_bytes);
    return card("Constants in flash",
                grouped(report.weight_bytes + report.table_bytes + report.stream_bytes),
                parts.empty() ? "bytes" : parts);
  }
  add("code", report.measured->code_bytes);
  add("constants", report.measured->constant_bytes);
  add("streams", report.measured->stream_bytes);
  return card("Flash", grouped(report.measured->flash_bytes()), parts) +
         card("Stack", grouped(report.measured->stack_bytes), "bytes at most");
}

std::string time_cards(const PageReport& page) {
  std::string html;
  for (const DeviceCycles& device : page.whole.device_cycles)
    html += card(fmt::format("Cycles on {}", escaped(device.device)), grouped(device.cycles),
                 device.clock_mhz > 0
                     ? fmt::format("estimated; {} at {:g} MHz",
                                   time_text(static_cast<double>(device.cycles) / device.clock_mhz),
                                   device.clock_mhz)
                     : "estimated");
  return html;
}

// The real value of q.
std::string zero_point_text(float scale, int64_t zero_point) {
  if (zero_point == 0) return fmt::format("{:.9g} × q", scale);
  return zero_point < 0 ? fmt::format("{:.9g} × (q + {})", scale, grouped(-zero_point))
                        : fmt::format("{:.9g} × (q − {})", scale, grouped(zero_point));
}

std::string tensor_lines(const char* edge, const std::vector<TensorInfo>& tensors) {
  std::string html;
  for (const TensorInfo& tensor : tensors) {
    std::string values = "plain numbers";
    if (tensor.quantization.per_channel())
      values = "a scale for each channel";
    else if (tensor.quantization.present() && !tensor.quantization.zero_point.empty())
      values = zero_point_text(tensor.quantization.scale[0], tensor.quantization.zero_point[0]);
    html += fmt::format(
        "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}[{}]</td><td>{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        edge, escaped(tensor.name), to_string(tensor.type), fmt::join(tensor.shape, ","), values,
        grouped(tensor.bytes));
  }
  return html;
}

}  // namespace

std::string summary_view(const PageReport& page) {
  const Report& whole = page.whole;
  std::string html =
      "<section id=\"summary\" aria-labelledby=\"summary-title\"><h2 id=\"summary-title\" "
      "class=\"visually-hidden\">Summary</h2>\n<dl class=\"cards\">\n";
  html += memory_cards(page) + flash_cards(whole) + time_cards(page);
  int64_t operators = 0;
  for (const Part& part : page.parts)
    operators += static_cast<int64_t>(part.report.operators.size());
  html += card("Multiply-accumulates", grouped(whole.macs), counted(operators, "operator"));
  if (whole.transfers > 0)
    html += card("Transfers", grouped(whole.transfers),
                 "between devices, " + bytes_text(whole.transfer_bytes));
  html += "</dl>\n";
  if (!whole.search_note.empty())
    html += fmt::format("<p class=\"note\">{}.</p>\n", escaped(whole.search_note));
  for (const Part& part : page.parts)
    if (part.report.search.ended_early)
      html += fmt::format(
          "<p class=\"note\">The search for a smaller plan ended after {} steps: one may "
          "exist.</p>\n",
          grouped(part.report.search.steps));
  html += scrolled("Inputs and outputs",
                   "<table>\n<caption>Inputs and outputs</caption>\n<thead><tr><th "
                   "scope=\"col\">Edge</th><th scope=\"col\">Tensor</th><th "
                   "scope=\"col\">Type</th><th scope=\"col\">Real value</th><th scope=\"col\" "
                   "class=\"n\">Bytes</th></tr></thead>\n<tbody>\n" +
                       tensor_lines("input", whole.inputs) + tensor_lines("output", whole.outputs) +
                       "</tbody></table>");
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
