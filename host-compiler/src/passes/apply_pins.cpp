#include <algorithm>

#include <fmt/format.h>

#include "passes/passes.h"

namespace intarsia::passes {

Result<graph::Module> apply_pins(const graph::Module& module,
                                 const std::map<std::string, std::string>& pins) {
  graph::Module result = module;
  Diagnostics problems;
  for (const auto& [name, device] : pins) {
    bool found = false;
    std::vector<std::string> known;
    for (graph::Function& function : result.functions) {
      known.push_back(function.name);
      if (function.name == name) function.pin = device, found = true;
      for (graph::Node& node : function.nodes) {
        known.push_back(node.name);
        if (node.name == name) node.pin = device, found = true;
      }
    }
    if (found) continue;
    const std::string near = nearest_name(name, known);
    problems.add(fmt::format("--pin {}={}", name, device),
                 fmt::format("{} has no operator or function '{}'", module.name, name),
                 near.empty() ? "'intarsia explain' lists their names"
                              : fmt::format("did you mean '{}'?", near));
  }
  if (!problems.empty()) return problems;
  return result;
}

}  // namespace intarsia::passes
