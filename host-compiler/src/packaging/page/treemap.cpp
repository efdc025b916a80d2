#include "packaging/page/treemap.h"

#include <algorithm>
#include <numeric>

namespace intarsia::packaging::page {
namespace {

// The longest side ratio of a row of rectangles along a side of length `side`.
double worst_ratio(double least, double most, double sum, double side) {
  const double square = side * side;
  return std::max(square * most / (sum * sum), sum * sum / (square * least));
}

}  // namespace

// Squarified: rows are filled along the shorter side as long as their rectangles become squarer.
std::vector<Area> treemap(const std::vector<int64_t>& amounts, Area left) {
  std::vector<Area> areas(amounts.size());
  double amount_left = 0;
  for (const int64_t amount : amounts) amount_left += static_cast<double>(amount);
  size_t first = 0;
  while (first < amounts.size() && amount_left > 0 && left.width > 0 && left.height > 0) {
    const double scale = left.width * left.height / amount_left;
    const double side = std::min(left.width, left.height);
    const auto size = [&](size_t i) { return static_cast<double>(amounts[i]) * scale; };
    double sum = size(first), ratio = worst_ratio(sum, sum, sum, side);
    size_t end = first + 1;
    for (; end < amounts.size() && amounts[end] > 0; ++end) {
      const double longer = sum + size(end);
      const double next = worst_ratio(size(end), size(first), longer, side);
      if (next > ratio) break;
      sum = longer;
      ratio = next;
    }
    const double depth = sum / side;
    double at = 0;
    for (size_t i = first; i < end; ++i) {
      const double length = size(i) / depth;
      areas[i] = left.width >= left.height ? Area{left.x, left.y + at, depth, length}
                                           : Area{left.x + at, left.y, length, depth};
      at += length;
      amount_left -= static_cast<double>(amounts[i]);
    }
    if (left.width >= left.height)
      left = {left.x + depth, left.y, left.width - depth, left.height};
    else
      left = {left.x, left.y + depth, left.width, left.height - depth};
    first = end;
  }
  return areas;
}

}  // namespace intarsia::packaging::page
