// Places for the operators of a graph: each below those it reads, with the lines between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace intarsia::packaging::page {

struct GraphLayout {
  static constexpr int64_t kNodeWidth = 172, kNodeHeight = 40, kGapX = 20, kGapY = 30;
  struct Point {
    int64_t x = 0, y = 0;
  };
  std::vector<Point> nodes;               // upper left corners
  std::vector<int64_t> layers;            // of nodes, from above
  std::vector<std::vector<Point>> lines;  // of edges: points that they pass, from above
  int64_t width = 0, height = 0;
};

// `edges` lead from earlier nodes to later ones. Whole numbers only, so that the same graph is drawn the same everywhere.
GraphLayout lay_out(size_t nodes, const std::vector<std::pair<size_t, size_t>>& edges);

}  // namespace intarsia::packaging::page
