// The choices of one model as points: memory against time, with the line that no choice is below.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "requests/sweep_row.h"

namespace intarsia::requests {

// What a drawing is made of.
struct DrawnRow {
  const SweepRow* row = nullptr;
  size_t number = 0;  // in the table, from 1
  bool is_unbeaten = false;
  size_t colour = 0;  // one for each target
};

inline constexpr double kDrawingWidth = 1000, kDrawingHeight = 360;

// Elements of SVG, kDrawingWidth wide and kDrawingHeight high, from 0 on: a field for each of the first figures of `by` with
// the last one from below, or one field where there are two. Rows without these figures are not in it.
std::string sweep_drawing(std::span<const DrawnRow> rows, std::span<const Figure> by);
// Whether there is anything to draw.
bool can_be_drawn(std::span<const DrawnRow> rows, std::span<const Figure> by);

}  // namespace intarsia::requests
