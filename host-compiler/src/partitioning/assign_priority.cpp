#include <algorithm>

#include <fmt/format.h>

#include "partitioning/assign.h"
#include "target_kind/owners.h"

namespace intarsia::partitioning {
namespace {

// A piece fits a device when none of its operators is taken or pinned elsewhere.
bool is_free(const Piece& piece, int device, const Offers& offers, const Assignment& assignment) {
  return std::all_of(piece.nodes.begin(), piece.nodes.end(), [&](graph::NodeId node) {
    const int pin = offers.pinned[node.at()];
    return assignment[node.at()] < 0 && (pin < 0 || pin == device);
  });
}

void take(int device, const Offers& offers, Assignment& assignment) {
  for (const auto& row : offers.table.cells)
    for (const Piece& piece : row[static_cast<size_t>(device)].pieces)
      if (is_free(piece, device, offers, assignment))
        for (const graph::NodeId node : piece.nodes) assignment[node.at()] = device;
}

}  // namespace

Result<Assignment> assign_by_priority(const graph::Module& module, const graph::Function& function,
                                      const TargetRegistry& registry, const TargetSpec& target,
                                      const Offers& offers) {
  Assignment assignment(function.nodes.size(), -1);
  for (const size_t device : order_of_priority(target, registry))
    take(static_cast<int>(device), offers, assignment);

  Diagnostics problems;
  for (size_t n = 0; n < assignment.size(); ++n) {
    if (assignment[n] >= 0) continue;
    const graph::Node& node = function.nodes[n];
    std::string reasons;
    for (size_t m = 0; m < target.devices().size(); ++m)
      reasons += fmt::format("{}{}: {}", m == 0 ? "" : "; ", target.devices()[m].name,
                             offers.table.cells[n][m].reason);
    problems.add(
        fmt::format("{}: operator '{}' ({})", module.name, node.name, graph::to_string(node.kind)),
        fmt::format("no device of the target can take it ({})", reasons),
        "'intarsia explain' lists the constraint of every device");
  }
  if (!problems.empty()) return problems;
  return assignment;
}

}  // namespace intarsia::partitioning
