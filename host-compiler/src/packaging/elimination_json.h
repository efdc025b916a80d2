// What dead-channel elimination did, for reports and `explain --json`.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "intarsia/compiled_model.h"

namespace intarsia {

inline nlohmann::ordered_json elimination_json(const EliminationFigures& before,
                                               const EliminationFigures& after,
                                               const std::vector<EliminationStep>& actions) {
  const auto figures = [](const EliminationFigures& f) {
    return nlohmann::ordered_json{{"operators", f.operators},
                                  {"channels", f.channels},
                                  {"macs", f.macs},
                                  {"weight_bytes", f.weight_bytes}};
  };
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const EliminationStep& action : actions)
    steps.push_back({{"pass", action.pass},
                     {"operator", action.node},
                     {"what", action.what},
                     {"why", action.why}});
  return {{"before", figures(before)}, {"after", figures(after)}, {"steps", std::move(steps)}};
}

}  // namespace intarsia
