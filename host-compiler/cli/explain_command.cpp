#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "intarsia/report.h"
#include "packaging/elimination_json.h"
#include "program.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

struct DeviceNotes {
  std::string device, function;
  std::vector<std::string> lines;
};

// What the devices say about the functions they are given.
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

void print_json(const Explanation& explanation, const ReducedModule& reduced,
                const std::vector<CompiledProgram>& planned,
                const std::vector<DeviceNotes>& notes) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["operators"] = Json::array();
  for (const Explanation::Operator& row : explanation.operators) {
    Json offers = Json::array();
    for (const Offer& offer : row.offers) {
      Json item = {{"member", offer.device}, {"can", offer.can}, {"taken", offer.taken}};
      if (offer.can) item["microseconds"] = offer.microseconds;
      if (offer.reason) item["reason"] = *offer.reason;
      if (!offer.note.empty()) item["note"] = offer.note;
      offers.push_back(std::move(item));
    }
    json["operators"].push_back({{"name", row.name},
                                 {"kind", row.kind},
                                 {"shapes", row.shapes},
                                 {"member", row.device},
                                 {"offers", std::move(offers)}});
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
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

// What is no longer there, and why no result changes.
void print_elimination(const ReducedModule& reduced) {
  if (reduced.actions.empty()) return;
  const EliminationFigures &a = reduced.before, &b = reduced.after;
  fmt::print(
      "\nreduced without changing a result: {} of {} operators, {} of {} channels, {} of {} "
      "multiply-accumulates, {} of {} weight bytes remain (--keep-dead-channels keeps all)\n",
      b.operators, a.operators, b.channels, a.channels, b.macs, a.macs, b.weight_bytes,
      a.weight_bytes);
  for (const EliminationStep& action : reduced.actions)
    fmt::print("  {}: {}: {}\n", action.node, action.what, action.why);
}

// What runs by row tiles, and what that saves.
void print_budget(const RamBudgetOutcome& budget) {
  if (budget.tiled.empty()) {
    fmt::print("\n{} bytes of RAM are within the budget of {}: nothing runs by row tiles\n",
               budget.after, budget.budget);
    return;
  }
  fmt::print(
      "\n{} bytes of RAM instead of {}, for the budget of {}; these run by row tiles, no "
      "multiply-accumulate "
      "is done twice:\n",
      budget.after, budget.before, budget.budget);
  for (const std::string& part : budget.tiled) fmt::print("  {}\n", part);
}

void print_text(const Explanation& explanation, const ReducedModule& reduced,
                const std::vector<CompiledProgram>& planned,
                const std::vector<DeviceNotes>& notes) {
  size_t width = 8;
  for (const Explanation::Operator& row : explanation.operators)
    width = std::max(width, row.name.size());
  width = std::min<size_t>(width, 48);
  for (const Explanation::Operator& row : explanation.operators) {
    fmt::print("{:<{}}  {:<18} {}\n", row.name, width, row.kind, row.shapes);
    fmt::print("{:<{}}  runs on {}\n", "", width, row.device);
    for (const Offer& offer : row.offers)
      if (offer.taken && !offer.note.empty()) fmt::print("{:<{}}  {}\n", "", width, offer.note);
    for (const Offer& offer : row.offers)
      if (!offer.taken)
        fmt::print("{:<{}}  not {}: {}\n", "", width, offer.device, offer.reason.value_or("-"));
  }
  const auto counted = [](int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  std::vector<std::string> clocks;
  for (const Explanation::Clock& clock : explanation.clocks)
    clocks.push_back(fmt::format("{} at {:g} MHz", clock.device, clock.mhz));
  fmt::print(
      "\n{} operators in {} with {}; {} transfers between devices ({} bytes); estimated {:.1f} us, "
      "assuming {}\n",
      explanation.operators.size(), counted(explanation.regions, "region", "regions"),
      counted(explanation.boundaries, "boundary", "boundaries"), explanation.transfers,
      explanation.transfer_bytes, explanation.microseconds, fmt::join(clocks, ", "));
  if (const std::string note = search_note(explanation); !note.empty()) fmt::print("{}\n", note);
  for (const Explanation::Function& function : explanation.functions)
    fmt::print("  {} on {}: {}, {:.1f} us\n", function.name, function.device,
               counted(function.operators, "operator", "operators"), function.microseconds);
  for (const DeviceNotes& part : notes) {
    fmt::print("\n{} on {}:\n", part.function, part.device);
    for (const std::string& line : part.lines) fmt::print("  {}\n", line);
  }
  print_elimination(reduced);
  for (const CompiledProgram& program : planned) {
    print_budget(*program.ram_budget);
    fmt::print("{}", search_text({program.plan.search_steps, program.plan.search_ended_early}));
  }
}

}  // namespace

int run_explain(Context& context, const CommonOptions& options) {
  Result<Selection> selected = select(context, options);
  if (!selected.ok()) return fail(selected.error());
  Selection selection = std::move(selected).value();
  selection.options.partition.estimates = true;
  const Stage last = options.ram_budget ? Stage::Plan : Stage::Partition;
  const Result<CompiledModel> model = compile_file(context, selection, options, last);
  if (!model.ok()) return fail(model.error());
  const std::vector<CompiledProgram> planned =
      options.ram_budget ? model->programs : std::vector<CompiledProgram>{};
  const std::vector<DeviceNotes> notes =
      notes_of(model->partitioned.module, context.registry, selection.target);
  if (options.json)
    print_json(model->partitioned.explanation, model->reduced, planned, notes);
  else
    print_text(model->partitioned.explanation, model->reduced, planned, notes);
  return kDone;
}

}  // namespace intarsia::cli
