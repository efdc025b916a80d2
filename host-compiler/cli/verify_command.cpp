// Three ways to compute a model, compared: the reference evaluator, the generated C on this machine, and the
// firmware in the board's emulator, each with its devices simulated. Every program is run twice: as it is,
// for the model's outputs, and with every intermediate tensor as an output, which tells for each operator
// whether it computes what the reference does.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "intarsia/import.h"
#include "intarsia/tensor_values.h"
#include "support/files.h"
#include "verify_programs.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What one program was seen to do.
struct Column {
  std::string platform;
  std::vector<OperatorCheck::Row> rows;  // by operator; empty: not looked at
  std::string not_looked;                // why
  std::string difference;                // the first, in words; empty: none
  int32_t allowed = 0, largest = 0;      // steps, where devices round in their own way
};

struct Verdict {
  std::string model, target, board, left_out;
  size_t samples = 0;
  std::vector<graph::Node> operators;
  const graph::Function* function = nullptr;  // of the operators
  Explanation explanation;
  std::vector<Column> columns;

  const Column* failed() const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [](const Column& c) { return !c.difference.empty(); });
    return found == columns.end() ? nullptr : &*found;
  }
};

std::string member_of(const Explanation& explanation, const std::string& node) {
  for (const Explanation::Operator& row : explanation.operators)
    if (row.name == node) return row.member;
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
  if (!cell.difference.empty()) return "DIFFERS";
  return cell.largest == 0 ? "equal" : fmt::format("within {} of {}", cell.largest, cell.allowed);
}

std::string table_text(const Verdict& verdict) {
  const bool looked = std::any_of(verdict.columns.begin(), verdict.columns.end(),
                                  [](const Column& column) { return !column.rows.empty(); });
  if (!looked) return "";
  std::vector<std::vector<std::string>> rows = {{"operator", "kind", "runs on", "elements"}};
  for (const Column& column : verdict.columns) rows[0].push_back(column.platform);
  for (size_t i = 0; i < verdict.operators.size(); ++i) {
    const graph::Node& node = verdict.operators[i];
    rows.push_back({node.name, std::string(graph::to_string(node.kind)),
                    member_of(verdict.explanation, node.name),
                    fmt::format("{}", elements_of(*verdict.function, node))});
    for (const Column& column : verdict.columns) rows.back().push_back(cell_text(column, i));
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i == 3 ? fmt::format("{:>{}}  ", row[i], widths[i])
                     : fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string summary_text(const Verdict& verdict) {
  std::string what = "reference";
  for (const Column& column : verdict.columns)
    what += column.platform == "host"
                ? (verdict.columns.size() > 1 ? ", generated C on this machine"
                                              : " and generated C on this machine")
                : fmt::format(" and firmware on board {}", column.platform);
  std::string text = fmt::format("{}: {} agree on {} samples ({})\n", verdict.model, what,
                                 verdict.samples, verdict.target);
  for (const Column& column : verdict.columns) {
    if (column.allowed > 0)
      text += fmt::format(
          "{}: each operator on the operands it had: devices that round in their own way within {} "
          "of the reference ({} at most is allowed), all others exactly\n",
          column.platform, column.largest, column.allowed);
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
    if (!column.difference.empty() && !json.contains("first_difference"))
      json["first_difference"] = column.difference;
  }
  if (allowed > 0) json["allowed_difference"] = allowed, json["largest_difference"] = largest;
  json["operators"] = Json::array();
  for (size_t i = 0; i < verdict.operators.size(); ++i) {
    const graph::Node& node = verdict.operators[i];
    Json row = {{"operator", node.name},
                {"kind", graph::to_string(node.kind)},
                {"runs_on", member_of(verdict.explanation, node.name)},
                {"elements", elements_of(*verdict.function, node)}};
    for (const Column& column : verdict.columns) {
      if (column.rows.empty()) continue;
      row[column.platform] = {{"agrees", column.rows[i].difference.empty()},
                              {"largest_difference", column.rows[i].largest}};
      if (!column.rows[i].difference.empty())
        row[column.platform]["first_difference"] = column.rows[i].difference;
    }
    json["operators"].push_back(std::move(row));
  }
  return json;
}

// The first output that differs, in the order of the operators that make them; empty when none does.
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
  return "";
}

// The model, what the reference makes of the samples, and the model that is partitioned.
struct Subject {
  graph::Module module;
  std::vector<Values> samples, expected;
};
Result<Subject> subject_of(const VerifyCommand& command, const std::string& model) {
  Subject subject;
  CommonOptions options = command.common;
  options.model = model;
  INTARSIA_TRY(subject.module, import_file(options));
  const graph::Function& entry = subject.module.entry_function();
  if (command.inputs.empty()) {
    for (int i = 0; i < command.samples; ++i)
      subject.samples.push_back(graph::make_sample(entry, i));
  } else {
    INTARSIA_TRY(subject.samples, read_samples(entry, command.inputs));
  }
  INTARSIA_TRY(subject.expected, evaluate(subject.module, subject.samples));
  return subject;
}

// One program, as it is and operator by operator.
Result<Column> look_at(const Context& context, const VerifyCommand& command,
                       const Platform& platform, const Subject& subject,
                       const graph::Module& slimmed, Explanation& explanation) {
  Column column{platform.name};
  INTARSIA_TRY(const Ran closed, run_module(context, command.common, platform.selection,
                                            subject.module, subject.samples));
  explanation = closed.explanation;
  column.difference = first_difference(subject.module, subject.expected, closed.results);
  if (!column.difference.empty())
    INTARSIA_TRY_VOID(check_slimmed(subject.module, slimmed, command.samples));
  const graph::Module opened = with_all_outputs(pinned_as(slimmed, closed.explanation));
  const std::map<std::string, int32_t> allowed =
      tolerances(opened, closed.explanation, context.registry, platform.selection.target);
  for (const auto& [name, steps] : allowed) column.allowed = std::max(column.allowed, steps);
  if (!command.layers && column.difference.empty()) return column;

  Selection open = platform.selection;
  open.options.lowering.slim = false;  // outputs hold every channel: there is less to slim
  open.options.lowering.ram_budget.reset();
  Result<Ran> ran = run_module(context, command.common, open, opened, subject.samples);
  if (!ran.ok()) {
    // With every result kept it may need more memory than there is.
    if (command.layers_are_asked_for || column.allowed > 0) return ran.error();
    column.not_looked = ran.error().to_string();
    return column;
  }
  INTARSIA_TRY(OperatorCheck check,
               check_operators(opened, allowed, subject.samples, ran->results));
  column.rows = std::move(check.rows);
  column.largest = check.largest;
  if (!check.difference.empty()) {
    column.difference = check.difference;
  } else if (column.allowed > 0) {
    // What the operators were seen to do has to be what the program as it is does.
    std::vector<Values> outputs;
    for (const Values& all : ran->results)
      outputs.emplace_back(all.begin(),
                           all.begin() + static_cast<int64_t>(closed.results[0].size()));
    column.difference = first_difference(subject.module, outputs, closed.results);
  }
  return column;
}

int report(const VerifyCommand& command, const Verdict& verdict, const std::string& hint) {
  clear_progress();
  const Column* failed = verdict.failed();
  if (!verdict.left_out.empty()) fmt::print(stderr, "note: {}\n", verdict.left_out);
  if (command.common.json)
    fmt::print("{}\n", json_of(verdict).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}{}", table_text(verdict), failed == nullptr ? summary_text(verdict) : "");
  if (failed == nullptr) return kDone;
  std::fflush(stdout);
  return fail(Diagnostics(
      verdict.model,
      fmt::format("reference and program on {} differ, first at {}",
                  failed->platform == "host" ? "this machine" : "board " + failed->platform,
                  failed->difference),
      hint));
}

Result<int> verify_model(Context& context, const VerifyCommand& command) {
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  INTARSIA_TRY(const Platforms platforms, platforms_of(context, selection));
  INTARSIA_TRY(const Subject subject, subject_of(command, command.common.model));
  INTARSIA_TRY(const Slimmed slimmed, slim_as_asked(subject.module, selection.options));
  Verdict verdict{subject.module.name,
                  to_string(selection.target),
                  selection.board.name,
                  platforms.left_out,
                  subject.samples.size(),
                  slimmed.module.entry_function().nodes,
                  &slimmed.module.entry_function()};
  for (const Platform& platform : platforms.all) {
    INTARSIA_TRY(Column column,
                 look_at(context, command, platform, subject, slimmed.module, verdict.explanation));
    verdict.columns.push_back(std::move(column));
  }
  return report(command, verdict,
                "this is a fault of the compiler, please report it with the model");
}

Result<void> check_tensors(const std::string& folder, const std::string& model,
                           const std::vector<TensorInfo>& of_package,
                           const std::vector<TensorInfo>& of_model) {
  const bool same = std::equal(of_package.begin(), of_package.end(), of_model.begin(),
                               of_model.end(), [](const TensorInfo& a, const TensorInfo& b) {
                                 return a.type == b.type && a.shape == b.shape;
                               });
  if (same) return {};
  return Diagnostics(folder, fmt::format("has other inputs or outputs than {}", model),
                     "name the model that it was compiled from");
}

// A folder that `compile` wrote: its program as it is.
Result<int> verify_package(Context& context, const VerifyCommand& command) {
  const std::string& folder = command.common.model;
  if (command.reference.empty())
    return Diagnostics(folder, "is a compiled package, which does not hold the model itself",
                       "name the model that it was compiled from with --reference FILE");
  INTARSIA_TRY(const BuildSetting setting, setting_of_folder(context, command.common));
  INTARSIA_TRY(const Subject subject, subject_of(command, command.reference));
  const graph::Function& entry = subject.module.entry_function();
  INTARSIA_TRY_VOID(check_tensors(folder, command.reference, setting.manifest.inputs,
                                  tensor_infos(entry, entry.inputs)));
  INTARSIA_TRY_VOID(check_tensors(folder, command.reference, setting.manifest.outputs,
                                  tensor_infos(entry, entry.outputs)));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY(const std::vector<Values> results,
               run_package(setting, subject.samples, work.path()));
  Verdict verdict{setting.manifest.model, setting.manifest.target, setting.board.name, "",
                  subject.samples.size()};
  verdict.columns.push_back({setting.board.name});
  verdict.columns[0].difference = first_difference(subject.module, subject.expected, results);
  return report(
      command, verdict,
      fmt::format("'intarsia verify {}' tells whether a fresh compilation agrees; devices "
                  "that round in their own way are compared there only",
                  command.reference));
}

}  // namespace

int run_verify(Context& context, const VerifyCommand& command) {
  std::error_code error;
  const Result<int> result = fs::is_directory(command.common.model, error)
                                 ? verify_package(context, command)
                                 : verify_model(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
