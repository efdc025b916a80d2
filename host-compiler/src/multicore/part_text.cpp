#include <algorithm>

#include <fmt/format.h>

#include "intarsia/compiled_model.h"
#include "intarsia/plugin/c_writer.h"
#include "multicore/c_names.h"
#include "multicore/multicore.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace multicore {

std::string part_name(const CompiledModel& model, const std::string& cpu) {
  return fmt::format("{}_{}", model.multicore.name, c_identifier(cpu, "part"));
}

std::string stage_name(const CompiledModel& model, size_t stage) {
  return model.programs[stage].emitted.name;
}

namespace {

bool keeps_state(const CompiledProgram& program) {
  const std::vector<tir::Buffer>& buffers = program.lowered.entry_func().buffers;
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const tir::Buffer& b) { return b.initial.has_value(); });
}

std::vector<std::string> pools_used(const Plan& plan) {
  std::vector<std::string> names;
  for (size_t p = 0; p < plan.memory.pools.size(); ++p)
    if (std::any_of(
            plan.placements.begin(), plan.placements.end(),
            [&](const Placement& placement) { return placement.pool == static_cast<int32_t>(p); }))
      names.push_back(plan.memory.pools[p].name);
  return names;
}

int64_t peak_of(const Plan& plan, const std::string& pool) {
  for (size_t p = 0; p < plan.memory.pools.size(); ++p)
    if (plan.memory.pools[p].name == pool) return plan.use[p].peak;
  return 0;
}

}  // namespace

// Stages of one core run one after the other and leave nothing behind: they share their blocks. A stage
// that keeps state has blocks of its own.
std::vector<PoolBlock> blocks_of(const CompiledModel& model, const std::string& cpu) {
  std::vector<PoolBlock> blocks;
  for (size_t stage = 0; stage < model.programs.size(); ++stage) {
    const CompiledProgram& program = model.programs[stage];
    if (program.cpu != cpu) continue;
    for (const std::string& pool : pools_used(program.plan)) {
      const std::string name = keeps_state(program) ? fmt::format("{}_stage{}", pool, stage) : pool;
      auto block = std::find_if(blocks.begin(), blocks.end(),
                                [&](const PoolBlock& b) { return b.name == name; });
      if (block == blocks.end()) block = blocks.insert(blocks.end(), {name, pool, 0, {}});
      block->bytes = std::max(block->bytes, peak_of(program.plan, pool));
      block->stages.push_back(stage);
    }
  }
  return blocks;
}

std::vector<std::string> devices_of(const CompiledModel& model, const std::string& cpu) {
  std::vector<std::string> devices;
  for (const CompiledProgram& program : model.programs)
    for (const std::string& device : program.emitted.devices)
      if (program.cpu == cpu && std::find(devices.begin(), devices.end(), device) == devices.end())
        devices.push_back(device);
  return devices;
}

std::string device_name(const std::string& device) {
  return "device_" + c_identifier(device, "device");
}

}  // namespace multicore

namespace {

using multicore::blocks_of;
using multicore::device_name;
using multicore::devices_of;
using multicore::part_name;
using multicore::PoolBlock;
using multicore::stage_name;

std::vector<size_t> stages_of(const CompiledModel& model, const std::string& cpu) {
  std::vector<size_t> stages;
  for (size_t i = 0; i < model.programs.size(); ++i)
    if (model.programs[i].cpu == cpu) stages.push_back(i);
  return stages;
}

const PoolBlock* block_for(const std::vector<PoolBlock>& blocks, size_t stage,
                           const std::string& pool) {
  for (const PoolBlock& block : blocks)
    if (block.pool == pool &&
        std::find(block.stages.begin(), block.stages.end(), stage) != block.stages.end())
      return &block;
  return nullptr;
}

std::string header_text(const CompiledModel& model, const std::string& cpu) {
  const std::string name = part_name(model, cpu), prefix = upper_case(name);
  const std::string& model_name = model.multicore.name;
  CWriter out;
  out.comment(
      {fmt::format("{}: what {} runs of {}. Generated file.", name, cpu, model_name), "",
       "A program for this core calls init once the mailbox is initialised, and then step for "
       "ever:",
       "each call runs one stage whose inputs have come and whose results have room, or tells that",
       "there is none. Step waits for nobody and holds nothing while it computes."});
  out.directive(fmt::format("#ifndef {}_H", prefix));
  out.directive(fmt::format("#define {}_H", prefix));
  out.blank();
  for (const size_t stage : stages_of(model, cpu))
    out.directive(fmt::format("#include \"{}.h\"", stage_name(model, stage)));
  out.directive(fmt::format("#include \"{}_mailbox.h\"", model_name));
  out.blank();
  out.directive("#ifdef __cplusplus");
  out.directive("extern \"C\" {");
  out.directive("#endif");
  out.blank();
  const std::vector<PoolBlock> blocks = blocks_of(model, cpu);
  out.comment({"Working memory in bytes; stages without state use one block in turn."});
  for (const PoolBlock& block : blocks)
    out.directive(
        fmt::format("#define {}_{}_BYTES {}", prefix, upper_case(block.name), block.bytes));
  int32_t alignment = 16;
  for (const size_t stage : stages_of(model, cpu))
    alignment = std::max(alignment, model.programs[stage].plan.alignment);
  out.directive(fmt::format("#define {}_ALIGNMENT {}", prefix, alignment));
  out.blank();
  out.open(fmt::format("struct {}_resources", name));
  for (const PoolBlock& block : blocks)
    out.line(fmt::format("void *{}; /* {}_{}_BYTES, aligned to {}_ALIGNMENT */", block.name, prefix,
                         upper_case(block.name), prefix));
  for (const std::string& device : devices_of(model, cpu))
    out.line(fmt::format("struct intarsia_device *{}; /* {}, opened by its driver */",
                         device_name(device), device));
  out.close(";");
  out.blank();
  out.open(fmt::format("struct {}", name));
  out.line(fmt::format("struct {}_mailbox *mailbox;", model_name));
  for (const size_t stage : stages_of(model, cpu))
    out.line(fmt::format("struct {} stage{};", stage_name(model, stage), stage));
  out.close(";");
  out.blank();
  out.comment(
      {"INTARSIA_ERROR_PART_MISMATCH: the mailbox is not initialised, or by parts of another "
       "compilation."});
  out.line(fmt::format(
      "intarsia_status {0}_init(struct {0} *part, const struct {0}_resources *resources,"
      " struct {1}_mailbox *mailbox);",
      name, model_name));
  out.comment(
      {"INTARSIA_OK: a stage has run. INTARSIA_PENDING: there is nothing to do yet. Anything else: "
       "a stage",
       "failed, which the application learns from submit and collect as well."});
  out.line(fmt::format("intarsia_status {0}_step(struct {0} *part);", name));
  out.blank();
  out.directive("#ifdef __cplusplus");
  out.directive("}");
  out.directive("#endif");
  out.blank();
  out.directive("#endif");
  return out.text();
}

// The part's blocks under the names that the stage has for them.
void stage_init_function(CWriter& out, const CompiledModel& model, const std::string& cpu,
                         size_t stage) {
  const std::string name = part_name(model, cpu), stage_struct = stage_name(model, stage);
  const std::vector<PoolBlock> blocks = blocks_of(model, cpu);
  out.open(
      fmt::format("static intarsia_status init_stage{0}(struct {1} *part, const struct "
                  "{1}_resources *resources)",
                  stage, name));
  out.line(fmt::format("struct {}_resources own;", stage_struct));
  bool any = false;
  for (const MemoryPool& pool : model.programs[stage].plan.memory.pools)
    if (const PoolBlock* block = block_for(blocks, stage, pool.name)) {
      out.line(fmt::format("own.{} = resources->{};", pool.name, block->name));
      any = true;
    }
  const std::vector<std::string>& devices = model.programs[stage].emitted.devices;
  for (size_t i = 0; i < devices.size(); ++i)
    out.line(fmt::format("own.device{} = resources->{};", i, device_name(devices[i])));
  if (!any && devices.empty()) {
    out.line("(void)resources;");
    out.line("own.none = NULL;");
  }
  out.line(fmt::format("return {}_init(&part->stage{}, &own);", stage_struct, stage));
  out.close();
}

void init_function(CWriter& out, const CompiledModel& model, const std::string& cpu) {
  out.open(fmt::format(
      "intarsia_status {0}_init(struct {0} *part, const struct {0}_resources *resources,"
      " struct {1}_mailbox *mailbox)",
      part_name(model, cpu), model.multicore.name));
  out.line("intarsia_status status = INTARSIA_OK;");
  out.line(
      "if (part == NULL || resources == NULL || mailbox == NULL) return "
      "INTARSIA_ERROR_NULL_ARGUMENT;");
  out.open(fmt::format("if (intarsia_mailbox_load(&mailbox->signature) != {}_MAILBOX_SIGNATURE)",
                       upper_case(model.multicore.name)));
  out.line("return INTARSIA_ERROR_PART_MISMATCH;");
  out.close();
  out.line("part->mailbox = mailbox;");
  for (const size_t stage : stages_of(model, cpu))
    out.line(
        fmt::format("if (status == INTARSIA_OK) status = init_stage{}(part, resources);", stage));
  out.line("return status;");
  out.close();
}

// The messages that have come and the room there is, all asked for at once.
void ready_function(CWriter& out, const CompiledModel& model, size_t stage) {
  out.open(fmt::format("static int32_t stage{}_is_ready(struct {}_mailbox *mailbox)", stage,
                       model.multicore.name));
  for (const Channel& channel : model.multicore.channels) {
    if (channel.to == static_cast<int>(stage))
      out.line(
          fmt::format("if (!intarsia_channel_has_message(&mailbox->{})) return 0;", channel.name));
    if (channel.from == static_cast<int>(stage))
      out.line(
          fmt::format("if (!intarsia_channel_has_room(&mailbox->{})) return 0;", channel.name));
  }
  out.line("return 1;");
  out.close();
}

void run_function(CWriter& out, const CompiledModel& model, const std::string& cpu, size_t stage) {
  const std::string stage_struct = stage_name(model, stage);
  out.open(fmt::format("static intarsia_status run_stage{}(struct {} *part)", stage,
                       part_name(model, cpu)));
  out.line(fmt::format("struct {}_mailbox *const mailbox = part->mailbox;", model.multicore.name));
  out.line("intarsia_status status;");
  for (const Channel& channel : model.multicore.channels)
    if (channel.to == static_cast<int>(stage))
      out.line(multicore::receive(channel, fmt::format("{}_input(&part->stage{}, {})", stage_struct,
                                                       stage, channel.input)));
  out.line(fmt::format("status = {}_run(&part->stage{});", stage_struct, stage));
  out.line("if (status != INTARSIA_OK) return status;");
  for (const Channel& channel : model.multicore.channels)
    if (channel.from == static_cast<int>(stage))
      out.line(multicore::send(channel, fmt::format("{}_output(&part->stage{}, {})", stage_struct,
                                                    stage, channel.output)));
  out.line("return INTARSIA_OK;");
  out.close();
}

std::string source_text(const CompiledModel& model, const std::string& cpu) {
  const std::string name = part_name(model, cpu);
  const std::vector<size_t> stages = stages_of(model, cpu);
  CWriter out;
  out.comment({fmt::format("{}: the stages of {} on {}. Generated file.", name,
                           model.multicore.name, cpu)});
  out.directive(fmt::format("#include \"{}.h\"", name));
  out.blank();
  out.directive("#include <stddef.h>");
  out.blank();
  for (const size_t stage : stages) {
    stage_init_function(out, model, cpu, stage);
    out.blank();
  }
  init_function(out, model, cpu);
  out.blank();
  for (const size_t stage : stages) {
    ready_function(out, model, stage);
    out.blank();
    run_function(out, model, cpu, stage);
    out.blank();
  }
  out.open(fmt::format("intarsia_status {0}_step(struct {0} *part)", name));
  out.line("intarsia_status status = INTARSIA_PENDING;");
  if (stages.size() > 1)
    out.comment({"The last stage first: what is nearly done makes room for what follows."});
  std::string keyword = "if";
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const std::string head = fmt::format("if (stage{}_is_ready(part->mailbox))", *stage);
    if (stage == stages.rbegin())
      out.open(head);
    else
      out.reopen("else " + head);
    out.line(fmt::format("status = run_stage{}(part);", *stage));
  }
  out.close();
  out.line("if (status != INTARSIA_OK && status != INTARSIA_PENDING)");
  out.line("  intarsia_mailbox_store(&part->mailbox->status, (uint32_t)status);");
  out.line("return status;");
  out.close();
  return out.text();
}

}  // namespace

std::vector<SourceFile> part_sources(const CompiledModel& model, const std::string& cpu) {
  const std::string name = part_name(model, cpu);
  return {{name + ".h", header_text(model, cpu)}, {name + ".c", source_text(model, cpu)}};
}

}  // namespace intarsia
