#include <algorithm>

#include <fmt/format.h>

#include "commands.h"
#include "intarsia/report.h"
#include "program.h"
#include "requests/explanation_json.h"
#include "support/files.h"
#include "text_table.h"
#include "unsupported_text.h"

namespace intarsia::cli {
namespace {

using requests::DeviceNotes;
using requests::is_refused;

// What is no longer there, and why no result changes.
void print_elimination(const ReducedModule& reduced) {
  if (reduced.actions.empty()) return;
  const EliminationFigures &a = reduced.before, &b = reduced.after;
  fmt::print(
      "\n{}\n",
      for_output(fmt::format(
          "reduced without changing a result: {} of {} operators, {} of {} channels, {} of {} "
          "multiply-accumulates, {} of {} weight bytes remain (--keep-dead-channels keeps all)",
          b.operators, a.operators, b.channels, a.channels, b.macs, a.macs, b.weight_bytes,
          a.weight_bytes)));
  for (const EliminationStep& action : reduced.actions)
    fmt::print("  {}\n",
               for_output(fmt::format("{}: {}: {}", action.node, action.what, action.why)));
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

// Why operators that a device could take are elsewhere is much the same for all of them: said once, with their number.
class Elsewhere {
 public:
  void add(const Offer& offer) {
    const std::pair<std::string, std::string> why{offer.device, offer.reason.value_or("-")};
    const auto found = std::find_if(reasons_.begin(), reasons_.end(),
                                    [&](const auto& each) { return each.first == why; });
    if (found != reasons_.end())
      ++found->second;
    else
      reasons_.push_back({why, 1});
  }
  void print() const {
    if (!reasons_.empty()) fmt::print("\n");
    for (const auto& [why, count] : reasons_)
      fmt::print("{}\n", for_output(fmt::format(
                             "not {}: {} ({} that it could take)", why.first, why.second,
                             count == 1 ? "1 operator" : fmt::format("{} operators", count))));
  }

 private:
  std::vector<std::pair<std::pair<std::string, std::string>, int>> reasons_;
};

void print_text(const Explanation& explanation, const ReducedModule& reduced,
                const std::vector<CompiledProgram>& planned, const std::vector<DeviceNotes>& notes,
                bool refused_only) {
  const Terminal& terminal = output_terminal();
  constexpr size_t kWidestName = 48, kCycles = 3;
  std::vector<TableRow> rows = {{{"operator"}, {"kind"}, {"runs on"}, {"cycles"}, {"shapes"}}};
  std::vector<std::vector<std::string>> remarks(1);
  Elsewhere elsewhere;
  for (const Explanation::Operator& row : explanation.operators) {
    if (refused_only && !is_refused(row)) continue;
    const std::optional<double> cycles = explanation.cycles_of(row);
    rows.push_back({{clipped(row.name, kWidestName), Tint::Name},
                    {row.kind},
                    {row.device},
                    {cycles ? fmt::format("{:.0f}", *cycles) : ""},
                    {row.shapes}});
    std::vector<std::string>& lines = remarks.emplace_back();
    for (const Offer& offer : row.offers)
      if (offer.taken && !offer.note.empty()) lines.push_back(offer.note);
    for (const Offer& offer : row.offers) {
      if (offer.taken) continue;
      if (!offer.can)
        lines.push_back(fmt::format("not {}: {}", offer.device, offer.reason.value_or("-")));
      else if (!refused_only)
        elsewhere.add(offer);
    }
  }
  // The table's lines, each with its remarks below; on a terminal a row may be several lines.
  const std::vector<std::string> lines =
      table_lines(rows, terminal, {.has_heading = true, .right = {kCycles}});
  for (size_t r = 0; r < lines.size(); ++r) {
    fmt::print("{}\n", lines[r]);
    for (const std::string& remark : remarks[r])
      fmt::print("    {}\n", tinted(terminal, Tint::Faint,
                                    terminal.is_terminal
                                        ? wrapped(remark, static_cast<size_t>(terminal.width), 6, 4)
                                        : remark));
  }
  elsewhere.print();
  const auto counted = [](int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  std::vector<std::string> clocks;
  for (const Explanation::Clock& clock : explanation.clocks)
    clocks.push_back(fmt::format("{} at {:g} MHz", clock.device, clock.mhz));
  fmt::print(
      "\n{}\n",
      for_output(fmt::format(
          "{} in {} with {}; {} between devices ({} bytes); estimated "
          "{:.1f} us, "
          "assuming {}",
          counted(static_cast<int64_t>(explanation.operators.size()), "operator", "operators"),
          counted(explanation.regions, "region", "regions"),
          counted(explanation.boundaries, "boundary", "boundaries"),
          counted(explanation.transfers, "transfer", "transfers"), explanation.transfer_bytes,
          explanation.microseconds, fmt::join(clocks, ", "))));
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
  if (!explanation.operators.empty())
    fmt::print("\n{}\n", tinted(terminal, Tint::Heading, who_has_what(explanation)));
}

int explain_unsupported(const Context& context, const Selection& selection,
                        const CommonOptions& options) {
  const Result<std::vector<uint8_t>> file = read_file(options.model);
  if (!file.ok()) return fail(file.error());
  const Result<requests::Unsupported> found =
      requests::find_unsupported(context, selection, options, *file, print_note);
  if (!found.ok()) return fail(found.error());
  clear_progress();
  fmt::print("{}", options.json ? requests::unsupported_json(*found)
                                : unsupported_text(*found, options.model, output_terminal()));
  return kDone;
}

}  // namespace

int run_explain(Context& context, const ExplainCommand& command) {
  const CommonOptions& options = command.common;
  Result<Selection> selected = select(context, options);
  if (!selected.ok()) return fail(selected.error());
  Selection selection = std::move(selected).value();
  if (command.unsupported) return explain_unsupported(context, selection, options);
  selection.options.partition.estimates = true;
  const Stage last = requests::has_ram_budget(options) ? Stage::Plan : Stage::Partition;
  const Result<CompiledModel> model = compile_file(context, selection, options, last);
  if (!model.ok()) return fail(model.error());
  const std::vector<CompiledProgram> planned =
      requests::has_ram_budget(options) ? model->programs : std::vector<CompiledProgram>{};
  const std::vector<DeviceNotes> notes =
      requests::notes_of(model->partitioned.module, context.registry, selection.target);
  const Explanation& explanation = model->partitioned.explanation;
  clear_progress();
  if (options.json)
    fmt::print("{}", requests::explanation_json(explanation, model->reduced, planned, notes,
                                                command.refused));
  else
    print_text(explanation, model->reduced, planned, notes, command.refused);
  return kDone;
}

}  // namespace intarsia::cli
