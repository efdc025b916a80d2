// What every device of the target says about every operator, before any decision.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::partitioning {

// Devices are counted as TargetSpec::devices() does: 0 is the host.
struct Piece {  // one accepted match: taken whole or not at all
  std::vector<graph::NodeId> nodes;
};

struct Cell {
  std::vector<Piece>
      pieces;          // accepted matches the operator is part of, the target's favourite first
  std::string reason;  // why there is none
  std::string note;    // how it can, when not as the operator is

  bool can() const { return !pieces.empty(); }
};

struct OfferTable {
  std::vector<std::vector<Cell>> cells;  // [node][device]

  const Cell& at(graph::NodeId node, size_t device) const { return cells[node.at()][device]; }
};

// Refuses pins to unknown devices, to unknown operators, and to devices that cannot take them, each
// with the reason. `pinned[node]` is the device a node is bound to, or -1.
struct Offers {
  OfferTable table;
  std::vector<int> pinned;
};

Result<Offers> collect_offers(const graph::Module& module, const graph::Function& function,
                              const TargetRegistry& registry, const TargetSpec& target);

}  // namespace intarsia::partitioning
