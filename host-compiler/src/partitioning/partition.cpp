#include "intarsia/partition.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/cut_out.h"
#include "partitioning/assign.h"
#include "partitioning/offers.h"
#include "partitioning/regions.h"
#include "passes/passes.h"
#include "support/watched.h"
#include "target_kind/owners.h"

namespace intarsia {
namespace {

using partitioning::Assignment;
using partitioning::Offers;

std::string type_text(const graph::Function& function, graph::TensorId id) {
  if (!id.valid()) return "-";
  const graph::Tensor& tensor = function.tensor(id);
  return fmt::format("{}[{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
}

std::string shapes_text(const graph::Function& function, const graph::Node& node) {
  std::string text = node.inputs.empty() ? "" : type_text(function, node.inputs[0]);
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && !function.tensor(node.inputs[i]).constant.valid())
      text += ", " + type_text(function, node.inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    text += (i == 0 ? " -> " : ", ") + type_text(function, node.outputs[i]);
  return text;
}

// In the words of the policy, why a device that could have taken an operator did not.
std::string why_not_chosen(const graph::Node& node, const std::string& chosen, bool is_asked_later,
                           PartitionPolicy policy) {
  if (!node.pin.empty()) return fmt::format("the operator is pinned to {}", chosen);
  if (policy == PartitionPolicy::Cost)
    return fmt::format("the whole costs least with it on {}, transfers included", chosen);
  if (is_asked_later) return fmt::format("{} comes first in the target", chosen);
  return "part of a piece that another device already has";
}

// Of the devices that take part: the clock that the estimates of their operators assume.
std::vector<Explanation::Clock> clocks_of(const TargetSpec& target,
                                          const partitioning::CostModel& costs,
                                          const Assignment& assignment) {
  std::vector<Explanation::Clock> clocks;
  for (size_t m = 0; m < target.devices().size(); ++m) {
    const auto taken = std::find(assignment.begin(), assignment.end(), static_cast<int>(m));
    if (taken == assignment.end()) continue;
    const size_t node = static_cast<size_t>(taken - assignment.begin());
    clocks.push_back({target.devices()[m].name, costs.alone(node, m).clock_mhz});
  }
  return clocks;
}

// Who takes what, and what that costs.
struct Candidate {
  Assignment assignment;
  std::vector<partitioning::Region> regions;
  graph::Module module;  // with a function for each region
  partitioning::AssignmentCost transfers;
  std::vector<Explanation::Function> functions;
  double microseconds = 0;  // of the functions and the transfers
};

// The functions' costs are asked as they are, each whole.
void estimate(Candidate& candidate, const TargetRegistry& registry, const TargetSpec& target,
              const LoweringOptions& lowering) {
  for (const graph::Function& function : candidate.module.functions) {
    const Target* device =
        function.name == candidate.module.entry ? nullptr : target.device(function.target);
    if (device == nullptr) continue;
    const CostEstimate cost =
        registry.kind_of(*device).cost(*device, candidate.module, function, lowering);
    candidate.functions.push_back({function.name, device->name,
                                   static_cast<int64_t>(function.nodes.size()),
                                   cost.microseconds()});
    candidate.microseconds += cost.microseconds();
  }
  candidate.microseconds += partitioning::microseconds(candidate.transfers.transfer_time);
}

Candidate make_candidate(const graph::Module& module, const graph::Function& function,
                         const TargetSpec& target, const partitioning::CostModel& costs,
                         Assignment assignment) {
  Candidate made;
  made.regions = partitioning::make_regions(function, assignment);
  made.module = partitioning::outline(module, function, target, made.regions);
  made.transfers = cost_of(costs, assignment);
  made.assignment = std::move(assignment);
  return made;
}

Explanation explain(const graph::Function& function, const TargetRegistry& registry,
                    const TargetSpec& target, const Offers& offers,
                    const partitioning::CostModel& costs, const Candidate& chosen,
                    PartitionPolicy policy) {
  Explanation result;
  const Assignment& assignment = chosen.assignment;
  std::vector<size_t> rank(target.devices().size());
  const std::vector<size_t> order = order_of_priority(target, registry);
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const graph::Node& node = function.nodes[n];
    const size_t taken_by = static_cast<size_t>(assignment[n]);
    Explanation::Operator row{node.name,
                              std::string(graph::to_string(node.kind)),
                              shapes_text(function, node),
                              target.devices()[taken_by].name,
                              {}};
    for (size_t m = 0; m < target.devices().size(); ++m) {
      const partitioning::Cell& cell = offers.table.cells[n][m];
      Offer offer{target.devices()[m].name,
                  m == taken_by,
                  std::nullopt,
                  cell.can(),
                  costs.alone(n, m).microseconds(),
                  cell.can() ? cell.note : ""};
      if (!cell.can())
        offer.reason = cell.reason;
      else if (!offer.taken)
        offer.reason = why_not_chosen(node, row.device, rank[taken_by] < rank[m], policy);
      row.offers.push_back(std::move(offer));
    }
    result.operators.push_back(std::move(row));
  }
  result.regions = static_cast<int64_t>(chosen.regions.size());
  result.boundaries = partitioning::count_boundaries(function, chosen.regions);
  result.functions = chosen.functions;
  result.microseconds = chosen.microseconds;
  result.transfers = chosen.transfers.transfers;
  result.transfer_bytes = chosen.transfers.transfer_bytes;
  result.clocks = clocks_of(target, costs, assignment);
  return result;
}

int64_t operators_of_devices(const graph::Module& module, const TargetSpec& target) {
  int64_t operators = 0;
  for (const graph::Function& function : module.functions)
    if (function.name != module.entry && target.device(function.target) != nullptr)
      operators += std::ssize(function.nodes);
  return operators;
}

}  // namespace

std::optional<double> Explanation::cycles_of(const Operator& row) const {
  const auto clock = std::find_if(clocks.begin(), clocks.end(),
                                  [&](const Clock& each) { return each.device == row.device; });
  const auto offer = std::find_if(row.offers.begin(), row.offers.end(),
                                  [](const Offer& each) { return each.taken; });
  if (clock == clocks.end() || offer == row.offers.end() || !(offer->microseconds > 0)) return {};
  return offer->microseconds * clock->mhz;
}

std::string search_note(const Explanation& explanation) {
  if (!explanation.search || explanation.search->is_exact) return "";
  return fmt::format(
      "the search of policy cost was cut short at {} placements at a time: another assignment may "
      "cost less",
      explanation.search->most_kept);
}

std::vector<Explanation::Cycles> estimated_cycles(const graph::Module& module,
                                                  const TargetRegistry& registry,
                                                  const TargetSpec& target,
                                                  const LoweringOptions& lowering) {
  std::vector<Explanation::Cycles> rows;
  const int64_t all = operators_of_devices(module, target);
  int64_t estimated = 0;
  for (const graph::Function& function : module.functions) {
    const Target* device = function.name == module.entry ? nullptr : target.device(function.target);
    if (device == nullptr || !watched::is_wanted()) continue;
    const TargetKind& kind = registry.kind_of(*device);
    if (lowering.on_progress)
      lowering.on_progress({"estimating operators on " + device->name, estimated, all});
    estimated += std::ssize(function.nodes);
    const auto add = [&](const std::string& name, const graph::Function& whole) {
      const CostEstimate cost = kind.cost(*device, module, whole, lowering);
      rows.push_back({name, device->name, static_cast<int64_t>(whole.nodes.size()), cost.cycles,
                      cost.clock_mhz});
    };
    const graph::FunctionCutter cutter(function);
    const auto alone = [&](size_t n) {
      const graph::NodeId id{static_cast<int32_t>(n)};
      graph::Function cut = cutter.cut({&id, 1}).function;
      cut.name = function.name;
      cut.target = function.target;
      return cut;
    };
    if (kind.spec.role == Role::Cpu) {
      for (size_t n = 0; n < function.nodes.size(); ++n) add(function.nodes[n].name, alone(n));
      continue;
    }
    add(function.name, function);
    LoweringOptions rough = lowering;
    rough.rough_cost = true;
    for (size_t n = 0; n < function.nodes.size(); ++n)
      rows.back().alone.push_back(
          {function.nodes[n].name, function.nodes.size() == 1
                                       ? rows.back().cycles
                                       : kind.cost(*device, module, alone(n), rough).cycles});
  }
  return rows;
}

Result<Partitioned> partition(const graph::Module& module, const TargetRegistry& registry,
                              const TargetSpec& target, const PartitionOptions& options) {
  // Copies for outputs have names that pins may name; what calls return gets its copies when they are gone.
  const std::string& host = target.host().name;
  INTARSIA_TRY(const graph::Module pinned,
               passes::apply_pins(passes::own_outputs(module, host), options.pins));
  const graph::Module flat = passes::own_outputs(passes::inline_calls(pinned), host);
  const graph::Function& function = flat.entry_function();

  INTARSIA_TRY(const Offers offers, partitioning::collect_offers(flat, function, registry, target));
  const bool by_cost = options.policy == PartitionPolicy::Cost;
  const partitioning::FunctionCosts functions(flat, function, registry, target, options.lowering);
  const partitioning::CostModel costs(function, registry, target, offers,
                                      by_cost || options.estimates ? &functions : nullptr, by_cost);
  INTARSIA_TRY_VOID(watched::goes_on());
  Result<Assignment> by_priority = assign_by_priority(flat, function, registry, target, offers);
  std::optional<Candidate> chosen;
  std::optional<Explanation::Search> search;
  if (by_cost) {
    INTARSIA_TRY(partitioning::CheapestAssignment found,
                 assign_by_cost(flat, function, registry, target, offers, costs));
    search = found.search;
    chosen = make_candidate(flat, function, target, costs, std::move(found.assignment));
    estimate(*chosen, registry, target, options.lowering);
    // Pairs are not the whole: where the other policy's functions cost less in the end, it is right.
    if (by_priority.ok() && *by_priority != chosen->assignment) {
      Candidate other = make_candidate(flat, function, target, costs, *std::move(by_priority));
      estimate(other, registry, target, options.lowering);
      if (other.microseconds < chosen->microseconds) chosen = std::move(other);
    }
  } else {
    INTARSIA_TRY(Assignment assignment, std::move(by_priority));
    chosen = make_candidate(flat, function, target, costs, std::move(assignment));
    if (options.estimates) estimate(*chosen, registry, target, options.lowering);
  }

  Partitioned result;
  result.explanation = explain(function, registry, target, offers, costs, *chosen, options.policy);
  result.explanation.search = search;
  if (options.cycles)
    result.explanation.cycles =
        estimated_cycles(chosen->module, registry, target, options.lowering);
  result.module = std::move(chosen->module);
  INTARSIA_TRY_VOID(graph::verify(result.module));
  return result;
}

}  // namespace intarsia
