#include <algorithm>

#include <fmt/format.h>

#include "commands.h"
#include "intarsia/report.h"
#include "program.h"
#include "requests/explanation_json.h"

namespace intarsia::cli {
namespace {

using requests::DeviceNotes;
using requests::is_refused;

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

// "9 operators on npu0, 1 on c (conv2d_22)": those with few by name.
std::string who_has_what(const Explanation& explanation) {
  constexpr size_t kNamed = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> devices;
  for (const Explanation::Operator& row : explanation.operators) {
    auto found = std::find_if(devices.begin(), devices.end(),
                              [&](const auto& each) { return each.first == row.device; });
    if (found == devices.end()) found = devices.insert(devices.end(), {row.device, {}});
    found->second.push_back(row.name);
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string text;
  for (const auto& [device, names] : devices) {
    const bool is_first = text.empty();
    text += fmt::format("{}{}{} on {}", is_first ? "" : ", ", names.size(),
                        !is_first           ? ""
                        : names.size() == 1 ? " operator"
                                            : " operators",
                        device);
    if (!is_first && names.size() <= kNamed) text += fmt::format(" ({})", fmt::join(names, ", "));
  }
  return text;
}

void print_text(const Explanation& explanation, const ReducedModule& reduced,
                const std::vector<CompiledProgram>& planned, const std::vector<DeviceNotes>& notes,
                bool refused_only) {
  size_t width = 8;
  for (const Explanation::Operator& row : explanation.operators)
    width = std::max(width, row.name.size());
  width = std::min<size_t>(width, 48);
  for (const Explanation::Operator& row : explanation.operators) {
    if (refused_only && !is_refused(row)) continue;
    fmt::print("{:<{}}  {:<18} {}\n", row.name, width, row.kind, row.shapes);
    fmt::print("{:<{}}  runs on {}\n", "", width, row.device);
    for (const Offer& offer : row.offers)
      if (offer.taken && !offer.note.empty()) fmt::print("{:<{}}  {}\n", "", width, offer.note);
    for (const Offer& offer : row.offers)
      if (!offer.taken && !(refused_only && offer.can))
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
  if (!explanation.operators.empty()) fmt::print("\n{}\n", who_has_what(explanation));
}

}  // namespace

int run_explain(Context& context, const ExplainCommand& command) {
  const CommonOptions& options = command.common;
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
      requests::notes_of(model->partitioned.module, context.registry, selection.target);
  const Explanation& explanation = model->partitioned.explanation;
  if (options.json)
    fmt::print("{}", requests::explanation_json(explanation, model->reduced, planned, notes,
                                                command.refused));
  else
    print_text(explanation, model->reduced, planned, notes, command.refused);
  return kDone;
}

}  // namespace intarsia::cli
