// What `check` prints about one model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "budgets/check_limits.h"
#include "budgets/compare.h"

namespace intarsia::budgets {

struct Outcome {
  Figures figures;
  std::vector<Verdict> verdicts;
  std::optional<Comparison> comparison;

  bool passed() const;
};

std::string outcome_text(const Outcome& outcome);
// Of all models that were checked: {"format", "passed", "models": [...]}.
std::string outcomes_json(const std::vector<Outcome>& outcomes);

}  // namespace intarsia::budgets
