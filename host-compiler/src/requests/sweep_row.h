// One choice of a sweep with what it takes, and which choices no other one beats: the same for the command line, for
// Python, and for the page that draws them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "requests/program_report.h"

namespace intarsia::requests {

// Of which less is better.
enum class Figure : uint8_t { Ram, Flash, Constants, Stack, Cycles, Microseconds, Macs };
std::span<const Figure> all_figures();
std::string_view to_string(
    Figure figure);  // "ram": a key of JSON, a column of CSV, an attribute in Python
std::optional<Figure> figure_named(std::string_view name);

// Bytes, but for the last three. Flash and stack are absent where they were not measured, cycles and microseconds where
// no device of the target has an estimate.
struct SweepFigures {
  std::optional<int64_t> ram, flash, constants, stack, cycles;
  std::optional<double>
      microseconds;  // at the clocks that the estimates assume, one device after the other
  std::optional<int64_t> macs;

  std::optional<double> value(Figure figure) const;
};
// Of all parts together, where the model is in parts.
SweepFigures sweep_figures(const ProgramReport& report);

// What a row was to stay within; none of both: nothing.
struct SweepBudget {
  std::optional<int64_t> bytes = {};
  bool is_auto = false;  // what the board has, where the model does not fit otherwise

  bool is_given() const { return is_auto || bytes.has_value(); }
  bool operator==(const SweepBudget&) const = default;
};
inline constexpr const char* kAutoSweepBudget = "auto";  // as it is written, and in JSON and CSV

// One model for one target on one board, within one budget.
struct SweepRow {
  std::string model;   // its name in the sweep
  std::string target;  // as the report has it; what was written where there is no report
  std::string choice;  // the target as short as the user wrote it
  std::string board;
  SweepBudget ram_budget;
  SweepFigures figures;
  std::string not_measured;  // why flash and stack are absent from a row that has figures
  std::string error;         // why there are no figures, a line for each problem; empty: there are
  std::vector<std::string> notes;  // what was decided for the user and is no error, a sentence each

  bool has_figures() const { return error.empty(); }
};

// By which rows are compared if nobody says otherwise: RAM, estimated time, and flash, or, where it is not known of every
// row with figures, the bytes of constants, which are the part of it that is known without a compiler.
std::vector<Figure> compared_by_default(std::span<const SweepRow> rows);

// A choice as what it is compared by: by model, since a smaller model does not beat a larger one.
struct SweepPoint {
  std::string_view model;
  std::vector<std::optional<double>> values;  // as many for each point
};
// Whether no other point of the same model beats it, which is to be as good in every value and better in one. A point that
// lacks a value takes no part: it beats none, and it is none of these.
std::vector<bool> unbeaten(std::span<const SweepPoint> points);
std::vector<bool> unbeaten(std::span<const SweepRow> rows, std::span<const Figure> by);

// An array of objects, and lines with a heading: the columns of intarsia.SweepRow in Python, and whether the row is
// `unbeaten`. What is not known is null, and empty in CSV.
std::string sweep_json(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten);
std::string sweep_csv(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten);

}  // namespace intarsia::requests
