#include "unsupported_text.h"

#include <numeric>

#include <fmt/format.h>

#include "text_table.h"

namespace intarsia::cli {
namespace {

using requests::Refusals;

int64_t operators_in(const std::vector<Refusals>& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{0},
                         [](int64_t sum, const Refusals& each) { return sum + each.count; });
}

// A row for each reason, with the reason and the way out below.
std::string rows_text(const std::vector<Refusals>& list, const Terminal& terminal) {
  constexpr size_t kWidestName = 48, kCount = 1;
  std::vector<TableRow> rows = {{{"type"}, {"count"}, {"first"}}};
  for (const Refusals& each : list)
    rows.push_back(
        {{each.type, Tint::Name},
         {fmt::format("{}", each.count)},
         {fmt::format("operator {} '{}'", each.first_index, clipped(each.first, kWidestName))}});
  const std::vector<std::string> lines =
      table_lines(rows, terminal, {.has_heading = true, .right = {kCount}});
  std::string text = lines[0] + "\n";
  const auto add_remark = [&](const std::string& remark) {
    text += fmt::format(
        "    {}\n",
        tinted(terminal, Tint::Faint,
               terminal.is_terminal ? wrapped(remark, static_cast<size_t>(terminal.width), 6, 4)
                                    : remark));
  };
  for (size_t r = 0; r < list.size(); ++r) {
    text += lines[r + 1] + "\n";
    add_remark(list[r].device.empty() ? list[r].why
                                      : fmt::format("not {}: {}", list[r].device, list[r].why));
    if (!list[r].what_to_do.empty()) add_remark("what to do: " + list[r].what_to_do);
  }
  return text;
}

}  // namespace

std::string unsupported_text(const requests::Unsupported& unsupported, const std::string& model,
                             const Terminal& terminal) {
  if (unsupported.empty())
    return fmt::format("{}: {} operators, all of them supported\n", model, unsupported.operators);
  std::string text;
  const auto heading = [&](const std::string& words) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", tinted(terminal, Tint::Heading, words));
  };
  if (!unsupported.importer.empty()) {
    heading(fmt::format("{}: {} of {} operators cannot be imported", model,
                        operators_in(unsupported.importer), unsupported.operators));
    text += rows_text(unsupported.importer, terminal);
  }
  if (!unsupported.off_npu.empty()) {
    heading(fmt::format("{}: what stays with the CPU because an accelerator refuses it", model));
    text += rows_text(unsupported.off_npu, terminal);
  }
  if (!unsupported.problems.empty()) {
    heading(fmt::format("{}: problems of no single operator", model));
    text += unsupported.problems.to_string();
  }
  return text;
}

}  // namespace intarsia::cli
