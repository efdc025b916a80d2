#include "requests/sweep_drawing.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "requests/sweep_shown.h"

namespace intarsia::requests {
namespace {

using packaging::page::escaped;
using packaging::page::kCharacter;

constexpr double kTop = 16, kBottom = kDrawingHeight - 52, kLeft = 76, kBetween = 88, kRight = 12;
constexpr double kRadius = 5, kTextHeight = 13;
// Beyond as many points only those that nothing beats have their numbers beside them.
constexpr size_t kMostNumbered = 60;
// Beyond this factor between the largest and the smallest value, steps are of equal factors.
constexpr double kMostLinear = 20;

bool is_of_bytes(Figure figure) {
  return figure == Figure::Ram || figure == Figure::Flash || figure == Figure::Constants ||
         figure == Figure::Stack;
}

// Values along one direction: where each is between 0 and 1, and where its marks are.
class Axis {
 public:
  Axis(Figure figure, double least, double most) : figure_(figure) {
    is_log_ = least > 0 && most / least > kMostLinear;
    if (is_log_) {
      begin_ = std::log(least) - 0.04 * std::log(most / least);
      end_ = std::log(most) + 0.04 * std::log(most / least);
    } else {
      end_ = most > 0 ? most * 1.06 : 1;
    }
  }

  double at(double value) const {
    const double here = is_log_ ? std::log(std::max(value, 1e-12)) : value;
    return std::clamp((here - begin_) / (end_ - begin_), 0.0, 1.0);
  }

  std::vector<double> marks() const {
    std::vector<double> marks;
    if (!is_log_) {
      const double distance = linear_distance();
      for (double mark = 0; mark <= end_; mark += distance) marks.push_back(mark);
      return marks;
    }
    // Powers of two or of ten, or 1, 2 and 5 of each ten where it is few.
    const double least = std::exp(begin_), most = std::exp(end_);
    if (is_of_bytes(figure_)) {
      const double octaves = std::log2(most / least);
      const double step = std::exp2(std::max(1.0, std::ceil(octaves / 6)));
      for (double mark = 1; mark <= most; mark *= step)
        if (mark >= least) marks.push_back(mark);
      return marks;
    }
    const bool has_few = std::log10(most / least) < 3;
    for (double ten = 1e-6; ten <= most; ten *= 10)
      for (const double factor : {1.0, 2.0, 5.0})
        if ((factor == 1.0 || has_few) && ten * factor >= least && ten * factor <= most)
          marks.push_back(ten * factor);
    return marks;
  }

  std::string text(double mark) const {
    if (figure_ != Figure::Microseconds) return shown_value(figure_, mark);
    if (mark < 1000) return fmt::format("{:g} µs", mark);
    return mark < 1e6 ? fmt::format("{:g} ms", mark / 1e3) : fmt::format("{:g} s", mark / 1e6);
  }
  std::string name() const {
    std::string name = shown_name(figure_);
    if (is_of_bytes(figure_)) name += ", bytes";
    if (figure_ == Figure::Cycles || figure_ == Figure::Microseconds) name += ", estimated";
    return name;
  }

 private:
  double linear_distance() const {
    if (is_of_bytes(figure_)) {
      double distance = 1;
      while (distance < end_ / 7) distance *= 2;
      return distance;
    }
    const double ten = std::pow(10, std::floor(std::log10(end_ / 7)));
    for (const double factor : {1.0, 2.0, 5.0})
      if (ten * factor >= end_ / 7) return ten * factor;
    return ten * 10;
  }

  Figure figure_;
  bool is_log_ = false;
  double begin_ = 0, end_ = 1;
};

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct Point {
  double x = 0, y = 0;
  std::vector<const DrawnRow*> rows;  // that are at the same place

  bool is_unbeaten() const {
    return std::any_of(rows.begin(), rows.end(),
                       [](const DrawnRow* row) { return row->is_unbeaten; });
  }
};

// Beside a point, where nothing else is; nowhere, if there is no such place.
std::string number_beside(const Point& point, const Box& field, std::vector<Box>& taken) {
  std::string text;
  for (const DrawnRow* row : point.rows)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", row->number);
  const double width = kCharacter * static_cast<double>(text.size()), away = kRadius + 4;
  struct Place {
    double x, y;  // of the text's left end and its line
  };
  const Place places[] = {{point.x + away, point.y + 4},
                          {point.x - away - width, point.y + 4},
                          {point.x - width / 2, point.y - away},
                          {point.x - width / 2, point.y + away + kTextHeight - 3},
                          {point.x + away, point.y - away + 1},
                          {point.x + away, point.y + away + 8},
                          {point.x - away - width, point.y - away + 1},
                          {point.x - away - width, point.y + away + 8}};
  for (const Place& place : places) {
    const Box box{place.x - 1, place.y - kTextHeight + 3, place.x + width + 1, place.y + 2};
    const bool is_inside = box.left >= field.left && box.right <= field.right &&
                           box.top >= field.top && box.bottom <= field.bottom;
    if (!is_inside ||
        std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.meets(box); }))
      continue;
    taken.push_back(box);
    return fmt::format("<text class=\"number\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", place.x,
                       place.y, text);
  }
  return "";
}

std::string title_of(const DrawnRow& drawn, std::span<const Figure> figures) {
  const SweepRow& row = *drawn.row;
  std::string text = fmt::format("{}: {}", drawn.number, row.choice);
  if (row.board != "host") text += " on " + row.board;
  if (row.ram_budget.is_given()) text += ", budget " + shown_budget(row.ram_budget);
  for (const Figure figure : figures)
    if (const std::optional<double> value = row.figures.value(figure))
      text += fmt::format(", {} {}", shown_name(figure), shown_value(figure, *value));
  return text;
}

class Field {
 public:
  Field(std::span<const DrawnRow> rows, std::span<const Figure> by, Figure x, Figure y, double left,
        double right)
      : rows_(rows),
        by_(by),
        x_figure_(x),
        y_figure_(y),
        box_{left, kTop, right, kBottom},
        x_(axis_of(x)),
        y_(axis_of(y)) {}

  std::string svg() const { return grid() + front() + points(); }

 private:
  Axis axis_of(Figure figure) const {
    double least = 0, most = 0;
    bool is_first = true;
    for (const DrawnRow& row : rows_) {
      const double value = *row.row->figures.value(figure);
      least = is_first ? value : std::min(least, value);
      most = std::max(most, value);
      is_first = false;
    }
    return {figure, least, most};
  }
  double x_of(const DrawnRow& row) const {
    return box_.left + x_.at(*row.row->figures.value(x_figure_)) * (box_.right - box_.left);
  }
  double y_of(const DrawnRow& row) const {
    return box_.bottom - y_.at(*row.row->figures.value(y_figure_)) * (box_.bottom - box_.top);
  }

  std::string grid() const {
    std::string svg;
    for (const double mark : x_.marks()) {
      const double x = box_.left + x_.at(mark) * (box_.right - box_.left);
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text class=\"tick middle\" "
          "x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
          x, box_.top, box_.bottom, box_.bottom + 17, x_.text(mark));
    }
    for (const double mark : y_.marks()) {
      const double y = box_.bottom - y_.at(mark) * (box_.bottom - box_.top);
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"tick end\" "
          "x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
          box_.left, y, box_.right, box_.left - 7, y + 4, y_.text(mark));
    }
    const double middle = (box_.top + box_.bottom) / 2;
    return svg + fmt::format(
                     "<text class=\"caption middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
                     "<text class=\"caption middle\" x=\"{:.1f}\" y=\"{:.1f}\" "
                     "transform=\"rotate(-90 {:.1f} {:.1f})\">{}</text>\n",
                     (box_.left + box_.right) / 2, box_.bottom + 39, x_.name(), box_.left - 60,
                     middle, box_.left - 60, middle, y_.name());
  }

  // The steps below which there is no choice, seen in these two figures alone.
  std::string front() const {
    std::vector<SweepPoint> points;
    for (const DrawnRow& row : rows_)
      points.push_back(
          {"", {row.row->figures.value(x_figure_), row.row->figures.value(y_figure_)}});
    const std::vector<bool> is_front = unbeaten(points);
    std::vector<std::pair<double, double>> corners;
    for (size_t i = 0; i < rows_.size(); ++i)
      if (is_front[i]) corners.emplace_back(x_of(rows_[i]), y_of(rows_[i]));
    std::sort(corners.begin(), corners.end());
    if (corners.empty()) return "";
    std::string path = fmt::format("M{:.1f} {:.1f}", corners.front().first, box_.top);
    for (const auto& [x, y] : corners) path += fmt::format("H{:.1f}V{:.1f}", x, y);
    return fmt::format("<path class=\"front\" d=\"{}H{:.1f}\"/>\n", path, box_.right);
  }

  std::string points() const {
    std::vector<Point> places;
    for (const DrawnRow& row : rows_) {
      const double x = x_of(row), y = y_of(row);
      const auto found = std::find_if(places.begin(), places.end(), [&](const Point& point) {
        return std::abs(point.x - x) < 1 && std::abs(point.y - y) < 1;
      });
      (found != places.end() ? *found : places.emplace_back(Point{x, y, {}})).rows.push_back(&row);
    }
    // Those that nothing beats are on top, and the first to get their numbers.
    std::stable_sort(places.begin(), places.end(), [](const Point& a, const Point& b) {
      return a.is_unbeaten() < b.is_unbeaten();
    });
    std::string svg;
    std::vector<Box> taken;
    for (const Point& point : places) {
      taken.push_back({point.x - kRadius, point.y - kRadius, point.x + kRadius, point.y + kRadius});
      std::string title;
      for (const DrawnRow* row : point.rows)
        title += (title.empty() ? "" : "\n") + title_of(*row, by_);
      svg += fmt::format(
          "<circle class=\"point c{}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title>"
          "</circle>\n",
          point.rows.front()->colour, point.is_unbeaten() ? " unbeaten" : "", point.x, point.y,
          kRadius, escaped(title));
    }
    const bool has_many = places.size() > kMostNumbered;
    for (auto point = places.rbegin(); point != places.rend(); ++point)
      if (point->is_unbeaten() || !has_many) svg += number_beside(*point, box_, taken);
    return svg;
  }

  std::span<const DrawnRow> rows_;
  std::span<const Figure> by_;
  Figure x_figure_, y_figure_;
  Box box_;
  Axis x_, y_;
};

std::vector<DrawnRow> with_all(std::span<const DrawnRow> rows, std::span<const Figure> by) {
  std::vector<DrawnRow> result;
  for (const DrawnRow& row : rows)
    if (row.row->has_figures() && std::all_of(by.begin(), by.end(), [&](Figure figure) {
          return row.row->figures.value(figure).has_value();
        }))
      result.push_back(row);
  return result;
}

}  // namespace

bool can_be_drawn(std::span<const DrawnRow> rows, std::span<const Figure> by) {
  return by.size() >= 2 && !with_all(rows, by).empty();
}

std::string sweep_drawing(std::span<const DrawnRow> rows, std::span<const Figure> by) {
  const std::vector<DrawnRow> drawn = with_all(rows, by);
  const size_t fields = by.size() - 1;
  const double width =
      (kDrawingWidth - kLeft - kRight - kBetween * static_cast<double>(fields - 1)) /
      static_cast<double>(fields);
  std::string svg;
  for (size_t i = 0; i < fields; ++i) {
    const double left = kLeft + static_cast<double>(i) * (width + kBetween);
    svg += Field(drawn, by, by[i], by.back(), left, left + width).svg();
  }
  return svg;
}

}  // namespace intarsia::requests
