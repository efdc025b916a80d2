#include "partitioning/offers.h"

#include <algorithm>

#include <fmt/format.h>

#include "partitioning/matcher.h"

namespace intarsia::partitioning {
namespace {

using graph::Function;
using graph::NodeId;

std::string place(const graph::Module& module, const graph::Node& node) {
  return fmt::format("{}: operator '{}' ({})", module.name, node.name, graph::to_string(node.kind));
}

// Asks one device about the whole function.
void ask_device(const Function& function, const TargetRegistry& registry, const Matcher& matcher,
                const Target& device, size_t index, OfferTable& table) {
  const std::vector<Pattern> patterns = registry.kind_of(device).patterns(device);
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const NodeId root{static_cast<int32_t>(n)};
    Cell& cell = table.cells[n][index];
    for (const Pattern& pattern : patterns) {
      const std::optional<PatternMatch> found = matcher.match(pattern, root);
      if (!found) continue;
      std::optional<std::string> refused;
      if (pattern.refuses) refused = pattern.refuses(*found);
      if (refused) {
        if (cell.reason.empty()) cell.reason = *refused;
        continue;
      }
      if (!pattern.note.empty() && cell.note.empty())
        cell.note = cell.reason.empty()
                        ? pattern.note
                        : fmt::format("{}; as it is, {}", pattern.note, cell.reason);
      for (const NodeId part : found->nodes)
        table.cells[part.at()][index].pieces.push_back({found->nodes});
    }
  }
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    Cell& cell = table.cells[n][index];
    if (!cell.can() && cell.reason.empty())
      cell.reason =
          fmt::format("{} does not run {}", device.kind, graph::to_string(function.nodes[n].kind));
  }
}

// The operator of the module that has the branch or loop body `name`.
const graph::Node* runner_of(const graph::Module& module, const std::string& name) {
  for (const Function& function : module.functions)
    for (const graph::Node& node : function.nodes) {
      const std::vector<std::string> run = graph::functions_run_by(node);
      if (std::find(run.begin(), run.end(), name) == run.end()) continue;
      return function.name == module.entry ? &node : runner_of(module, function.name);
    }
  return nullptr;
}

// Branches and loops run whole on one device.
void refuse_pins_inside(const graph::Module& module, const Function& entry, Diagnostics& problems) {
  for (const Function& function : module.functions) {
    if (function.name == entry.name) continue;
    const bool has_pins = std::any_of(function.nodes.begin(), function.nodes.end(),
                                      [](const graph::Node& node) { return !node.pin.empty(); });
    if (!has_pins) continue;
    const graph::Node* runner = runner_of(module, function.name);
    for (const graph::Node& node : function.nodes)
      if (!node.pin.empty() && runner != nullptr && node.pin != runner->pin)
        problems.add(
            place(module, node),
            fmt::format(
                "is pinned to '{}', but runs inside '{}' ({}), of which one device runs all",
                node.pin, runner->name, graph::to_string(runner->kind)),
            fmt::format("pin '{}' instead", runner->name));
  }
}

}  // namespace

Result<Offers> collect_offers(const graph::Module& module, const Function& function,
                              const TargetRegistry& registry, const TargetSpec& target) {
  const auto devices = target.devices();
  Offers offers;
  offers.table.cells.assign(function.nodes.size(), std::vector<Cell>(devices.size()));
  const Matcher matcher(module, function);
  for (size_t m = 0; m < devices.size(); ++m)
    ask_device(function, registry, matcher, devices[m], m, offers.table);

  std::vector<std::string> names;
  for (const Target& device : devices) names.push_back(device.name);

  Diagnostics problems;
  refuse_pins_inside(module, function, problems);
  offers.pinned.assign(function.nodes.size(), -1);
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const graph::Node& node = function.nodes[n];
    if (node.pin.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), node.pin);
    if (found == names.end()) {
      const std::string near = nearest_name(node.pin, names);
      problems.add(place(module, node),
                   fmt::format("is pinned to '{}', which the target does not have", node.pin),
                   near.empty() ? fmt::format("its devices are {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near));
      continue;
    }
    const size_t device = static_cast<size_t>(found - names.begin());
    const Cell& cell = offers.table.cells[n][device];
    if (!cell.can()) {
      problems.add(
          place(module, node),
          fmt::format("is pinned to '{}', which cannot take it: {}", node.pin, cell.reason),
          "pin it to another device or leave it free");
      continue;
    }
    offers.pinned[n] = static_cast<int>(device);
  }
  if (!problems.empty()) return problems;
  return offers;
}

}  // namespace intarsia::partitioning
