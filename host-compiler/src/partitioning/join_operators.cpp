#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "intarsia/partition.h"
#include "partitioning/offers.h"
#include "passes/join_lookups.h"

namespace intarsia {
namespace {

using partitioning::Offers;
using passes::Island;

// What every device says of every operator, by function.
class DeviceAnswers {
 public:
  DeviceAnswers(const graph::Module& module, const TargetRegistry& registry,
                const TargetSpec& target)
      : module_(module), registry_(registry), target_(target) {}

  bool takes(size_t function, size_t node, size_t device) {
    const auto [at, is_new] = offers_.try_emplace(function);
    if (is_new) at->second = ask(module_.functions[function]);
    return at->second && at->second->table.cells[node][device].can();
  }

 private:
  std::optional<Offers> ask(const graph::Function& function) const {
    Result<Offers> offers = partitioning::collect_offers(module_, function, registry_, target_);
    if (!offers.ok()) return std::nullopt;  // pins that cannot be kept: partition() says so
    return *std::move(offers);
  }

  const graph::Module& module_;
  const TargetRegistry& registry_;
  const TargetSpec& target_;
  std::map<size_t, std::optional<Offers>> offers_;
};

size_t place_of(const graph::Function& function, const std::string& node) {
  const auto at = std::ranges::find(function.nodes, node, &graph::Node::name);
  return static_cast<size_t>(at - function.nodes.begin());
}

}  // namespace

JoinedOperators join_operators(const graph::Module& module, const TargetRegistry& registry,
                               const TargetSpec& target, const PartitionOptions& options) {
  JoinedOperators result;
  std::vector<Island> islands = passes::find_islands(module, &result.in_floats);
  const auto name = [&](const Island& island, size_t n) -> const std::string& {
    return module.functions[island.function].nodes[n].name;
  };
  std::erase_if(islands, [&](const Island& island) {
    return std::ranges::any_of(island.nodes,
                               [&](size_t n) { return options.pins.contains(name(island, n)); });
  });
  if (islands.empty()) {
    result.module = module;
    return result;
  }

  graph::Module all = passes::join_lookups(module, islands);
  DeviceAnswers apart(module, registry, target), joined(all, registry, target);
  const size_t kept_apart = std::erase_if(islands, [&](const Island& island) {
    const size_t last = place_of(all.functions[island.function], name(island, island.nodes.back()));
    for (size_t m = 1; m < target.devices().size(); ++m) {
      const bool takes_all = std::ranges::all_of(
          island.nodes, [&](size_t n) { return apart.takes(island.function, n, m); });
      if (takes_all && !joined.takes(island.function, last, m)) return true;
    }
    return false;
  });

  result.module = kept_apart == 0 ? std::move(all) : passes::join_lookups(module, islands);
  for (const Island& island : islands) {
    std::vector<std::string> names;
    for (const size_t n : island.nodes) names.push_back(name(island, n));
    result.lookups[names.back()] = std::move(names);
  }
  return result;
}

}  // namespace intarsia
