#include "requests/program_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "multicore/multicore.h"
#include "packaging/cycles_json.h"
#include "packaging/report_text.h"
#include "packaging/rows_on_lines.h"
#include "packaging/tensor_json.h"

namespace intarsia::requests {
namespace {

ProgramReport multicore_report(const Selection& selection, const CompiledModel& model) {
  const std::string target = to_string(selection.target);
  const MulticorePartition& multicore = model.multicore;
  const Explanation& explanation = model.partitioned.explanation;
  ProgramReport result;
  result.model = multicore.name;
  result.inputs = model.package.manifest.inputs;
  result.outputs = model.package.manifest.outputs;
  result.eliminated_steps = model.reduced.actions.size();
  result.cpus = multicore.cpus.size();
  result.mailbox_bytes = mailbox_bytes(multicore);
  nlohmann::ordered_json json = {{"format", kReportFormat},
                                 {"model", multicore.name},
                                 {"target", target},
                                 {"board", selection.board.name},
                                 {"parts", multicore.cpus},
                                 {"mailbox_bytes", mailbox_bytes(multicore)},
                                 {"transfers", explanation.transfers},
                                 {"transfer_bytes", explanation.transfer_bytes}};
  result.text = fmt::format(
      "{} in {} parts for {}\n{} transfers between them, {} bytes; mailbox of {} bytes\n",
      multicore.name, multicore.cpus.size(), target, explanation.transfers,
      explanation.transfer_bytes, mailbox_bytes(multicore));
  if (const std::string note = search_note(explanation); !note.empty()) {
    json["search"] = note;  // where it always was
    json["partition_search"] = note;
    result.text += note + "\n";
  }
  json["inputs"] = packaging::tensors_json(model.package.manifest.inputs);
  json["outputs"] = packaging::tensors_json(model.package.manifest.outputs);
  Report cycles;
  add_cycles(explanation, cycles);
  result.device_cycles = cycles.device_cycles;
  if (!cycles.cycles.empty())
    json["estimated_cycles"] = packaging::cycles_json(cycles.device_cycles, cycles.cycles);
  result.text +=
      "\n" + packaging::edges_text(model.package.manifest.inputs, model.package.manifest.outputs) +
      packaging::cycles_text(cycles.device_cycles);
  for (const CompiledProgram& program : model.programs) {
    Report report = make_report(program, target, selection.board.name);
    add_placement(explanation, report);
    result.not_measured = "the parts are firmware of their own; measure each when it is built";
    report.not_measured = result.not_measured;
    result.parts.push_back(report);
    result.operators.insert(result.operators.end(), report.operators.begin(),
                            report.operators.end());
    result.text += fmt::format("\nPart {}\n{}", program.cpu, report_text(report));
    auto row = nlohmann::ordered_json::parse(report_json(report));
    row["member"] = program.cpu;
    json["stages"].push_back(std::move(row));
  }
  result.json = packaging::rows_on_lines(json) + "\n";
  return result;
}

}  // namespace

ProgramReport report_of(const Selection& selection, const CompiledModel& model,
                        const Result<Measurements>& measured, std::optional<RunCycles> counted) {
  if (!model.multicore.segments.empty()) return multicore_report(selection, model);
  Report report = make_report(model, to_string(selection.target), selection.board.name);
  if (measured.ok())
    report.measured = *measured;
  else
    report.not_measured = measured.error().items().front().to_string();
  report.counted = std::move(counted);
  ProgramReport result;
  result.model = report.model;
  result.inputs = report.inputs;
  result.outputs = report.outputs;
  result.eliminated_steps = report.eliminated.size();
  result.text = report_text(report);
  result.json = report_json(report);
  result.device_cycles = report.device_cycles;
  result.operators = report.operators;
  result.measured = report.measured;
  result.counted = report.counted;
  result.not_measured = report.not_measured;
  result.parts.push_back(std::move(report));
  return result;
}

}  // namespace intarsia::requests
