#include "requests/sweep_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/page_files.h"
#include "packaging/page/views.h"
#include "requests/sweep_drawing.h"
#include "requests/sweep_shown.h"

namespace intarsia::requests {
namespace {

using packaging::page::escaped;
using packaging::page::shortened;

// As many as the style has; targets beyond them have the last one.
constexpr size_t kColours = 7;

struct ModelDrawing {
  std::string model;
  std::vector<DrawnRow> rows;
};

// A model's rows are together, in the order of the table.
std::vector<ModelDrawing> drawings_of(std::span<const SweepRow> rows,
                                      const std::vector<bool>& unbeaten) {
  std::vector<std::string> targets;
  std::vector<ModelDrawing> drawings;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto target = std::find(targets.begin(), targets.end(), rows[i].choice);
    if (target == targets.end()) target = targets.insert(target, rows[i].choice);
    const auto colour = std::min(static_cast<size_t>(target - targets.begin()), kColours - 1);
    auto drawing = std::find_if(drawings.begin(), drawings.end(), [&](const ModelDrawing& each) {
      return each.model == rows[i].model;
    });
    if (drawing == drawings.end())
      drawing = drawings.insert(drawing, ModelDrawing{rows[i].model, {}});
    drawing->rows.push_back({&rows[i], i + 1, unbeaten[i], colour});
  }
  return drawings;
}

std::string label_of(const ModelDrawing& drawing, std::span<const Figure> by) {
  const auto marked = std::count_if(drawing.rows.begin(), drawing.rows.end(),
                                    [](const DrawnRow& row) { return row.is_unbeaten; });
  std::string numbers;
  for (const DrawnRow& row : drawing.rows)
    if (row.is_unbeaten) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", row.number);
  return fmt::format("{}: {} of {} choices. No other one beats {} of them{}", drawing.model,
                     shown_names(by), drawing.rows.size(), marked,
                     marked == 0 ? "" : ": " + numbers);
}

constexpr const char* kHowToRead =
    "Each point is a choice, with its number in the table and a colour for each target. Less is "
    "better in every direction. "
    "Filled points are choices that no other one beats in {}; the line is the edge of what can be "
    "had in the two figures of "
    "its field. Cycles and time are estimates.";

std::string table_html(const ShownSweep& shown, const std::vector<ModelDrawing>& drawings) {
  std::vector<const DrawnRow*> drawn(shown.cells.size());
  for (const ModelDrawing& drawing : drawings)
    for (const DrawnRow& row : drawing.rows) drawn[row.number - 1] = &row;
  const auto is_number = [&](size_t column) {
    return std::find(shown.right.begin(), shown.right.end(), column) != shown.right.end();
  };
  std::string html = "<table class=\"sweep\">\n<thead><tr>";
  for (size_t c = 0; c < shown.headings.size(); ++c)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_number(c) ? " class=\"n\"" : "",
                        c == shown.mark ? "<span class=\"visually-hidden\">not beaten</span>"
                                        : escaped(shown.headings[c]));
  html += "</tr></thead>\n<tbody>\n";
  for (size_t r = 0; r < shown.cells.size(); ++r) {
    html += fmt::format("<tr class=\"{}\">", drawn[r]->is_unbeaten ? "unbeaten" : "beaten");
    for (size_t c = 0; c < shown.cells[r].size(); ++c) {
      if (c == 0)
        html += fmt::format("<th scope=\"row\" class=\"n\">{}</th>", shown.cells[r][c]);
      else if (c == shown.mark)
        html += fmt::format(
            "<td><svg class=\"key\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 12 12\"><circle "
            "class=\"point c{}{}\" "
            "cx=\"6\" cy=\"6\" r=\"5\"/></svg></td>",
            !shown.reasons[r].empty() ? "cannot be had"
            : drawn[r]->is_unbeaten   ? "no other choice beats it"
                                      : "another choice beats it",
            drawn[r]->colour, drawn[r]->is_unbeaten ? " unbeaten" : "");
      else
        html += fmt::format("<td{}>{}</td>", is_number(c) ? " class=\"n\"" : "",
                            escaped(shown.cells[r][c]));
    }
    html += "</tr>\n";
    if (!shown.reasons[r].empty())
      html +=
          fmt::format("<tr class=\"reason\"><td></td><td></td><td colspan=\"{}\">{}</td></tr>\n",
                      shown.headings.size() - 2, escaped(shown.reasons[r]));
  }
  html += "</tbody></table>\n";
  return html;
}

std::string svg_begin(double height, const std::string& label, const char* attributes) {
  return fmt::format("<svg {} role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-label=\"{}\">\n",
                     attributes, kDrawingWidth, height, escaped(label));
}

}  // namespace

std::string sweep_page(std::span<const SweepRow> rows, std::span<const Figure> by) {
  const std::vector<bool> marks = unbeaten(rows, by);
  const ShownSweep shown = shown_sweep(rows, marks, by);
  const std::vector<ModelDrawing> drawings = drawings_of(rows, marks);
  std::string views, names;
  for (size_t i = 0; i < drawings.size(); ++i) {
    const ModelDrawing& drawing = drawings[i];
    names += (i == 0 ? "" : ", ") + drawing.model;
    views += fmt::format("<section aria-labelledby=\"model-{0}\"><h2 id=\"model-{0}\">{1}</h2>\n",
                         i, escaped(drawing.model));
    if (i == 0)
      views += fmt::format("<p class=\"lead\">{}</p>\n",
                           fmt::format(fmt::runtime(kHowToRead), shown_names(by)));
    const std::string label = label_of(drawing, by);
    if (can_be_drawn(drawing.rows, by))
      views +=
          packaging::page::scrolled(label, svg_begin(kDrawingHeight, label, "class=\"chart\"") +
                                               sweep_drawing(drawing.rows, by) + "</svg>\n");
    else
      views +=
          by.size() < 2
              ? "<p class=\"note\">One figure alone is not drawn: --by takes two or more.</p>\n"
              : fmt::format(
                    "<p class=\"note\">No choice has all of {}: there is nothing to draw.</p>\n",
                    shown_names(by));
    views += "</section>\n";
  }
  std::string remarks;
  for (const std::string& remark : shown.remarks)
    if (!remark.starts_with(kUnbeatenMark))
      remarks += fmt::format("<p class=\"note\">{}</p>\n", escaped(remark));
  views += "<section aria-labelledby=\"choices\"><h2 id=\"choices\">All choices</h2>\n" +
           packaging::page::scrolled("Table of all choices", table_html(shown, drawings)) +
           remarks + "</section>\n";
  std::string text(packaging::page::sweep_template_text());
  const auto fill = [&](const std::string& place, const std::string& value) {
    for (size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += value.size())
      text.replace(at, place.size(), value);
  };
  // What is filled in last is not looked at again.
  fill("@@style@@", std::string(packaging::page::style_text()) +
                        std::string(packaging::page::sweep_style_text()));
  fill("@@count@@", packaging::page::counted(static_cast<int64_t>(rows.size()), "choice"));
  fill("@@models@@", escaped(shortened(names, 120)));
  fill("@@views@@", views);
  return text;
}

std::string sweep_picture(std::span<const SweepRow> rows, std::span<const Figure> by) {
  constexpr double kTitle = 34, kLine = 17, kBelow = 18;
  const std::vector<bool> marks = unbeaten(rows, by);
  const ShownSweep shown = shown_sweep(rows, marks, by);
  double top = 8;
  std::string drawn, whole_label;
  for (const ModelDrawing& drawing : drawings_of(rows, marks)) {
    whole_label += (whole_label.empty() ? "" : ". ") + label_of(drawing, by);
    drawn += fmt::format("<text class=\"title\" x=\"12\" y=\"{:.0f}\">{}</text>\n", top + 16,
                         escaped(drawing.model));
    top += kTitle;
    if (can_be_drawn(drawing.rows, by)) {
      drawn += fmt::format("<g transform=\"translate(0 {:.0f})\">\n{}</g>\n", top,
                           sweep_drawing(drawing.rows, by));
      top += kDrawingHeight;
    }
    // Two columns of what the numbers stand for.
    const size_t lines = (drawing.rows.size() + 1) / 2;
    for (size_t i = 0; i < drawing.rows.size(); ++i) {
      const DrawnRow& row = drawing.rows[i];
      const double x = i < lines ? 24 : kDrawingWidth / 2 + 12;
      const double y = top + kLine * static_cast<double>(i % lines) + 14;
      std::string text = row.row->choice;
      if (row.row->board != "host") text += " on " + row.row->board;
      if (row.row->ram_budget.is_given()) text += ", budget " + shown_budget(row.row->ram_budget);
      if (!row.row->has_figures()) text += " (cannot be had)";
      drawn += fmt::format(
          "<circle class=\"point c{}{}\" cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"4\"/><text "
          "x=\"{:.0f}\" y=\"{:.0f}\">{} {}</text>\n",
          row.colour, row.is_unbeaten ? " unbeaten" : "", x - 10, y - 4, x, y, row.number,
          escaped(shortened(text, 62)));
    }
    top += kLine * static_cast<double>(lines) + kBelow;
  }
  for (const std::string& remark : shown.remarks) {
    const std::string text = remark.starts_with(kUnbeatenMark)
                                 ? fmt::format(
                                       "filled: no other choice is as good in {}, and better in "
                                       "one; cycles and time are estimates",
                                       shown_names(by))
                                 : remark;
    drawn += fmt::format("<text class=\"tick\" x=\"12\" y=\"{:.0f}\">{}</text>\n", top + 12,
                         escaped(shortened(text, 150)));
    top += kLine;
  }
  top += 8;
  return svg_begin(top, whole_label, "xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\"") +
         fmt::format(
             "<title>{}</title>\n<style>{}</style>\n<rect class=\"paper\" width=\"{:.0f}\" "
             "height=\"{:.0f}\"/>\n",
             escaped(whole_label), packaging::page::sweep_style_text(), kDrawingWidth, top) +
         drawn + "</svg>\n";
}

}  // namespace intarsia::requests
