#include "requests/explanation_json.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "packaging/elimination_json.h"

namespace intarsia::requests {

std::vector<DeviceNotes> notes_of(const graph::Module& partitioned, const TargetRegistry& registry,
                                  const TargetSpec& target) {
  std::vector<DeviceNotes> notes;
  for (const graph::Function& function : partitioned.functions) {
    const Target* device = target.device(function.target);
    if (device == nullptr) continue;
    std::vector<std::string> lines =
        registry.kind_of(*device).notes(*device, partitioned, function);
    if (!lines.empty()) notes.push_back({function.target, function.name, std::move(lines)});
  }
  return notes;
}

bool is_refused(const Explanation::Operator& row) {
  return std::any_of(row.offers.begin(), row.offers.end(),
                     [](const Offer& offer) { return !offer.taken && !offer.can; });
}

std::string explanation_json(const Explanation& explanation, const ReducedModule& reduced,
                             const std::vector<CompiledProgram>& planned,
                             const std::vector<DeviceNotes>& notes, bool refused_only) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["operators"] = Json::array();
  for (const Explanation::Operator& row : explanation.operators) {
    if (refused_only && !is_refused(row)) continue;
    Json offers = Json::array();
    for (const Offer& offer : row.offers) {
      Json item = {{"member", offer.device}, {"can", offer.can}, {"taken", offer.taken}};
      if (offer.can) item["microseconds"] = offer.microseconds;
      if (offer.reason) item["reason"] = *offer.reason;
      if (!offer.note.empty()) item["note"] = offer.note;
      offers.push_back(std::move(item));
    }
    Json item = {{"name", row.name},
                 {"kind", row.kind},
                 {"shapes", row.shapes},
                 {"member", row.device},
                 {"offers", std::move(offers)}};
    if (const std::optional<double> cycles = explanation.cycles_of(row))
      item["cycles"] = std::llround(*cycles);
    json["operators"].push_back(std::move(item));
  }
  json["slimming"] = elimination_json(reduced.before, reduced.after, reduced.actions);
  for (const CompiledProgram& program : planned) {
    const RamBudgetOutcome& budget = *program.ram_budget;
    Json& row = planned.size() == 1 ? json["ram_budget"] : json["ram_budgets"].emplace_back();
    row = {{"budget", budget.budget},
           {"before", budget.before},
           {"after", budget.after},
           {"striped", budget.tiled}};
    if (planned.size() > 1) row["member"] = program.cpu;
    row["search"] = {{"steps", program.plan.search_steps},
                     {"ended_early", program.plan.search_ended_early}};
    // Where it always was, unless the partitioner's is there.
    if (!explanation.search) json["search"] = row["search"];
  }
  json["notes"] = Json::array();
  for (const DeviceNotes& part : notes)
    json["notes"].push_back(
        {{"member", part.device}, {"function", part.function}, {"lines", part.lines}});
  json["regions"] = explanation.regions;
  json["boundaries"] = explanation.boundaries;
  json["transfers"] = explanation.transfers;
  json["transfer_bytes"] = explanation.transfer_bytes;
  json["estimated_microseconds"] = explanation.microseconds;
  json["functions"] = Json::array();
  for (const Explanation::Function& function : explanation.functions)
    json["functions"].push_back({{"name", function.name},
                                 {"member", function.device},
                                 {"operators", function.operators},
                                 {"microseconds", function.microseconds}});
  json["assumed_clocks"] = Json::array();
  for (const Explanation::Clock& clock : explanation.clocks)
    json["assumed_clocks"].push_back({{"member", clock.device}, {"mhz", clock.mhz}});
  if (const auto& search = explanation.search)
    json["search"] = {{"exact", search->is_exact},
                      {"placements", search->placements},
                      {"most_kept", search->most_kept}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace intarsia::requests
