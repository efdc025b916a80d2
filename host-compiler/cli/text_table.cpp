#include "text_table.h"

#include <algorithm>

namespace intarsia::cli {
namespace {

constexpr size_t kGap = 2, kLeastWrapped = 20;

std::vector<size_t> widths_of(const std::vector<TableRow>& rows) {
  std::vector<size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i].text));
  }
  return widths;
}

}  // namespace

std::vector<std::string> table_lines(const std::vector<TableRow>& rows, const Terminal& terminal,
                                     const TableLayout& layout) {
  const std::vector<size_t> widths = widths_of(rows);
  std::vector<std::string> lines;
  for (size_t r = 0; r < rows.size(); ++r) {
    const TableRow& row = rows[r];
    // Blanks are held back until something follows.
    std::string line;
    size_t blanks = layout.indent, at = layout.indent;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const Tint tint = layout.has_heading && r == 0 ? Tint::Heading : row[i].tint;
      const size_t filling = widths[i] - columns_of(row[i].text);
      const bool is_right =
          std::find(layout.right.begin(), layout.right.end(), i) != layout.right.end();
      if (is_right) blanks += filling;
      std::string cell = row[i].text;
      const auto width = static_cast<size_t>(terminal.width);
      if (is_last && terminal.is_terminal && at + kLeastWrapped <= width)
        cell = wrapped(cell, width, at, at);
      if (!cell.empty()) {
        line += std::string(blanks, ' ') + tinted(terminal, tint, cell);
        blanks = 0;
      }
      blanks += kGap + (cell.empty() ? columns_of(row[i].text) : 0) + (is_right ? 0 : filling);
      at += widths[i] + kGap;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string table_text(const std::vector<TableRow>& rows, const Terminal& terminal,
                       const TableLayout& layout) {
  std::string text;
  for (const std::string& line : table_lines(rows, terminal, layout)) text += line + "\n";
  return text;
}

}  // namespace intarsia::cli
