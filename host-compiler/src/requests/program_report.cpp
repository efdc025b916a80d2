#include "requests/program_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "multicore/c_names.h"
#include "multicore/multicore.h"
#include "packaging/cycles_json.h"
#include "packaging/report_text.h"
#include "packaging/rows_on_lines.h"
#include "packaging/tensor_json.h"

namespace intarsia::requests {
namespace {

// What the parts are given to work in, which is less than all their stages need one by one.
void add_blocks(const CompiledModel& model, ProgramReport& result, nlohmann::ordered_json& json) {
  json["blocks"] = nlohmann::ordered_json::array();
  result.text += "Working memory of the parts, which stages without state use in turn\n";
  for (const std::string& cpu : model.multicore.cpus)
    for (const multicore::PoolBlock& block : multicore::blocks_of(model, cpu)) {
      result.blocks.push_back({cpu, block.pool, block.bytes, block.stages.size()});
      std::vector<std::string> stages;
      for (const size_t stage : block.stages) stages.push_back(multicore::stage_name(model, stage));
      json["blocks"].push_back({{"member", cpu},
                                {"name", block.name},
                                {"pool", block.pool},
                                {"bytes", block.bytes},
                                {"stages", stages}});
      result.text += fmt::format("  {:<16} {:<16} {:>9} bytes, of {}\n", cpu, block.name,
                                 block.bytes, fmt::join(stages, ", "));
    }
}

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
  add_blocks(model, result, json);
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

int64_t ram_bytes(const ProgramReport& report) {
  int64_t bytes = report.mailbox_bytes;
  if (report.cpus > 1) {
    for (const PartBlock& block : report.blocks) bytes += block.bytes;
    return bytes;
  }
  for (const Report& part : report.parts)
    for (const PoolRow& pool : part.pools) bytes += pool.peak;
  return bytes;
}

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
