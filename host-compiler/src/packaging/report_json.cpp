#include <nlohmann/json.hpp>

#include "intarsia/report.h"
#include "packaging/cycles_json.h"
#include "packaging/elimination_json.h"
#include "packaging/rows_on_lines.h"
#include "packaging/tensor_json.h"

namespace intarsia {
namespace {

using Json = nlohmann::ordered_json;

Json pool_json(const PoolRow& pool) {
  Json live = Json::array();
  for (const PoolRow::Live& each : pool.live)
    live.push_back({{"buffer", each.name}, {"begin", each.begin}, {"end", each.end}});
  return {{"name", pool.name},
          {"size", pool.size},
          {"peak", pool.peak},
          {"lower_bound", pool.lower_bound},
          {"proven_optimal", pool.proven_optimal},
          {"method", pool.method},
          {"fullest",
           {{"at", pool.fullest_at},
            {"bytes", pool.fullest_bytes},
            {"step", pool.fullest_step},
            {"live", live}}}};
}

Json buffer_json(const BufferRow& row) {
  return {{"name", row.name},
          {"use", row.use},
          {"tensor", row.tensor},
          {"pool", row.pool},
          {"begin", row.begin},
          {"end", row.end},
          {"first_step", row.first_step},
          {"last_step", row.last_step},
          {"alias", row.alias},
          {"written_by", row.written_by},
          {"read_by", row.read_by}};
}

Json plan_json(const Report& report) {
  Json json = {{"count", report.steps}, {"runs", Json::array()}};
  for (const StepRow& row : report.step_rows)
    json["runs"].push_back(
        {{"first", row.first}, {"last", row.last}, {"name", row.name}, {"member", row.device}});
  return json;
}

Json graph_json(const Report& report) {
  Json json = {{"operators", Json::array()}, {"edges", Json::array()}};
  for (const GraphRow& row : report.graph)
    json["operators"].push_back({{"name", row.name},
                                 {"kind", row.kind},
                                 {"member", row.device},
                                 {"region", row.region},
                                 {"shapes", row.shapes}});
  for (const GraphEdge& edge : report.edges)
    json["edges"].push_back(
        {{"from", edge.from}, {"to", edge.to}, {"tensor", edge.tensor}, {"bytes", edge.bytes}});
  return json;
}

Json operator_json(const OperatorRow& row) {
  Json memory = Json::array();
  for (const OperatorRow::Range& range : row.memory)
    memory.push_back(
        {{"buffer", range.what}, {"pool", range.pool}, {"begin", range.begin}, {"end", range.end}});
  Json constants = Json::array();
  for (const OperatorRow::ConstantBytes& each : row.constants) {
    constants.push_back({{"name", each.name}, {"use", each.use}, {"bytes", each.bytes}});
    if (!each.memory.empty()) constants.back()["memory"] = each.memory;
  }
  Json json = {{"name", row.name},
               {"what", row.origin},
               {"kind", row.kind},
               {"shapes", row.shapes},
               {"member", row.device},
               {"region", row.region},
               {"macs", row.macs},
               {"weight_bytes", row.weight_bytes},
               {"table_bytes", row.table_bytes},
               {"stream_bytes", row.stream_bytes},
               {"kernels", row.kernels},
               {"memory", std::move(memory)},
               {"constants", std::move(constants)},
               {"placement", row.placement}};
  if (row.cycles_alone) json["cycles_alone"] = *row.cycles_alone;
  return json;
}

}  // namespace

Json packaging::cycles_json(const std::vector<DeviceCycles>& devices,
                            const std::vector<CycleRow>& rows) {
  Json json = {{"devices", Json::array()}, {"operators", Json::array()}};
  for (const DeviceCycles& device : devices)
    json["devices"].push_back(
        {{"member", device.device}, {"assumed_mhz", device.clock_mhz}, {"cycles", device.cycles}});
  for (const CycleRow& row : rows)
    json["operators"].push_back({{"name", row.name},
                                 {"member", row.device},
                                 {"operators", row.operators},
                                 {"cycles", row.cycles}});
  return json;
}

Json packaging::counted_json(const RunCycles& run) {
  const auto estimate = [](const CycleEstimate& cycles) {
    return Json{{"optimistic", cycles.optimistic},
                {"nominal", cycles.nominal},
                {"pessimistic", cycles.pessimistic}};
  };
  Json json = estimate(run.cycles);
  json["instructions"] = run.instructions;
  json["operators"] = Json::array();
  for (const RunCycles::Operator& op : run.operators) {
    Json row = {{"name", op.name}, {"instructions", op.instructions}};
    row.update(estimate(op.cycles));
    json["operators"].push_back(std::move(row));
  }
  return json;
}

std::string report_json(const Report& report) {
  Json json;
  json["format"] = kReportFormat;
  json["model"] = report.model;
  json["target"] = report.target;
  json["board"] = report.board;
  json["inputs"] = packaging::tensors_json(report.inputs);
  json["outputs"] = packaging::tensors_json(report.outputs);
  json["totals"] = {{"macs", report.macs},
                    {"weight_bytes", report.weight_bytes},
                    {"table_bytes", report.table_bytes},
                    {"stream_bytes", report.stream_bytes},
                    {"transfers", report.transfers},
                    {"transfer_bytes", report.transfer_bytes}};
  if (!report.search_note.empty()) json["partition_search"] = report.search_note;
  json["slimming"] =
      elimination_json(report.before_elimination, report.after_elimination, report.eliminated);
  json["pools"] = Json::array();
  for (const PoolRow& pool : report.pools) json["pools"].push_back(pool_json(pool));
  for (const ConstantMemoryRow& row : report.constant_memories)
    json["constant_memories"].push_back({{"name", row.name},
                                         {"size", row.size},
                                         {"bytes", row.bytes},
                                         {"constants", row.constants}});
  json["search"] = {{"steps", report.search.steps}, {"ended_early", report.search.ended_early}};
  if (report.ram_budget)
    json["ram_budget"] = {{"budget", report.ram_budget->budget},
                          {"before", report.ram_budget->before},
                          {"after", report.ram_budget->after},
                          {"striped", report.ram_budget->tiled}};
  for (const ScheduledAgain& each : report.scheduled_again)
    json["scheduled_again"].push_back({{"function", each.function},
                                       {"device", each.device},
                                       {"limit", each.limit},
                                       {"before", each.before},
                                       {"after", each.after}});
  if (report.measured) {
    const Measurements& measured = *report.measured;
    json["flash"] = {{"code_bytes", measured.code_bytes},
                     {"weight_bytes", report.weight_bytes},
                     {"table_bytes", report.table_bytes},
                     {"stream_bytes", report.stream_bytes},
                     {"constant_bytes_linked", measured.constant_bytes},
                     {"stream_bytes_linked", measured.stream_bytes},
                     {"total_bytes", measured.flash_bytes()}};
    json["stack"] = {{"bytes", measured.stack_bytes}, {"chain", measured.stack_chain}};
    json["compiler"] = measured.compiler;
  } else {
    json["not_measured"] = report.not_measured;
  }
  if (!report.cycles.empty())
    json["estimated_cycles"] = packaging::cycles_json(report.device_cycles, report.cycles);
  if (report.counted) json["counted_cycles"] = packaging::counted_json(*report.counted);
  json["regions"] = Json::array();
  for (const RegionRow& region : report.regions)
    json["regions"].push_back({{"name", region.name},
                               {"member", region.device},
                               {"operators", region.operators},
                               {"macs", region.macs},
                               {"stream_bytes", region.stream_bytes}});
  json["operators"] = Json::array();
  for (const OperatorRow& row : report.operators) json["operators"].push_back(operator_json(row));
  json["buffers"] = Json::array();
  for (const BufferRow& row : report.buffers) json["buffers"].push_back(buffer_json(row));
  json["steps"] = plan_json(report);
  json["graph"] = graph_json(report);
  return packaging::rows_on_lines(json) + "\n";
}

}  // namespace intarsia
