#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "packaging/page/graph_layout.h"
#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {
namespace {

constexpr size_t kMostNodes = 1200, kMostEdges = 4000;

struct DrawnGraph {
  std::vector<std::pair<size_t, size_t>> edges;
  std::vector<const GraphEdge*> rows;  // of edges
  size_t nodes = 0;
};

// Only what leads forward: a name that is there twice must not make a circle.
DrawnGraph drawn_part(const Report& report) {
  DrawnGraph drawn;
  drawn.nodes = std::min(report.graph.size(), kMostNodes);
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < drawn.nodes; ++i) numbers.try_emplace(report.graph[i].name, i);
  std::set<std::pair<size_t, size_t>> known;
  for (const GraphEdge& edge : report.edges) {
    const auto from = numbers.find(edge.from), to = numbers.find(edge.to);
    if (from == numbers.end() || to == numbers.end() || from->second >= to->second) continue;
    if (drawn.edges.size() >= kMostEdges) break;
    if (!known.emplace(from->second, to->second).second) continue;
    drawn.edges.emplace_back(from->second, to->second);
    drawn.rows.push_back(&edge);
  }
  return drawn;
}

// Behind operators of a region that are beside each other in a layer; layers below each other join.
std::string region_shapes(const PageReport& page, const Report& report, const GraphLayout& layout) {
  std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> spans;
  for (size_t i = 0; i < layout.nodes.size(); ++i) {
    const GraphRow& row = report.graph[i];
    if (row.region.empty()) continue;
    const int64_t x = layout.nodes[i].x;
    const auto [span, is_new] = spans.try_emplace({layout.layers[i], row.region},
                                                  std::pair{x, x + GraphLayout::kNodeWidth});
    if (is_new) continue;
    span->second.first = std::min(span->second.first, x);
    span->second.second = std::max(span->second.second, x + GraphLayout::kNodeWidth);
  }
  std::map<std::string, std::string> devices;
  for (const GraphRow& row : report.graph) devices.try_emplace(row.region, row.device);
  std::string svg;
  for (const auto& [key, span] : spans) {
    const auto& [layer, region] = key;
    const int64_t top = 8 + layer * (GraphLayout::kNodeHeight + GraphLayout::kGapY) - 7;
    const bool goes_on = spans.contains({layer + 1, region});
    svg += fmt::format("<rect class=\"region {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       page.colour(devices[region]), span.first - 8, top,
                       span.second - span.first + 16,
                       GraphLayout::kNodeHeight + 14 + (goes_on ? GraphLayout::kGapY - 14 : 0));
  }
  return svg;
}

std::string curve(const std::vector<GraphLayout::Point>& points) {
  std::string path = fmt::format("M{} {}", points.front().x, points.front().y);
  for (size_t i = 1; i < points.size(); ++i) {
    const GraphLayout::Point &a = points[i - 1], &b = points[i];
    const int64_t bend = (b.y - a.y) / 2;
    path += fmt::format("C{} {} {} {} {} {}", a.x, a.y + bend, b.x, b.y - bend, b.x, b.y);
  }
  return path;
}

std::string edge_shape(const Part& part, const GraphEdge& edge,
                       const std::vector<GraphLayout::Point>& points) {
  const std::string from = part.id(edge.from), to = part.id(edge.to);
  return fmt::format(
      "<path class=\"edge\" data-ends=\"{}{}{}\" d=\"{}\"><title>{}: {}</title></path>\n", from,
      from.empty() || to.empty() ? "" : " ", to, curve(points), escaped(edge.tensor),
      bytes_text(edge.bytes));
}

std::string node_shape(const PageReport& page, const Part& part, const GraphRow& row,
                       const GraphLayout::Point& at) {
  const std::string id = part.id(row.name);
  constexpr size_t kRoom = 25;
  return fmt::format(
      "<g class=\"node{}\"{}><title>{}: {} {}, {}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" "
      "width=\"{}\" height=\"{}\" rx=\"5\"/></g><text class=\"label strong\" x=\"{}\" "
      "y=\"{}\">{}</text>"
      "<text class=\"label muted\" x=\"{}\" y=\"{}\">{}</text>\n",
      id.empty() ? " nothing" : "", id.empty() ? "" : fmt::format(" data-op=\"{}\"", id),
      escaped(row.name), escaped(row.kind), escaped(row.shapes),
      id.empty() ? "nothing runs for it" : escaped(row.device),
      id.empty() ? "d-none" : page.colour(row.device), at.x, at.y, GraphLayout::kNodeWidth,
      GraphLayout::kNodeHeight, at.x + 9, at.y + 17, escaped(shortened(row.name, kRoom)), at.x + 9,
      at.y + 31, escaped(shortened(row.kind, kRoom)));
}

std::string edge_table(const Part& part) {
  std::string html =
      "<table>\n<thead><tr><th scope=\"col\">From</th><th scope=\"col\">To</th><th "
      "scope=\"col\">Tensor</th><th scope=\"col\" class=\"n\">Bytes</th></tr></thead>\n<tbody>\n";
  for (const GraphEdge& edge : part.report.edges)
    html += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>\n",
                        operator_attribute(part, edge.from.empty() ? edge.to : edge.from),
                        edge.from.empty() ? "application" : escaped(edge.from),
                        edge.to.empty() ? "application" : escaped(edge.to), escaped(edge.tensor),
                        grouped(edge.bytes));
  return scrolled(label_in(part, "Tensors between operators"), html + "</tbody></table>");
}

}  // namespace

std::string graph_view(const PageReport& page, const Part& part) {
  const Report& report = part.report;
  std::string html = section_begin("graph", part, "Graph");
  if (report.graph.empty())
    return html +
           "<p class=\"note\">This report does not have the graph: it is of an earlier "
           "version.</p></section>\n";
  const DrawnGraph drawn = drawn_part(report);
  html +=
      "<p class=\"lead\">The model's operators in their devices' colours; what one device runs "
      "as a whole is on one ground. Nothing runs for dashed ones.</p>\n";
  if (drawn.nodes < report.graph.size())
    html += fmt::format("<p class=\"note\">Drawn are the first {} of {} operators.</p>\n",
                        grouped(static_cast<int64_t>(drawn.nodes)),
                        grouped(static_cast<int64_t>(report.graph.size())));
  const GraphLayout layout = lay_out(drawn.nodes, drawn.edges);
  std::string svg = fmt::format(
      "<svg class=\"graph items\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" aria-label=\"The graph of the model\">\n",
      layout.width, layout.height);
  svg += region_shapes(page, report, layout);
  for (size_t e = 0; e < drawn.edges.size(); ++e)
    svg += edge_shape(part, *drawn.rows[e], layout.lines[e]);
  for (size_t i = 0; i < drawn.nodes; ++i)
    svg += node_shape(page, part, report.graph[i], layout.nodes[i]);
  html += "<div class=\"tall\">" +
          scrolled(label_in(part, "Drawing of the graph"), svg + "</svg>") + "</div>\n";
  html +=
      folded(counted(static_cast<int64_t>(report.edges.size()), "tensor") + " between operators",
             edge_table(part));
  return html + "</section>\n";
}

}  // namespace intarsia::packaging::page
