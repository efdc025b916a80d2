#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "intarsia/plugin/tir_walk.h"
#include "intarsia/report.h"
#include "lowering/region_of.h"
#include "packaging/report_plan.h"
#include "plan/constant_places.h"
#include "plan/fullest_step.h"
#include "plan/lifetimes.h"
#include "tir/function_index.h"

namespace intarsia {
namespace {

bool has_memories_for_constants(const Plan& plan) {
  return std::ranges::count(plan.memory.pools, true, &MemoryPool::holds_constants) > 1;
}

// Empty where there is no choice.
std::string memory_of_constant(const Plan& plan, ConstantId constant) {
  if (!has_memories_for_constants(plan)) return "";
  const auto found = std::ranges::find(plan.constants, constant, &ConstantPlacement::constant);
  return found == plan.constants.end() ? ""
                                       : plan.memory.pools[static_cast<size_t>(found->pool)].name;
}

// In the order in which they are preferred.
void add_constant_memories(const Plan& plan, Report& report) {
  if (!has_memories_for_constants(plan)) return;
  for (const int32_t p : plan::pools_of_constants(plan.memory)) {
    const MemoryPool& pool = plan.memory.pools[static_cast<size_t>(p)];
    report.constant_memories.push_back(
        {pool.name, pool.size, plan.use[static_cast<size_t>(p)].constant_bytes,
         std::ranges::count(plan.constants, p, &ConstantPlacement::pool)});
  }
}

// Constants a function reads, each counted once in the whole report: by whoever runs first.
void count_constants(const CompiledProgram& program, const tir::Func& func,
                     const std::set<int32_t>& more, std::set<int32_t>& counted, OperatorRow& row) {
  const tir::Module& module = program.lowered;
  std::set<int32_t> used = more;
  for (const tir::Buffer& buffer : func.buffers)
    if (buffer.constant.valid()) used.insert(buffer.constant.index);
  for (const int32_t index : used) {
    const tir::Constant& constant = module.constants[static_cast<size_t>(index)];
    if (!counted.insert(index).second) continue;
    const int64_t bytes = static_cast<int64_t>(constant.bytes.size());
    if (constant.use == tir::ConstantUse::Weights) row.weight_bytes += bytes;
    if (constant.use == tir::ConstantUse::Table) row.table_bytes += bytes;
    if (constant.use != tir::ConstantUse::Stream)
      row.constants.push_back({constant.name,
                               constant.use == tir::ConstantUse::Weights ? "weights" : "table",
                               bytes, memory_of_constant(program.plan, ConstantId{index})});
  }
}

// Of each function. Constants that several streams have are the first one's, as they are in the package once.
std::map<std::string, int64_t> bytes_of_streams(std::span<const CommandStream> streams) {
  std::map<std::string, int64_t> bytes;
  for (size_t i = 0; i < streams.size(); ++i) {
    const bool known = std::ranges::any_of(streams.first(i), [&](const CommandStream& earlier) {
      return earlier.constants == streams[i].constants;
    });
    bytes[streams[i].func] = static_cast<int64_t>(streams[i].commands.size() +
                                                  (known ? 0 : streams[i].constants.size()));
  }
  return bytes;
}

// One row per operator that the stream runs. What they share is the first one's.
std::vector<OperatorRow> rows_of_stream(const graph::Function& region, OperatorRow shared) {
  std::vector<OperatorRow> rows;
  for (const graph::Node& node : region.nodes) {
    OperatorRow row;
    if (rows.empty()) row = shared;
    row.name = node.name;
    row.origin = graph::to_string(node.kind);
    row.device = shared.device;
    row.region = region.name;
    row.macs = graph::mac_count(region, node);
    rows.push_back(std::move(row));
  }
  return rows;
}

// What runs where most of the memory is in use, and what is alive then.
void describe_fullest_step(const CompiledProgram& program, int32_t pool, PoolRow& row) {
  const plan::FullestStep fullest = plan::fullest_step(program.plan, pool);
  row.fullest_bytes = fullest.bytes;
  row.fullest_step = fullest.step;
  if (fullest.bytes == 0) return;
  if (const tir::Func* func = plan::function_at(program.lowered, fullest.step))
    row.fullest_at = func->node.empty() ? func->name : func->node;
  const tir::Func& schedule = program.lowered.entry_func();
  for (const Placement* place : fullest.alive) {
    const int64_t begin = place->offset, end = place->offset + place->bytes;
    const bool is_known = std::any_of(
        row.live.begin(), row.live.end(),
        [&](const PoolRow::Live& other) { return other.begin == begin && other.end == end; });
    if (!is_known) row.live.push_back({schedule.buffer(place->buffer).name, begin, end});
  }
}

std::map<std::string, std::string> regions_by_operator(const graph::Module& partitioned) {
  std::map<std::string, std::string> regions;
  for (const graph::Function& function : partitioned.functions)
    if (function.name != partitioned.entry)
      for (const graph::Node& node : function.nodes) regions.try_emplace(node.name, function.name);
  return regions;
}

// The other devices' answers are the reasons; where there are no others, nothing is to be said.
std::string placement_text(const Explanation::Operator& row) {
  std::string text;
  for (const Offer& offer : row.offers) {
    if (offer.taken && !offer.note.empty())
      text += fmt::format("{}{}", text.empty() ? "" : "; ", offer.note);
    if (offer.taken || !offer.reason) continue;
    text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", offer.device,
                        offer.can ? "could run it" : "cannot run it", *offer.reason);
  }
  return text;
}

// Of branches and bodies of loops, functions that no region of the entry calls. A name may stand in several of them, so that the
// operator is the one that the function was made from: "NAME: KIND SHAPES", or "NAME: copy of SHAPE" of what has no node.
void describe_inner_operator(const graph::Module& partitioned, OperatorRow& row) {
  const size_t begin = row.name.size() + 2;
  if (!row.origin.starts_with(row.name + ": ")) return;
  row.kind = row.origin.substr(begin, row.origin.find(' ', begin) - begin);
  for (const graph::Function& function : partitioned.functions)
    for (const graph::Node& node : function.nodes) {
      const std::string shapes = node.name == row.name ? packaging::shapes_of(function, node) : "";
      if (shapes.empty() ||
          row.origin.substr(begin) != fmt::format("{} {}", graph::to_string(node.kind), shapes))
        continue;
      row.shapes = shapes;
      row.region = function.name;
      return;
    }
}

// Kinds and shapes are the graph's.
void describe_operators(const graph::Module& partitioned, Report& report) {
  std::map<std::string, const GraphRow*> rows;
  for (const GraphRow& row : report.graph) rows.try_emplace(row.name, &row);
  for (OperatorRow& row : report.operators)
    if (const auto found = rows.find(row.name); found != rows.end()) {
      row.kind = found->second->kind;
      row.shapes = found->second->shapes;
    } else {
      describe_inner_operator(partitioned, row);
    }
}

}  // namespace

Report make_report(const CompiledModel& model, const std::string& target,
                   const std::string& board) {
  Report report = make_report(model.program(), target, board);
  report.transfers = model.partitioned.explanation.transfers;
  report.transfer_bytes = model.partitioned.explanation.transfer_bytes;
  report.search_note = search_note(model.partitioned.explanation);
  add_cycles(model.partitioned.explanation, report);
  add_placement(model.partitioned.explanation, report);
  report.before_elimination = model.reduced.before;
  report.after_elimination = model.reduced.after;
  report.eliminated = model.reduced.actions;
  return report;
}

void add_cycles(const Explanation& explanation, Report& report) {
  for (const Explanation::Cycles& row : explanation.cycles) {
    const auto cycles = static_cast<int64_t>(std::llround(row.cycles));
    report.cycles.push_back({row.name, row.device, row.operators, cycles, row.clock_mhz});
    const auto found =
        std::find_if(report.device_cycles.begin(), report.device_cycles.end(),
                     [&](const DeviceCycles& sum) { return sum.device == row.device; });
    if (found == report.device_cycles.end())
      report.device_cycles.push_back({row.device, row.clock_mhz, cycles});
    else
      found->cycles += cycles;
  }
}

void add_placement(const Explanation& explanation, Report& report) {
  std::map<std::string, OperatorRow*> rows;
  for (OperatorRow& row : report.operators) rows.try_emplace(row.name, &row);
  for (const Explanation::Operator& each : explanation.operators)
    if (const auto row = rows.find(each.name); row != rows.end())
      row->second->placement = placement_text(each);
  const auto set_cycles = [&](const std::string& name, double cycles) {
    if (const auto row = rows.find(name); row != rows.end())
      row->second->cycles_alone = static_cast<int64_t>(std::llround(cycles));
  };
  for (const Explanation::Cycles& each : explanation.cycles) {
    if (each.alone.empty()) set_cycles(each.name, each.cycles);
    for (const Explanation::Cycles::Alone& one : each.alone) set_cycles(one.name, one.cycles);
  }
}

Report make_report(const CompiledProgram& program, const std::string& target,
                   const std::string& board) {
  Report report;
  report.model = program.emitted.name;
  report.target = target;
  report.board = board;
  report.inputs = program.emitted.inputs;
  report.outputs = program.emitted.outputs;
  report.ram_budget = program.ram_budget;
  report.scheduled_again = program.scheduled_again;
  report.search = {program.plan.search_steps, program.plan.search_ended_early};

  const std::map<std::string, int64_t> stream_bytes = bytes_of_streams(program.emitted.streams);
  const tir::Func& schedule = program.lowered.entry_func();
  const tir::FunctionIndex functions(program.lowered);
  std::set<int32_t> counted;
  const graph::Module& partitioned = program.module;
  const std::map<std::string, std::string> regions = regions_by_operator(partitioned);
  std::set<std::string> reported;  // regions of streams
  for (const tir::Call& call : plan::schedule_calls(schedule)) {
    const tir::Func& func = functions.at(call.function);
    OperatorRow row;
    row.name = func.node.empty() ? func.name : func.node;
    row.origin = func.origin;
    row.device = func.target;
    row.macs = func.macs;
    if (const auto region = regions.find(row.name); region != regions.end())
      row.region = region->second;
    std::set<int32_t> passed;  // constants handed over as arguments, or read by what it calls
    tir::for_each_statement(func.body, [&](const tir::Stmt& stmt) {
      const auto* inner = std::get_if<tir::Call>(&stmt->node);
      if (inner == nullptr) return;
      for (const tir::Buffer& buffer : functions.at(inner->function).buffers)
        if (buffer.constant.valid()) passed.insert(buffer.constant.index);
    });
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const tir::Buffer& buffer = schedule.buffer(call.arguments[i]);
      if (buffer.constant.valid()) passed.insert(buffer.constant.index);
      if (const Placement* place = program.plan.find(call.arguments[i]))
        row.memory.push_back({func.buffers[i].name,
                              program.plan.memory.pools[static_cast<size_t>(place->pool)].name,
                              place->offset, place->offset + place->bytes});
    }
    // Names of C functions; what devices call their commands is none.
    tir::for_each_statement(func.body, [&](const tir::Stmt& stmt) {
      const auto* call = std::get_if<tir::Intrinsic>(&stmt->node);
      if (call != nullptr && call->name.starts_with("intarsia_") &&
          std::find(row.kernels.begin(), row.kernels.end(), call->name) == row.kernels.end())
        row.kernels.push_back(call->name);
    });
    count_constants(program, func, passed, counted, row);
    if (const auto found = stream_bytes.find(func.name); found != stream_bytes.end())
      row.stream_bytes = found->second;
    report.weight_bytes += row.weight_bytes;
    report.table_bytes += row.table_bytes;
    report.stream_bytes += row.stream_bytes;
    std::vector<OperatorRow> rows = {row};
    if (stream_bytes.contains(func.name)) {
      const graph::Function* region = lowering::region_of(partitioned, func);
      if (region != nullptr && !region->nodes.empty() && reported.insert(region->name).second)
        rows = rows_of_stream(*region, row);
      RegionRow total{region != nullptr ? region->name : func.name, row.device,
                      static_cast<int64_t>(rows.size()), 0, row.stream_bytes};
      for (const OperatorRow& each : rows) total.macs += each.macs;
      report.regions.push_back(std::move(total));
    }
    for (OperatorRow& each : rows) {
      report.macs += each.macs;
      report.operators.push_back(std::move(each));
    }
  }
  for (size_t p = 0; p < program.plan.memory.pools.size(); ++p) {
    const MemoryPool& pool = program.plan.memory.pools[p];
    if (pool.read_only) continue;
    const PoolUse& use = program.plan.use[p];
    report.pools.push_back(
        {pool.name, pool.size, use.peak, use.lower_bound, use.proven_optimal, use.method});
    describe_fullest_step(program, static_cast<int32_t>(p), report.pools.back());
  }
  add_constant_memories(program.plan, report);
  packaging::add_buffers(program, report);
  packaging::add_graph(program.module, report);
  describe_operators(program.module, report);
  return report;
}

}  // namespace intarsia
