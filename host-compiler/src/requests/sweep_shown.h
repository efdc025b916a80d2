// A sweep as people read it, in a terminal and on a page: the same cells in both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "requests/sweep_row.h"

namespace intarsia::requests {

inline constexpr const char* kUnbeatenMark = "*";

struct ShownSweep {
  std::vector<std::string> headings;
  std::vector<size_t> right;                    // columns of numbers
  size_t mark = 0;                              // the column of kUnbeatenMark
  std::vector<std::vector<std::string>> cells;  // a row each, as many as there are headings
  std::vector<std::string> reasons;  // why a row has no figures, in one line; empty: it has
  std::vector<std::string> remarks;  // below the table: what the mark means, and what "-" does
};

// Columns in which all rows are the same for want of a choice are left out: the model, the board, the budget.
ShownSweep shown_sweep(std::span<const SweepRow> rows, const std::vector<bool>& unbeaten,
                       std::span<const Figure> by);

// "RAM", "flash", "time": as the tables have it.
std::string shown_name(Figure figure);
// "RAM, flash and time".
std::string shown_names(std::span<const Figure> figures);
// "22.1K", "3.58M" of cycles, "1.23 ms".
std::string shown_value(Figure figure, double value);
// "20.0K", "auto", "none".
std::string shown_budget(const SweepBudget& budget);

}  // namespace intarsia::requests
