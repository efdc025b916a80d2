// Tables with aligned columns. In a pipe lines are as long as they come; on a terminal the last column is wrapped.
#pragma once

#include <string>
#include <vector>

#include "terminal.h"

namespace intarsia::cli {

struct TableCell {
  std::string text;
  Tint tint = Tint::Plain;
};
using TableRow = std::vector<TableCell>;

struct TableLayout {
  size_t indent = 0;
  bool has_heading = false;   // the first row
  std::vector<size_t> right;  // columns whose cells end at one column: numbers
};

// A line for each row, without blanks at its end; one that is wrapped holds line feeds. A row may have fewer cells than
// others.
std::vector<std::string> table_lines(const std::vector<TableRow>& rows, const Terminal& terminal,
                                     const TableLayout& layout = {});
std::string table_text(const std::vector<TableRow>& rows, const Terminal& terminal,
                       const TableLayout& layout = {});

}  // namespace intarsia::cli
