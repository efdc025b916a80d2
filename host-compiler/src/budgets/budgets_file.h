// A file of models with a budget each (docs/check-in-ci.md describes its keys).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budgets/limits.h"

namespace intarsia::budgets {

struct ModelBudget {
  std::string where;  // in the file: "budgets.json: models[1]"
  std::string model;  // the file; a relative path is relative to the folder of the budgets' file
  // Options of the command line that are this model's own, without "--": {"board", "mps2-an386"}. A board that is a path is
  // relative as the model is.
  std::map<std::string, std::string> options;
  std::vector<std::string> pins;
  std::vector<Limit> limits;
  std::string baseline;  // a path like the model's; empty: none
  std::optional<Growth> max_growth;
};

// `path`: of the file, for messages and for relative paths. All problems of the text together; a key that is unknown, or
// there twice, is one, and so is a model with neither a budget nor a baseline.
Result<std::vector<ModelBudget>> parse_budgets(std::string_view text, const std::string& path);

}  // namespace intarsia::budgets
