// The cheapest assignment, by a dynamic programme over decisions.
#pragma once

#include <optional>
#include <vector>

#include "partitioning/assign.h"
#include "partitioning/cost_model.h"

namespace intarsia::partitioning {

// Nodes that go to a device together, as the device's patterns match them.
struct DevicePiece {
  int device;
  std::vector<int> nodes;  // ascending
};

struct PlacementProblem {
  const CostModel& model;
  const std::vector<DevicePiece>& pieces;
  const std::vector<std::vector<int>>&
      pieces_of;  // [node]: indices into pieces, in the order to try them
  // What the caller can have without a search: only what costs less is looked for.
  std::optional<Picoseconds> known;
};

struct PlacementResult {
  std::optional<Assignment> assignment;  // absent: nothing that costs less than `known` was found
  Explanation::Search effort;            // exact: and there is nothing
};

// Every node is in exactly one piece, all of whose nodes go to the piece's device.
PlacementResult search_placements(const PlacementProblem& problem, const SearchLimits& limits);

}  // namespace intarsia::partitioning
