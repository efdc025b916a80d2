#include "requests/sweep_row.h"

#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

namespace intarsia::requests {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kFigures = {Figure::Ram,   Figure::Flash,  Figure::Constants,
                                 Figure::Stack, Figure::Cycles, Figure::Microseconds,
                                 Figure::Macs};

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json budget_json(const SweepBudget& budget) {
  return budget.is_auto ? Json(kAutoSweepBudget) : json_of(budget.bytes);
}

Json row_json(const SweepRow& row, bool is_unbeaten) {
  const SweepFigures& figures = row.figures;
  return {{"model", row.model},
          {"target", row.target},
          {"board", row.board},
          {"ram_budget", budget_json(row.ram_budget)},
          {"ram", json_of(figures.ram)},
          {"flash", json_of(figures.flash)},
          {"constants", json_of(figures.constants)},
          {"stack", json_of(figures.stack)},
          {"cycles", json_of(figures.cycles)},
          {"microseconds", json_of(figures.microseconds)},
          {"macs", json_of(figures.macs)},
          {"error", row.error.empty() ? Json(nullptr) : Json(row.error)},
          {"unbeaten", is_unbeaten}};
}

constexpr auto kReplace = Json::error_handler_t::replace;  // what is no UTF-8

// As RFC 4180 has it: what holds a comma, a quote or the end of a line is in quotes.
std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

bool beats(const SweepPoint& a, const SweepPoint& b) {
  bool is_better = false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (*a.values[i] > *b.values[i]) return false;
    is_better |= *a.values[i] < *b.values[i];
  }
  return is_better;
}

}  // namespace

std::span<const Figure> all_figures() {
  return kFigures;
}

std::string_view to_string(Figure figure) {
  switch (figure) {
    case Figure::Ram:
      return "ram";
    case Figure::Flash:
      return "flash";
    case Figure::Constants:
      return "constants";
    case Figure::Stack:
      return "stack";
    case Figure::Cycles:
      return "cycles";
    case Figure::Microseconds:
      return "microseconds";
    case Figure::Macs:
      return "macs";
  }
  return "";
}

std::optional<Figure> figure_named(std::string_view name) {
  for (const Figure figure : kFigures)
    if (to_string(figure) == name) return figure;
  return std::nullopt;
}

std::optional<double> SweepFigures::value(Figure figure) const {
  const auto of = [](const std::optional<int64_t>& number) {
    return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
  };
  switch (figure) {
    case Figure::Ram:
      return of(ram);
    case Figure::Flash:
      return of(flash);
    case Figure::Constants:
      return of(constants);
    case Figure::Stack:
      return of(stack);
    case Figure::Cycles:
      return of(cycles);
    case Figure::Microseconds:
      return microseconds;
    case Figure::Macs:
      return of(macs);
  }
  return std::nullopt;
}

SweepFigures sweep_figures(const ProgramReport& report) {
  SweepFigures figures;
  int64_t constants = 0, macs = 0;
  for (const Report& part : report.parts) {
    constants += part.weight_bytes + part.table_bytes + part.stream_bytes;
    macs += part.macs;
  }
  figures.ram = ram_bytes(report);
  figures.constants = constants;
  figures.macs = macs;
  if (report.measured) {
    figures.flash = report.measured->flash_bytes();
    figures.stack = report.measured->stack_bytes;
  }
  int64_t cycles = 0;
  double microseconds = 0;
  for (const DeviceCycles& device : report.device_cycles) {
    cycles += device.cycles;
    microseconds += static_cast<double>(device.cycles) / device.clock_mhz;
  }
  if (cycles > 0) figures.cycles = cycles;
  if (!report.device_cycles.empty()) figures.microseconds = microseconds;
  return figures;
}

std::vector<Figure> compared_by_default(std::span<const SweepRow> rows) {
  const bool flash_is_known = std::all_of(rows.begin(), rows.end(), [](const SweepRow& row) {
    return !row.has_figures() || row.figures.flash.has_value();
  });
  return {Figure::Ram, flash_is_known ? Figure::Flash : Figure::Constants, Figure::Microseconds};
}

std::vector<bool> unbeaten(std::span<const SweepPoint> points) {
  std::vector<bool> result(points.size(), false);
  std::map<std::string_view, std::vector<size_t>> of_model;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto& values = points[i].values;
    if (std::all_of(values.begin(), values.end(),
                    [](const std::optional<double>& value) { return value.has_value(); }))
      of_model[points[i].model].push_back(i);
  }
  for (const auto& [model, numbers] : of_model)
    for (const size_t i : numbers)
      result[i] = std::none_of(numbers.begin(), numbers.end(), [&, at = i](size_t other) {
        return beats(points[other], points[at]);
      });
  return result;
}

std::vector<bool> unbeaten(std::span<const SweepRow> rows, std::span<const Figure> by) {
  std::vector<SweepPoint> points;
  for (const SweepRow& row : rows) {
    SweepPoint& point = points.emplace_back(SweepPoint{row.model, {}});
    for (const Figure figure : by)
      point.values.push_back(row.has_figures() ? row.figures.value(figure) : std::nullopt);
  }
  return unbeaten(points);
}

std::string sweep_json(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten) {
  Json all = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) all.push_back(row_json(rows[i], unbeaten[i]));
  return all.dump(2, ' ', false, kReplace) + "\n";
}

std::string sweep_csv(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten) {
  std::string text;
  const auto line = [&](const auto& cells) {
    const char* between = "";
    for (const std::string& cell : cells) {
      text += between + cell;
      between = ",";
    }
    text += "\n";
  };
  const Json columns = row_json({}, false);
  std::vector<std::string> cells;
  for (const auto& [name, value] : columns.items()) cells.push_back(name);
  line(cells);
  for (size_t i = 0; i < rows.size(); ++i) {
    cells.clear();
    const Json json = row_json(rows[i], unbeaten[i]);
    for (const auto& [name, value] : json.items()) cells.push_back(csv_cell(value));
    line(cells);
  }
  return text;
}

}  // namespace intarsia::requests
