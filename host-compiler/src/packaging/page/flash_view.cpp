#include <algorithm>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/treemap.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

constexpr double kMapWidth = 1000, kMapHeight = 320, kCaption = 20;

// What takes bytes of flash: the code, an operator's constants, a stream.
struct FlashItem {
  std::string label, what, id, colour;
  int64_t bytes = 0;
  std::vector<OperatorRow::ConstantBytes> parts;
};

struct FlashGroup {
  std::string title;
  std::vector<FlashItem> items;
  int64_t bytes = 0;
};

void finish_group(FlashGroup& group) {
  std::stable_sort(group.items.begin(), group.items.end(),
                   [](const FlashItem& a, const FlashItem& b) { return a.bytes > b.bytes; });
  for (const FlashItem& item : group.items) group.bytes += item.bytes;
}

std::vector<FlashGroup> flash_groups(const PageReport& page, const Part& part) {
  const Report& report = part.report;
  FlashGroup code{"Code", {}}, constants{"Constants", {}}, streams{"Command streams", {}};
  if (report.measured)
    code.items.push_back(
        {"code", "machine code and what it needs", "", "d-none", report.measured->code_bytes, {}});
  for (const OperatorRow& row : report.operators) {
    if (const int64_t bytes = row.weight_bytes + row.table_bytes; bytes > 0)
      constants.items.push_back({row.name, "weights and tables", part.id(row.name),
                                 page.colour(row.device), bytes, row.constants});
    if (row.stream_bytes > 0)
      streams.items.push_back({row.region.empty() ? row.name : row.region,
                               "commands with the weights that the device reads",
                               part.id(row.name),
                               page.colour(row.device),
                               row.stream_bytes,
                               {}});
  }
  std::vector<FlashGroup> groups;
  for (FlashGroup* group : {&code, &constants, &streams}) {
    finish_group(*group);
    if (group->bytes > 0) groups.push_back(std::move(*group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const FlashGroup& a, const FlashGroup& b) { return a.bytes > b.bytes; });
  return groups;
}

// Within an operator's area, its single constants.
std::string inner_lines(const FlashItem& item, const Area& area) {
  if (item.parts.size() < 2 || area.width < 12 || area.height < 12) return "";
  std::vector<OperatorRow::ConstantBytes> parts = item.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::vector<int64_t> amounts;
  for (const auto& part : parts) amounts.push_back(part.bytes);
  std::string svg;
  const std::vector<Area> inside = treemap(amounts, area);
  for (const Area& each : inside)
    if (each.width > 1 && each.height > 1)
      svg += fmt::format(
          "<rect class=\"inner\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          each.x, each.y, each.width, each.height);
  return svg;
}

std::string item_shape(const FlashItem& item, Area area, int64_t total) {
  area = {area.x + 0.75, area.y + 0.75, std::max(0.4, area.width - 1.5),
          std::max(0.4, area.height - 1.5)};
  std::string svg = fmt::format(
      "<g class=\"cell\"{}><title>{}: {}, {} of the flash; {}</title><rect class=\"{}\" "
      "x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
      item.id.empty() ? "" : fmt::format(" data-op=\"{}\"", item.id), escaped(item.label),
      bytes_text(item.bytes), percent(static_cast<double>(item.bytes), static_cast<double>(total)),
      item.what, item.colour, area.x, area.y, area.width, area.height);
  svg += inner_lines(item, area) + "</g>";
  if (area.width > 46 && area.height > 15) {
    const size_t room = static_cast<size_t>((area.width - 10) / kCharacter);
    svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", area.x + 6,
                       area.y + 14, escaped(shortened(item.label, room)));
    if (area.height > 32)
      svg += fmt::format("<text class=\"label muted\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                         area.x + 6, area.y + 28, grouped(item.bytes));
  }
  return svg + "\n";
}

std::string flash_drawing(const Part& part, const std::vector<FlashGroup>& groups, int64_t total) {
  std::string svg = fmt::format(
      "<svg class=\"chart items\" role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-label=\"Flash: "
      "areas in proportion to bytes\">\n",
      kMapWidth, kMapHeight);
  std::vector<int64_t> amounts;
  for (const FlashGroup& group : groups) amounts.push_back(group.bytes);
  const std::vector<Area> areas = treemap(amounts, {0, 0, kMapWidth, kMapHeight});
  for (size_t g = 0; g < groups.size(); ++g) {
    Area area = areas[g];
    const bool is_captioned = area.height > 3 * kCaption && area.width > 60;
    if (is_captioned) {
      const std::string caption = fmt::format("{} {}", groups[g].title, grouped(groups[g].bytes));
      svg += fmt::format("<text class=\"caption\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                         area.x + 2, area.y + 14,
                         escaped(shortened(caption, static_cast<size_t>(area.width / kCharacter))));
      area.y += kCaption;
      area.height -= kCaption;
    }
    std::vector<int64_t> sizes;
    for (const FlashItem& item : groups[g].items) sizes.push_back(item.bytes);
    const std::vector<Area> inside = treemap(sizes, area);
    for (size_t i = 0; i < inside.size(); ++i)
      if (inside[i].width * inside[i].height > 0.5)
        svg += item_shape(groups[g].items[i], inside[i], total);
  }
  return scrolled(label_in(part, "Drawing of the flash"), svg + "</svg>");
}

std::string flash_table(const Part& part, const std::vector<FlashGroup>& groups, int64_t total) {
  std::string html =
      "<table>\n<thead><tr><th scope=\"col\">What</th><th scope=\"col\">Of</th><th "
      "scope=\"col\">Constant</th><th scope=\"col\" class=\"n\">Bytes</th><th scope=\"col\" "
      "class=\"n\">Share</th></tr></thead>\n<tbody>\n";
  const auto row = [&](const FlashGroup& group, const FlashItem& item, const std::string& constant,
                       int64_t bytes) {
    html += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        item.id.empty() ? "" : fmt::format(" data-op=\"{}\"", item.id), group.title,
        escaped(item.label), constant, grouped(bytes),
        percent(static_cast<double>(bytes), static_cast<double>(total)));
  };
  for (const FlashGroup& group : groups)
    for (const FlashItem& item : group.items) {
      if (item.parts.empty()) row(group, item, "", item.bytes);
      for (const auto& constant : item.parts)
        row(group, item, escaped(constant.name), constant.bytes);
    }
  return scrolled(label_in(part, "Flash, piece by piece"), html + "</tbody></table>");
}

}  // namespace

std::string flash_view(const PageReport& page, const Part& part) {
  const Report& report = part.report;
  std::string html = section_begin("flash", part, "Flash");
  const std::vector<FlashGroup> groups = flash_groups(page, part);
  int64_t total = 0;
  for (const FlashGroup& group : groups) total += group.bytes;
  if (report.measured)
    html +=
        fmt::format("<p class=\"lead\">{} as linked by {}.</p>\n",
                    bytes_text(report.measured->flash_bytes()), escaped(report.measured->compiler));
  else
    html += fmt::format(
        "<p class=\"lead\">{} of constants and command streams. The code is not "
        "measured: {}.</p>\n",
        bytes_text(total), escaped(report.not_measured));
  if (total == 0) return html + "<p class=\"note\">Nothing of it is known.</p></section>\n";
  html += flash_drawing(part, groups, total);
  html += folded("Flash, piece by piece", flash_table(part, groups, total));
  if (report.measured && !report.measured->stack_chain.empty()) {
    std::string chain;
    for (const std::string& call : report.measured->stack_chain)
      chain += (chain.empty() ? "<code>" : " › <code>") + escaped(call) + "</code>";
    html += fmt::format(
        "<p class=\"lead\">Stack: at most {} below the run function, by this chain of calls: "
        "{}</p>\n",
        bytes_text(report.measured->stack_bytes), chain);
  }
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
