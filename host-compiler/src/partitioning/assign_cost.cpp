#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "partitioning/assign.h"
#include "partitioning/cost_model.h"
#include "partitioning/placement_search.h"

namespace intarsia::partitioning {
namespace {

// The devices' pieces without those that a pin forbids, each once.
class Pieces {
 public:
  explicit Pieces(const Offers& offers) : pieces_of_(offers.pinned.size()) {
    for (size_t n = 0; n < pieces_of_.size(); ++n)
      for (size_t m = 0; m < offers.table.cells[n].size(); ++m)
        for (const Piece& piece : offers.table.cells[n][m].pieces)
          add(static_cast<int>(n), static_cast<int>(m), piece, offers);
  }
  const std::vector<DevicePiece>& list() const { return list_; }
  const std::vector<std::vector<int>>& of_nodes() const { return pieces_of_; }

 private:
  void add(int node, int device, const Piece& piece, const Offers& offers) {
    DevicePiece made{device, {}};
    for (const graph::NodeId part : piece.nodes) {
      const int pin = offers.pinned[part.at()];
      if (pin >= 0 && pin != device) return;
      made.nodes.push_back(part.index);
    }
    std::sort(made.nodes.begin(), made.nodes.end());
    const auto [known, fresh] =
        known_.try_emplace({device, made.nodes}, static_cast<int>(list_.size()));
    if (fresh) list_.push_back(std::move(made));
    std::vector<int>& of_node = pieces_of_[static_cast<size_t>(node)];
    if (std::find(of_node.begin(), of_node.end(), known->second) == of_node.end())
      of_node.push_back(known->second);
  }

  std::vector<DevicePiece> list_;
  std::vector<std::vector<int>> pieces_of_;
  std::map<std::pair<int, std::vector<int>>, int> known_;
};

DeviceSet readers_of(const CostModel& model, const Assignment& assignment, size_t c) {
  DeviceSet readers = model.fixed_readers(static_cast<int>(c));
  for (const int reader : model.carried()[c].readers)
    readers |= only(assignment[static_cast<size_t>(reader)]);
  return readers;
}

}  // namespace

AssignmentCost cost_of(const CostModel& model, const Assignment& assignment) {
  AssignmentCost total;
  for (size_t n = 0; n < assignment.size(); ++n) total.time += model.running(n, assignment[n]);
  for (size_t c = 0; c < model.carried().size(); ++c) {
    const Carried& tensor = model.carried()[c];
    const int writer =
        tensor.writer == kCaller ? kHost : assignment[static_cast<size_t>(tensor.writer)];
    const DeviceSet readers = readers_of(model, assignment, c);
    const int others = std::popcount(readers & ~only(writer));
    total.time += model.moving(static_cast<int>(c), writer, readers);
    total.transfer_time += model.transferring(static_cast<int>(c), writer, readers);
    total.transfers += others;
    total.transfer_bytes += others * tensor.bytes;
  }
  return total;
}

Result<CheapestAssignment> assign_by_cost(const graph::Module& module,
                                          const graph::Function& function,
                                          const TargetRegistry& registry, const TargetSpec& target,
                                          const Offers& offers, const CostModel& model,
                                          const SearchLimits& limits) {
  // Where the search finds nothing, the priority policy finds the same and says it in words.
  Result<Assignment> by_priority = assign_by_priority(module, function, registry, target, offers);
  std::optional<Picoseconds> known;
  if (by_priority.ok()) known = cost_of(model, *by_priority).time;
  const Pieces pieces(offers);
  PlacementResult found =
      search_placements({model, pieces.list(), pieces.of_nodes(), known}, limits);
  if (found.assignment) return CheapestAssignment{std::move(*found.assignment), found.effort};
  INTARSIA_TRY(Assignment assignment, std::move(by_priority));
  return CheapestAssignment{std::move(assignment), found.effort};
}

}  // namespace intarsia::partitioning
