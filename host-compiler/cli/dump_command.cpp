#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "dumped_constants.h"
#include "program.h"
#include "support/files.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

// Of constants, where there was a choice.
std::vector<ConstantPlacement> chosen_places(const Plan& plan) {
  const auto memories = std::ranges::count(plan.memory.pools, true, &MemoryPool::holds_constants);
  return memories > 1 ? plan.constants : std::vector<ConstantPlacement>();
}

std::string plan_text(const CompiledProgram& model) {
  std::string text;
  for (size_t p = 0; p < model.plan.memory.pools.size(); ++p) {
    const PoolUse& use = model.plan.use[p];
    text += fmt::format("pool {} peak={} lower_bound={} proven={} method={}\n",
                        model.plan.memory.pools[p].name, use.peak, use.lower_bound,
                        use.proven_optimal, use.method.empty() ? "-" : use.method);
  }
  const tir::Func& schedule = model.lowered.entry_func();
  for (const Placement& place : model.plan.placements)
    text += fmt::format("{} pool={} offset={} bytes={} steps={}..{} group={}\n",
                        schedule.buffer(place.buffer).name,
                        model.plan.memory.pools[static_cast<size_t>(place.pool)].name, place.offset,
                        place.bytes, place.first_step, place.last_step, place.group);
  for (const ConstantPlacement& place : chosen_places(model.plan)) {
    const tir::Constant& constant = model.lowered.constant(place.constant);
    text += fmt::format("constant {} pool={} bytes={} reads={}\n", constant.name,
                        model.plan.memory.pools[static_cast<size_t>(place.pool)].name,
                        constant.bytes.size(), place.reads);
  }
  return text;
}

using Json = nlohmann::ordered_json;

Json plan_json(const CompiledProgram& model) {
  Json pools = Json::array(), buffers = Json::array();
  for (size_t p = 0; p < model.plan.memory.pools.size(); ++p) {
    const PoolUse& use = model.plan.use[p];
    pools.push_back({{"name", model.plan.memory.pools[p].name},
                     {"peak", use.peak},
                     {"lower_bound", use.lower_bound},
                     {"proven_optimal", use.proven_optimal},
                     {"method", use.method}});
  }
  for (const Placement& place : model.plan.placements)
    buffers.push_back({{"name", model.lowered.entry_func().buffer(place.buffer).name},
                       {"pool", model.plan.memory.pools[static_cast<size_t>(place.pool)].name},
                       {"offset", place.offset},
                       {"bytes", place.bytes},
                       {"first_step", place.first_step},
                       {"last_step", place.last_step},
                       {"group", place.group}});
  Json constants = Json::array();
  for (const ConstantPlacement& place : chosen_places(model.plan))
    constants.push_back({{"name", model.lowered.constant(place.constant).name},
                         {"pool", model.plan.memory.pools[static_cast<size_t>(place.pool)].name},
                         {"bytes", model.lowered.constant(place.constant).bytes.size()},
                         {"reads", place.reads}});
  const Json search = {{"steps", model.plan.search_steps},
                       {"ended_early", model.plan.search_ended_early}};
  Json all = {{"pools", std::move(pools)}, {"buffers", std::move(buffers)}, {"search", search}};
  if (!constants.empty()) all["constants"] = std::move(constants);
  return all;
}

// Of one CPU its plan; of several a list of the stages' in order, with the CPU of each.
std::string plans_json(const std::vector<CompiledProgram>& programs) {
  Json all = Json::array();
  for (const CompiledProgram& program : programs) {
    Json row = {{"cpu", program.cpu}};
    row.update(plan_json(program));
    all.push_back(std::move(row));
  }
  const Json shown = programs.size() == 1 ? plan_json(programs.front()) : std::move(all);
  return shown.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sources_text(const EmittedModel& emitted) {
  std::string text;
  for (const SourceFile& file : emitted.sources) {
    text += fmt::format("==== {}\n", file.path);
    file.write_to([&](std::string_view piece) { text += piece; });
  }
  return text;
}

Result<std::string> dump(Context& context, const DumpCommand& command) {
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  const Stage last = *stage_named(command.stage);
  INTARSIA_TRY(const CompiledModel model, compile_file(context, selection, command.common, last));
  if (last == Stage::Import) return graph::print(model.imported);
  if (last == Stage::Eliminate) return graph::print(model.reduced.module);
  if (last == Stage::Partition) return graph::print(model.partitioned.module);
  if (last == Stage::Plan && command.common.json) return plans_json(model.programs);
  std::string text;
  for (const CompiledProgram& program : model.programs) {
    if (last == Stage::Lower) text += tir::print(program.lowered);
    if (last == Stage::Plan) text += plan_text(program);
    if (last == Stage::Emit) text += sources_text(program.emitted);
  }
  return text;
}

}  // namespace

int run_dump(Context& context, const DumpCommand& command) {
  if (command.common.json && command.stage != "plan") {
    print_errors(Diagnostics(
        "--json", "only the stage 'plan' is a table; the others have a text form of their own"));
    return kUsage;
  }
  Result<std::string> text = dump(context, command);
  if (!text.ok()) return fail(text.error());
  clear_progress();
  const std::string how = !command.constants.empty()      ? command.constants
                          : output_terminal().is_terminal ? "short"
                                                          : "all";
  if (how != "all" && !command.common.json) text = with_constants(*text, how == "short");
  std::fwrite(text->data(), 1, text->size(), stdout);
  return kDone;
}

}  // namespace intarsia::cli
