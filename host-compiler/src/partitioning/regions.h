// Regions: operators of one device that run together, in an order without a cycle between regions.
#pragma once

#include <vector>

#include "partitioning/assign.h"

namespace intarsia::partitioning {

struct Region {
  int device;
  std::vector<graph::NodeId> nodes;  // in executable order
};

// A list schedule that stays with one device as long as some operator of it is ready; regions are
// its maximal runs. Since they are runs of one linear order, no two regions wait for each other.
// With one device the order is the model's own.
std::vector<Region> make_regions(const graph::Function& function, const Assignment& assignment);

// Pairs of a region and a later one of another device that reads a result of it. The caller counts as a region of
// the host before all others, which has the inputs, and as one after them, which takes the outputs.
int64_t count_boundaries(const graph::Function& function, const std::vector<Region>& regions);

// The module whose entry calls one function per region.
graph::Module outline(const graph::Module& module, const graph::Function& function,
                      const TargetSpec& target, const std::vector<Region>& regions);

}  // namespace intarsia::partitioning
