#include "verify_report.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cycles_report.h"
#include "intarsia/graph/tensor_values.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string device_of(const Explanation& explanation, const std::string& node) {
  for (const Explanation::Operator& row : explanation.operators)
    if (row.name == node) return row.device;
  return "";
}

int64_t elements_of(const graph::Function& function, const graph::Node& node) {
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  return elements;
}

std::string cell_text(const Column& column, size_t row) {
  if (column.rows.empty()) return "not looked at";
  const OperatorCheck::Row& cell = column.rows[row];
  if (!cell.is_looked_at) return "-";
  if (!cell.difference.empty()) return "DIFFERS";
  return cell.largest == 0 ? "equal" : fmt::format("within {} of {}", cell.largest, cell.allowed);
}

std::string operators_table(const Verdict& verdict) {
  const bool looked = std::any_of(verdict.columns.begin(), verdict.columns.end(),
                                  [](const Column& column) { return !column.rows.empty(); });
  if (!looked) return "";
  // A package whose report is gone does not say who runs what: then there is no such column.
  const bool has_devices = !verdict.explanation.operators.empty();
  std::vector<TableRow> rows = {{{"operator"}, {"kind"}}};
  if (has_devices) rows[0].push_back({"runs on"});
  rows[0].push_back({"elements"});
  const size_t elements = rows[0].size() - 1;
  for (const Column& column : verdict.columns) rows[0].push_back({column.platform});
  for (size_t i = 0; i < verdict.operators.size(); ++i) {
    const graph::Node& node = verdict.operators[i];
    TableRow& row = rows.emplace_back();
    row = {{node.name, Tint::Name}, {std::string(graph::to_string(node.kind))}};
    if (has_devices) row.push_back({device_of(verdict.explanation, node.name)});
    row.push_back({fmt::format("{}", elements_of(*verdict.function, node))});
    for (const Column& column : verdict.columns) {
      const bool differs = !column.rows.empty() && !column.rows[i].difference.empty();
      row.push_back({cell_text(column, i), differs ? Tint::Error : Tint::Good});
    }
  }
  return table_text(rows, output_terminal(), {.has_heading = true, .right = {elements}});
}

std::string described(const Column& column) {
  if (column.platform == "host")
    return column.is_object ? "the object file on this machine" : "generated C on this machine";
  if (column.platform == "engine") return "the compiled model in this process";
  return "firmware on board " + column.platform;
}

std::string summary_text(const Verdict& verdict) {
  std::vector<std::string> programs;
  for (const Column& column : verdict.columns) programs.push_back(described(column));
  std::string what = "reference";
  for (size_t i = 0; i < programs.size(); ++i)
    what += (i + 1 < programs.size() ? ", " : " and ") + programs[i];
  std::string text = fmt::format("{}: {} agree on {} sample{} ({})\n", verdict.model, what,
                                 verdict.samples, verdict.samples == 1 ? "" : "s", verdict.target);
  for (const Column& column : verdict.columns) {
    if (!column.cycles.empty())
      text += fmt::format("{}: {}", column.platform, cycles_text(column.cycles.back()));
    if (column.allowed > 0)
      text += fmt::format(
          "{}: each operator on the operands it had: devices that round in their own way within {} "
          "of the reference ({} at most is allowed), all others exactly\n",
          column.platform, column.largest, column.allowed);
    else if (column.is_told_by_operators)
      text += fmt::format(
          "{}: each operator on the operands it had: floats have other last bits than the "
          "reference's, and some of them are a step further where they become integers\n",
          column.platform);
    if (!column.not_looked.empty())
      text += fmt::format("{}: operators were not looked at one by one: {}", column.platform,
                          column.not_looked);
  }
  return text;
}

Json json_of(const Verdict& verdict) {
  Json json = {{"model", verdict.model},
               {"target", verdict.target},
               {"board", verdict.board},
               {"samples", verdict.samples},
               {"agree", verdict.failed() == nullptr}};
  int32_t allowed = 0, largest = 0;
  for (const Column& column : verdict.columns) {
    allowed = std::max(allowed, column.allowed);
    largest = std::max(largest, column.largest);
    json["platforms"].push_back(column.platform);
    if (!column.cycles.empty()) json["cycles"][column.platform] = cycles_json(column.cycles);
    if (!column.difference.empty() && !json.contains("first_difference"))
      json["first_difference"] = column.difference;
  }
  if (allowed > 0) json["allowed_difference"] = allowed, json["largest_difference"] = largest;
  json["operators"] = Json::array();
  for (size_t i = 0; i < verdict.operators.size(); ++i) {
    const graph::Node& node = verdict.operators[i];
    Json row = {{"operator", node.name},
                {"kind", graph::to_string(node.kind)},
                {"runs_on", device_of(verdict.explanation, node.name)},
                {"elements", elements_of(*verdict.function, node)}};
    for (const Column& column : verdict.columns) {
      if (column.rows.empty() || !column.rows[i].is_looked_at) continue;
      row[column.platform] = {{"agrees", column.rows[i].difference.empty()},
                              {"largest_difference", column.rows[i].largest}};
      if (!column.rows[i].difference.empty())
        row[column.platform]["first_difference"] = column.rows[i].difference;
    }
    json["operators"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

std::string first_difference(const graph::Module& module, const std::vector<Values>& expected,
                             const std::vector<Values>& actual) {
  const graph::Function& function = module.entry_function();
  for (const graph::Node& node : function.nodes)
    for (size_t o = 0; o < function.outputs.size(); ++o) {
      if (std::find(node.outputs.begin(), node.outputs.end(), function.outputs[o]) ==
          node.outputs.end())
        continue;
      const graph::Tensor& tensor = function.tensor(function.outputs[o]);
      for (size_t s = 0; s < expected.size(); ++s)
        if (const std::string text =
                describe_difference(node, tensor, s, expected[s][o], actual[s][o]);
            !text.empty())
          return text;
    }
  // What no operator makes: inputs that are outputs, and constants.
  for (size_t o = 0; o < function.outputs.size(); ++o) {
    const graph::Tensor& tensor = function.tensor(function.outputs[o]);
    for (size_t s = 0; s < expected.size(); ++s)
      if (const auto difference = graph::first_difference(tensor, expected[s][o], actual[s][o]))
        return fmt::format("output '{}', sample {}, {}", tensor.name, s,
                           difference->text(tensor.shape));
  }
  return "";
}

int report(const VerifyCommand& command, const Verdict& verdict, const std::string& hint) {
  clear_progress();
  const Column* failed = verdict.failed();
  for (const std::string& note : verdict.notes) print_note(note);
  if (command.common.json)
    fmt::print("{}\n", json_of(verdict).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}{}", operators_table(verdict), failed == nullptr ? summary_text(verdict) : "");
  if (failed == nullptr) return kDone;
  std::fflush(stdout);
  return fail(Diagnostics(
      verdict.model,
      fmt::format("reference and {} differ, first at {}", described(*failed), failed->difference),
      hint));
}

}  // namespace intarsia::cli
