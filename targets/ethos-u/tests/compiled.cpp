#include "compiled.h"

#include <algorithm>
#include <cstring>

#include "intarsia/targets/ethos_u/checker.h"
#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/run.h"
#include "kinds.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

constexpr int64_t kCacheBytes = 384 * 1024;

const TargetRegistry& registry() {
  static const auto* const all = new TargetRegistry(make_registry());
  return *all;
}

bool is_dedicated(const CompileRequest& request) {
  const std::string mode = request.memory_mode.empty() && request.target.starts_with("ethos-u65")
                               ? "dedicated-sram"
                               : request.memory_mode;
  return mode.starts_with("dedicated");
}

// Pools as bytes, and the regions of one stream on them.
class Machine {
 public:
  explicit Machine(const CompiledModel& model) : model_(model) {
    for (const PoolUse& use : model.program().plan.use)
      pools_.emplace_back(static_cast<size_t>(use.peak + 16), uint8_t{0xA5});
  }

  void write(tir::BufferId buffer, const std::vector<uint8_t>& bytes) {
    const Placement* place = model_.program().plan.find(buffer);
    std::memcpy(at(*place), bytes.data(), bytes.size());
  }
  std::vector<uint8_t> read(tir::BufferId buffer) {
    const Placement* place = model_.program().plan.find(buffer);
    const uint8_t* begin = at(*place);
    return {begin, begin + place->bytes};
  }

  std::string run(const CommandStream& stream, const tir::Call& call, const tir::Func& func) {
    sim::Payload payload;
    if (auto failure = sim::read_payload(stream.commands, payload)) return *failure;
    sim::Memory memory(*payload.made_for);
    std::vector<uint8_t> constants = stream.constants;
    sim::Checker checker(*payload.made_for, payload.stream);
    for (size_t i = 0; i < stream.regions.size(); ++i) {
      const StreamRegion& region = stream.regions[i];
      if (region.kind == StreamRegion::Kind::Constants) {
        memory.regions[i] = {constants.data(), constants.size(), false};
        continue;
      }
      std::vector<uint8_t>& pool = pools_.at(static_cast<size_t>(region.pool));
      const auto offset = static_cast<size_t>(region.offset);
      memory.regions[i] = {pool.data() + offset, pool.size() - offset};
      checker.forget(static_cast<uint32_t>(i), pool.size() - offset);
    }
    // What the caller provides is defined, and what an earlier run has left.
    const tir::Func& schedule = model_.program().lowered.entry_func();
    for (size_t p = 0; p < func.parameters.size(); ++p) {
      const Placement* place = model_.program().plan.find(call.arguments[p]);
      if (place == nullptr || (func.parameters[p].access != tir::Access::Read &&
                               !schedule.buffer(call.arguments[p]).initial))
        continue;
      for (size_t i = 0; i < stream.regions.size(); ++i)
        if (stream.regions[i].kind == StreamRegion::Kind::Pool &&
            stream.regions[i].pool == place->pool)
          checker.set(static_cast<uint32_t>(i),
                      static_cast<uint64_t>(place->offset - stream.regions[i].offset),
                      static_cast<uint64_t>(place->bytes));
    }
    checker.finish(sim::run(payload.stream, *payload.made_for, memory, &checker));
    std::string problem;
    for (const sim::Finding& finding : checker.findings().all())
      problem += finding.to_string() + "\n";
    return problem;
  }

 private:
  uint8_t* at(const Placement& place) {
    return pools_.at(static_cast<size_t>(place.pool)).data() + place.offset;
  }

  const CompiledModel& model_;
  std::vector<std::vector<uint8_t>> pools_;
};

}  // namespace

MemoryMap memories(const CompileRequest& request) {
  if (request.board) return *request.board;
  MemoryMap map;
  if (!request.pools.empty()) {
    map.pools = request.pools;
    return map;
  }
  map.pools = is_dedicated(request)
                  ? std::vector<MemoryPool>{{"dram", 0, false, 4, {}, 16},
                                            {"sram", kCacheBytes, false, 1, {"ethos-u"}, 16}}
                  : std::vector<MemoryPool>{{"sram", 0, false, 1, {}, 16}};
  return map;
}

Result<CompiledModel> compile_for(const std::vector<uint8_t>& model,
                                  const CompileRequest& request) {
  std::string text = request.target;
  if (!request.memory_mode.empty() || request.confirmed_only || request.sram_limit ||
      !request.system.empty() || request.rounds_sums) {
    // A tag is a whole composite; the attribute belongs to its device.
    const auto composite = parse_target(registry().catalogue(), request.target);
    if (!composite.ok()) return composite.error();
    text = to_string(*composite);
    if (!request.memory_mode.empty()) text += " -memory-mode=" + request.memory_mode;
    if (request.confirmed_only) text += " -confirmed-only=true";
    if (request.rounds_sums) text += " -sums=npu";
    if (!request.system.empty()) text += " -system=" + request.system;
    if (request.sram_limit) text += " -sram-limit=" + std::to_string(*request.sram_limit);
  }
  const auto target = parse_target(registry().catalogue(), text);
  if (!target.ok()) return target.error();
  CompileOptions options;
  options.memory = memories(request);
  options.lowering.optimise = request.optimise;
  options.lowering.eliminate_dead_channels = !request.keep_dead_channels;
  return compile(model, "model.tflite", registry(), *target, options);
}

int64_t sram_bytes(const CompiledModel& model) {
  for (size_t i = 0; i < model.program().plan.use.size(); ++i)
    if (model.program().plan.memory.pools[i].name.ends_with("sram"))
      return model.program().plan.use[i].peak;
  return 0;
}

// State as it is before the first inference.
static void write_state(Machine& machine, const CompiledModel& model) {
  const tir::Module& lowered = model.program().lowered;
  const std::vector<tir::Buffer>& buffers = lowered.entry_func().buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const tir::Buffer& buffer = buffers[i];
    if (!buffer.initial) continue;
    std::vector<uint8_t> bytes(static_cast<size_t>(buffer.bytes()));
    const auto width = static_cast<size_t>(intarsia::bits(buffer.type) / 8);
    for (size_t b = 0; b < bytes.size(); ++b)
      bytes[b] = static_cast<uint8_t>(*buffer.initial >> (8 * (b % width)));
    if (buffer.initial_values.valid())
      bytes = lowered.constant(buffer.initial_values).bytes.vector();
    machine.write(tir::BufferId{static_cast<int32_t>(i)}, bytes);
  }
}

static std::string run_once(Machine& machine, const CompiledModel& model) {
  const tir::Func& entry = model.program().lowered.entry_func();
  const auto* body = std::get_if<tir::Seq>(&entry.body->node);
  const std::vector<tir::Stmt> statements =
      body != nullptr ? body->statements : std::vector<tir::Stmt>{entry.body};
  for (const tir::Stmt& statement : statements) {
    const auto& call = std::get<tir::Call>(statement->node);
    const auto& streams = model.program().emitted.streams;
    const auto stream = std::find_if(
        streams.begin(), streams.end(),
        [&](const CommandStream& candidate) { return candidate.func == call.function; });
    if (stream == streams.end()) return call.function + " does not run on the NPU";
    std::string problem = machine.run(*stream, call, *model.program().lowered.find(call.function));
    if (!problem.empty()) return problem;
  }
  return {};
}

SimulatedRun simulate(const CompiledModel& model, const std::vector<std::vector<uint8_t>>& inputs) {
  SimulatedRun result;
  Machine machine(model);
  write_state(machine, model);
  const tir::Func& entry = model.program().lowered.entry_func();
  size_t done = 0, inferences = 1;
  for (; done < inferences; ++done) {
    size_t next_input = 0;
    for (size_t i = 0; i < entry.parameters.size(); ++i) {
      if (entry.parameters[i].access != tir::Access::Read) continue;
      const std::vector<uint8_t>& all = inputs.at(next_input++);
      const auto bytes = static_cast<size_t>(entry.buffers[i].bytes());
      if (bytes == 0 || all.size() < bytes) {
        result.problem = "an input is too short";
        return result;
      }
      inferences = all.size() / bytes;
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(done * bytes);
      machine.write(tir::BufferId{static_cast<int32_t>(i)},
                    {from, from + static_cast<std::ptrdiff_t>(bytes)});
    }
    result.problem = run_once(machine, model);
    if (!result.problem.empty()) return result;
  }
  for (size_t i = 0; i < entry.parameters.size(); ++i)
    if (entry.parameters[i].access != tir::Access::Read)
      result.outputs.push_back(machine.read(tir::BufferId{static_cast<int32_t>(i)}));
  return result;
}

}  // namespace intarsia::test::ethos_u
