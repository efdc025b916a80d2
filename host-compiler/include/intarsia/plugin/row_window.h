// Which rows of its operands an operator needs for rows of its result: the arithmetic of running operators by row tiles of
// rows, on CPUs and on NPUs. Rows are counted from 0; ranges may reach beyond an image where its padding does.
#pragma once

#include <algorithm>
#include <cstdint>

namespace intarsia {

struct RowRange {
  int64_t first = 0, end = 0;
  int64_t count() const { return end - first; }
  bool operator==(const RowRange&) const = default;
};

// Row y of a result needs the rows y * stride - pad + k * dilation, 0 <= k < kernel, of the operand that exist, once each
// of its rows has been repeated `upscale` times.
struct RowWindow {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, upscale = 1;

  // Every row of the result needs all `rows` rows of the operand.
  static constexpr RowWindow whole(int64_t rows) { return {rows, 0, 1, 0, 1}; }
  // Rows from the first that one row of the result needs to behind the last, before it is repeated.
  constexpr int64_t extent() const { return (kernel - 1) * dilation + 1; }
  bool operator==(const RowWindow&) const = default;
};

// Rows of the operand from the first to behind the last that rows `made` of the result need, those beyond its edges too.
constexpr RowRange rows_of_window(const RowWindow& window, const RowRange& made) {
  const auto down = [&](int64_t row) {
    return row >= 0 ? row / window.upscale : -((-row + window.upscale - 1) / window.upscale);
  };
  const int64_t first = made.first * window.stride - window.pad;
  const int64_t last = (made.end - 1) * window.stride - window.pad + window.extent() - 1;
  return {down(first), down(last) + 1};
}

// The part of a range that an image with that number of rows has.
constexpr RowRange clipped(const RowRange& range, int64_t rows) {
  return {std::clamp<int64_t>(range.first, 0, rows), std::clamp<int64_t>(range.end, 0, rows)};
}

}  // namespace intarsia
