#include <algorithm>

#include <nlohmann/json.hpp>

#include "budgets/outcome.h"

namespace intarsia::budgets {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

Json verdict_json(const Verdict& verdict) {
  Json decides = Json::array();
  for (const Verdict::Reason& reason : verdict.reasons) {
    Json shares = Json::array();
    for (const Share& share : reason.shares)
      shares.push_back({{"name", share.name}, {"amount", share.amount}});
    decides.push_back({{"what", reason.text}, {"shares", std::move(shares)}});
  }
  Json json = {{"budget", std::string(to_string(verdict.limit.kind))},
               {"unit", to_string(unit_of(verdict.limit.kind))},
               {"figure", verdict.figure},
               {"limit", verdict.limit.most},
               {"exceeded", verdict.exceeded()},
               {"excess", std::max<int64_t>(0, verdict.excess())},
               {"decides", std::move(decides)}};
  if (!verdict.limit.of.empty()) json["of"] = verdict.limit.of;
  return json;
}

Json comparison_json(const Comparison& comparison) {
  Json json = {{"file", comparison.baseline},
               {"max_growth_percent", static_cast<double>(comparison.growth) / 1000},
               {"passed", comparison.passed()},
               {"figures", Json::array()},
               {"operators", Json::array()},
               {"notes", comparison.notes}};
  for (const Change& change : comparison.changes) {
    Json row = {{"figure", change.figure},
                {"unit", to_string(change.unit)},
                {"before", change.before},
                {"now", change.now}};
    if (!change.is_detail) row["allowed"] = change.allowed, row["too_much"] = change.too_much();
    json["figures"].push_back(std::move(row));
  }
  for (const Moved& row : comparison.moved) {
    Json item = {{"name", row.name}};
    item["before"] = row.before.empty() ? Json() : Json(row.before);
    item["now"] = row.now.empty() ? Json() : Json(row.now);
    json["operators"].push_back(std::move(item));
  }
  return json;
}

}  // namespace

std::string outcomes_json(const std::vector<Outcome>& outcomes) {
  Json models = Json::array();
  bool passed = true;
  for (const Outcome& outcome : outcomes) {
    passed = passed && outcome.passed();
    Json row = {{"model", outcome.figures.model},
                {"target", outcome.figures.target},
                {"board", outcome.figures.board},
                {"passed", outcome.passed()},
                {"budgets", Json::array()}};
    for (const Verdict& verdict : outcome.verdicts) row["budgets"].push_back(verdict_json(verdict));
    if (outcome.comparison) row["baseline"] = comparison_json(*outcome.comparison);
    models.push_back(std::move(row));
  }
  const Json json = {{"format", kFormat}, {"passed", passed}, {"models", std::move(models)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace intarsia::budgets
