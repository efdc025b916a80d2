#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "partition/assign.h"

namespace intarsia::partitioning {
namespace {

using graph::Function;
using graph::Node;
using graph::TensorId;

// Beyond this many placements of the live tensors the search keeps the cheapest.
constexpr size_t kMaxStates = 4096;

// State stays with the member that keeps it.
bool travels(const Function& function, TensorId id) {
  return id.valid() && !function.tensor(id).constant.valid() && !function.tensor(id).variable;
}

// Which members hold a valid copy of a tensor: one bit each. The lowest-numbered holder sends.
using Holders = uint64_t;
int sender(Holders holders) {
  return std::countr_zero(holders);
}

// Index of the last node that reads each tensor; outputs of the function live to the end.
std::vector<int> last_readers(const Function& function) {
  std::vector<int> last(function.tensors.size(), -1);
  for (size_t n = 0; n < function.nodes.size(); ++n)
    for (const TensorId id : function.nodes[n].inputs)
      if (id.valid()) last[id.at()] = static_cast<int>(n);
  for (const TensorId id : function.outputs)
    last[id.at()] = static_cast<int>(function.nodes.size());
  return last;
}

struct Choice {  // how a state was reached, for walking back
  int member;
  std::shared_ptr<const Choice> before;
};

struct State {
  double cost = 0;
  std::shared_ptr<const Choice> path;
};

// Live tensor -> holders; the key that makes two partial assignments interchangeable.
using Key = std::map<int32_t, Holders>;

struct Search {
  const Function& function;
  const TargetRegistry& registry;
  const TargetSpec& target;
  const Offers& offers;
  const std::vector<std::vector<bool>>& banned;  // [node][member]

  bool allowed(size_t node, size_t member) const {
    const int pin = offers.pinned[node];
    return (pin < 0 || pin == static_cast<int>(member)) && offers.table.cells[node][member].can() &&
           !banned[node][member];
  }

  // The cheapest complete assignment, or nothing when some node has no member left.
  std::optional<Assignment> run() const {
    const std::vector<int> last = last_readers(function);
    std::map<Key, State> states;
    Key start;
    for (const TensorId id : function.inputs) start[id.index] = Holders{1};
    states[start] = {};
    for (size_t n = 0; n < function.nodes.size(); ++n) {
      states = step(states, n, last);
      if (states.empty()) return std::nullopt;
      prune(states);
    }
    return finish(states);
  }

  std::map<Key, State> step(const std::map<Key, State>& states, size_t n,
                            const std::vector<int>& last) const {
    const Node& node = function.nodes[n];
    std::map<Key, State> next;
    for (const auto& [key, state] : states) {
      for (size_t m = 0; m < target.members().size(); ++m) {
        if (!allowed(n, m)) continue;
        Key reached = key;
        double cost = state.cost + offers.table.cells[n][m].microseconds;
        for (const TensorId id : node.inputs) {
          if (!travels(function, id)) continue;
          Holders& holders = reached.at(id.index);
          if ((holders >> m) & 1u) continue;
          cost += transfer_cost(registry, target, sender(holders), static_cast<int>(m),
                                function.tensor(id).bytes());
          holders |= Holders{1} << m;
        }
        for (const TensorId id : node.outputs) reached[id.index] = Holders{1} << m;
        std::erase_if(reached, [&](const auto& entry) {
          return last[static_cast<size_t>(entry.first)] <= static_cast<int>(n);
        });
        const auto [place, fresh] = next.try_emplace(std::move(reached));
        if (fresh || cost < place->second.cost)
          place->second = {cost, std::make_shared<Choice>(Choice{static_cast<int>(m), state.path})};
      }
    }
    return next;
  }

  static void prune(std::map<Key, State>& states) {
    if (states.size() <= kMaxStates) return;
    std::vector<double> costs;
    for (const auto& [key, state] : states) costs.push_back(state.cost);
    std::nth_element(costs.begin(), costs.begin() + kMaxStates, costs.end());
    const double limit = costs[kMaxStates];
    std::erase_if(states, [&](const auto& entry) { return entry.second.cost > limit; });
  }

  Assignment finish(const std::map<Key, State>& states) const {
    double best = std::numeric_limits<double>::infinity();
    const State* chosen = nullptr;
    for (const auto& [key, state] : states) {
      double cost = state.cost;
      for (const auto& [tensor, holders] : key)
        if ((holders & 1u) == 0)
          cost += transfer_cost(registry, target, sender(holders), 0,
                                function.tensor(TensorId{tensor}).bytes());
      if (cost < best) best = cost, chosen = &state;
    }
    INTARSIA_CHECK(chosen != nullptr, "the search keeps at least one state");
    Assignment assignment;
    for (const Choice* c = chosen->path.get(); c != nullptr; c = c->before.get())
      assignment.push_back(c->member);
    std::reverse(assignment.begin(), assignment.end());
    return assignment;
  }
};

// Bans every (node, member) whose member did not get a whole piece around it. True when any.
bool ban_broken_pieces(const Offers& offers, const Assignment& assignment,
                       std::vector<std::vector<bool>>& banned) {
  bool any = false;
  for (size_t n = 0; n < assignment.size(); ++n) {
    const size_t member = static_cast<size_t>(assignment[n]);
    const auto& pieces = offers.table.cells[n][member].pieces;
    const bool whole = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return std::all_of(piece.nodes.begin(), piece.nodes.end(), [&](graph::NodeId part) {
        return assignment[part.at()] == static_cast<int>(member);
      });
    });
    if (!whole) banned[n][member] = true, any = true;
  }
  return any;
}

}  // namespace

double transfer_cost(const TargetRegistry& registry, const TargetSpec& target, int from, int to,
                     int64_t bytes) {
  if (from == to) return 0;
  const auto side = [&](int member) {
    const Target& value = target.members()[static_cast<size_t>(member)];
    return registry.kind_of(value).transfer_microseconds(value, bytes);
  };
  return side(from) + side(to);
}

AssignmentCost cost_of(const Function& function, const TargetRegistry& registry,
                       const TargetSpec& target, const Offers& offers,
                       const Assignment& assignment) {
  AssignmentCost total;
  std::map<int32_t, Holders> holders;
  const auto need = [&](TensorId id, int member) {
    Holders& held = holders.at(id.index);
    if ((held >> member) & 1u) return;
    const int64_t bytes = function.tensor(id).bytes();
    total.microseconds += transfer_cost(registry, target, sender(held), member, bytes);
    total.transfers += 1;
    total.transfer_bytes += bytes;
    held |= Holders{1} << member;
  };
  for (const TensorId id : function.inputs) holders[id.index] = Holders{1};
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const int member = assignment[n];
    total.microseconds += offers.table.cells[n][static_cast<size_t>(member)].microseconds;
    for (const TensorId id : function.nodes[n].inputs)
      if (travels(function, id)) need(id, member);
    for (const TensorId id : function.nodes[n].outputs) holders[id.index] = Holders{1} << member;
  }
  for (const TensorId id : function.outputs)
    if (travels(function, id)) need(id, 0);
  return total;
}

Result<Assignment> assign_by_cost(const graph::Module& module, const Function& function,
                                  const TargetRegistry& registry, const TargetSpec& target,
                                  const Offers& offers) {
  INTARSIA_CHECK(target.members().size() <= 64, "holders are one bit a member");
  std::vector<std::vector<bool>> banned(function.nodes.size(),
                                        std::vector<bool>(target.members().size(), false));
  for (;;) {  // ends: every round bans at least one more (node, member)
    const std::optional<Assignment> found =
        Search{function, registry, target, offers, banned}.run();
    if (!found) break;
    if (!ban_broken_pieces(offers, *found, banned)) return *found;
  }
  // Some operator has no member left: the priority policy finds the same and says it in words.
  return assign_by_priority(module, function, registry, target, offers);
}

}  // namespace intarsia::partitioning
