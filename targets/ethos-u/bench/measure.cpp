// Figures of one stream in our own cycle model, as a line of JSON. Usage:
//   bench_ethos_u compile MODEL.tflite NPU MEMORY-MODE [size | balanced | confirmed | keep-dead-channels | npu-sums | SRAM-LIMIT]...
//   bench_ethos_u stream VELA-OUTPUT.tflite MEMORY-MODE
//   bench_ethos_u simulate MODEL.tflite NPU MEMORY-MODE INPUT...   (processor time, the checker on)
// With `profile` in front of either, a line of text for each operation and transfer instead.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "compiled.h"
#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/timeline.h"
#include "literal_estimate.h"
#include "shared_data.h"
#include "stream_weights.h"
#include "timed_compiled.h"
#include "timed_vela.h"
#include "vela_file.h"

namespace intarsia::bench {
namespace {

namespace sim = simulators::ethos_u;

struct Figures {
  double cycles = 0;
  double literal = 0;  // the same by the estimate of literal_estimate.h
  // Of all operations: the output unit's, which no choice of blocks changes, and the busier of output unit and
  // MAC array. The stream cannot be faster than the latter without other operations or blocks.
  double output = 0, bound = 0;
  // Busy cycles of the MAC array, of the output unit in element-wise operations, and of both ports; cycles in which no operation
  // is under way; and those that the port of the constants needs for reading each of them once.
  double mac = 0, elementwise = 0, ports[2] = {}, idle = 0, constants_once = 0;
  int64_t macs = 0;
  // Bytes: weights with scales and their padding, constants with tables and everything else too.
  int64_t sram = 0, weights = 0, constants = 0, stream = 0;
  double compile_ms = 0;  // processor time
  uint64_t fingerprint =
      0xcbf29ce484222325;  // of streams and constants: the same before and after a change?
};

// FNV-1a.
void add_to_fingerprint(std::span<const uint8_t> bytes, uint64_t& fingerprint) {
  for (const uint8_t byte : bytes) fingerprint = (fingerprint ^ byte) * 0x100000001b3;
}

// A line of text for each operation and transfer, and the literal estimate.
class Profile final : public sim::Observer {
 public:
  Profile(const isa::ethos_u::NpuTiming& npu, const isa::ethos_u::MemorySystem& memories)
      : literal_(npu, memories) {}
  void before(const sim::Operation& op, const sim::Memory& memory) override {
    literal_.before(op, memory);
    const auto map = [](const sim::FeatureMap& m) {
      return fmt::format("{}x{}x{}{}", m.height, m.width, m.depth, m.brick ? "b" : "");
    };
    constexpr const char* kKinds[] = {"conv", "depthwise", "pool", "elementwise"};
    std::string text = fmt::format("{:11} {:>11} -> {:>11}", kKinds[static_cast<int>(op.kind)],
                                   map(op.ifm), map(op.ofm));
    if (op.kind != sim::OperationKind::Elementwise)
      text += fmt::format(" k{}x{}/{}", op.kernel.height, op.kernel.width, op.kernel.stride_x);
    text += fmt::format(" block {}x{}x{}{} dep {}", op.ofm_block.height, op.ofm_block.width,
                        op.ofm_block.depth, op.kernel.part_kernel_first ? "p" : "", op.blockdep);
    if (op.has_weights())
      text += fmt::format(" weights r{} {}", op.weight_region,
                          op.weights[0].length + op.weights[1].length);
    lines_.push_back(std::move(text));
    operations_.push_back(static_cast<int>(seen_++));
  }
  void before(const sim::DmaTransfer& dma, const sim::Memory& memory) override {
    literal_.before(dma, memory);
    lines_.push_back(
        fmt::format("  dma {} bytes{}", dma.length, dma.target_internal ? " to SHRAM" : ""));
    operations_.push_back(-1);
  }
  double literal() const { return literal_.cycles(); }

  void print(const std::vector<sim::TimedCommand>& commands) const {
    const std::vector<double> literal = literal_.each();
    for (size_t i = 0; i < lines_.size(); ++i) {
      const sim::TimedCommand& c = commands[i];
      fmt::print(
          "{:8.0f} {:8.0f} {:7.0f} mac {:7.0f} out {:6.0f} axi {:6.0f} {:6.0f} literal {:7.0f}  "
          "{}\n",
          c.started, c.ended, c.cycles(), c.mac, c.output, c.port_cycles[0], c.port_cycles[1],
          operations_[i] < 0 ? 0 : literal[static_cast<size_t>(operations_[i])], lines_[i]);
    }
  }

 private:
  LiteralEstimate literal_;
  std::vector<std::string> lines_;
  std::vector<int> operations_;  // of each line, or none
  int seen_ = 0;
};

bool profiles = false;

int fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  return 1;
}

void print(const Figures& figures) {
  fmt::print(
      "{{\"cycles\": {:.0f}, \"literal\": {:.0f}, \"output\": {:.0f}, \"bound\": {:.0f}, \"mac\": "
      "{:.0f}, \"elementwise\": "
      "{:.0f}, \"axi0\": {:.0f}, \"axi1\": {:.0f}, \"idle\": {:.0f}, \"constants_once\": {:.0f}, "
      "\"macs\": "
      "{}, \"sram\": {}, "
      "\"weights\": {}, \"constants\": {}, \"stream\": {}, "
      "\"compile_ms\": {:.1f}, \"fingerprint\": \"{:016x}\"}}\n",
      figures.cycles, figures.literal, figures.output, figures.bound, figures.mac,
      figures.elementwise, figures.ports[0], figures.ports[1], figures.idle, figures.constants_once,
      figures.macs, figures.sram, figures.weights, figures.constants, figures.stream,
      figures.compile_ms, figures.fingerprint);
}

// Adds what one stream costs that ran, with zeros for inputs.
std::string add_stream(std::span<const uint8_t> bytes, const Profile& profile,
                       const test::ethos_u::TimedRun& run, Figures& figures) {
  if (!run.problem.empty()) return run.problem;
  double complete = 0;  // operations end in the order in which they begin
  for (const sim::TimedCommand& command : run.commands) {
    figures.output += command.output;
    figures.bound += std::max(command.mac, command.output);
    figures.mac += command.mac;
    if (command.command == sim::Command::OP_ELEMENTWISE) figures.elementwise += command.output;
    for (size_t port = 0; port < 2; ++port) figures.ports[port] += command.port_cycles[port];
    if (command.kind != sim::TimedKind::Operation) continue;
    figures.idle += std::max(0.0, command.started - complete);
    complete = std::max(complete, command.ended);
  }
  figures.idle += run.totals.cycles - complete;
  if (profiles) profile.print(run.commands);
  figures.cycles += run.totals.cycles;
  figures.literal += profile.literal();
  figures.macs += run.totals.macs;
  figures.stream += static_cast<int64_t>(run.totals.stream_bytes);
  figures.weights += test::ethos_u::weight_bytes(bytes);
  return "";
}

struct Machine {
  const isa::ethos_u::NpuTiming& npu;
  isa::ethos_u::MemorySystem memories;
};
std::optional<Machine> machine_of(std::span<const uint8_t> payload_bytes, const std::string& mode) {
  sim::Payload payload;
  if (sim::read_payload(payload_bytes, payload)) return std::nullopt;
  const isa::ethos_u::NpuTiming& npu = *isa::ethos_u::find_npu_timing(payload.made_for->tag);
  const auto memories = isa::ethos_u::memory_system(npu, "", mode);
  if (!memories) return std::nullopt;
  return Machine{npu, *memories};
}

void add_constants(size_t bytes, const Machine& machine, Figures& figures) {
  figures.constants += static_cast<int64_t>(bytes);
  figures.constants_once +=
      static_cast<double>(bytes) / machine.memories.memory_of_region(0).bytes_per_cycle;
}

int measure_compiled(const std::string& path, const std::string& npu, const std::string& mode,
                     const std::vector<std::string>& options) {
  test::ethos_u::CompileRequest request{npu, mode, LoweringOptions::Optimise::Speed, std::nullopt};
  for (const std::string& option : options)
    if (option == "keep-dead-channels")
      request.keep_dead_channels = true;
    else if (option == "size")
      request.optimise = LoweringOptions::Optimise::Size;
    else if (option == "balanced")
      request.optimise = LoweringOptions::Optimise::Balanced;
    else if (option == "confirmed")
      request.confirmed_only = true;
    else if (option == "npu-sums")
      request.rounds_sums = true;
    else
      request.sram_limit = std::stoll(option);
  const std::vector<uint8_t> bytes = test::read_bytes(path);
  const std::clock_t start = std::clock();
  const Result<CompiledModel> model = test::ethos_u::compile_for(bytes, request);
  Figures figures;
  figures.compile_ms = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!model.ok()) return fail(model.error().to_string());
  if (!request.confirmed_only &&
      model->program().emitted.streams.size() != model->program().lowered.funcs.size() - 1)
    return fail("not every operator is the NPU's");
  for (const CommandStream& stream : model->program().emitted.streams) {
    const std::optional<Machine> machine = machine_of(stream.commands, mode);
    if (!machine) return fail("there is no memory mode " + mode);
    Profile profile(machine->npu, machine->memories);
    const test::ethos_u::TimedRun run = test::ethos_u::run_timed(*model, stream, mode, &profile);
    if (const std::string why = add_stream(stream.commands, profile, run, figures); !why.empty())
      return fail(why);
    add_constants(stream.constants.size(), *machine, figures);
    add_to_fingerprint(stream.commands, figures.fingerprint);
    add_to_fingerprint(stream.constants, figures.fingerprint);
  }
  figures.sram = test::ethos_u::sram_bytes(*model);
  print(figures);
  return 0;
}

int measure_stream(const std::string& path, const std::string& mode) {
  test::ethos_u::VelaFile file = test::ethos_u::read_vela_file(path);
  if (!file.npu_alone || file.operators.empty()) return fail("not every operator is the NPU's");
  Figures figures;
  for (test::ethos_u::VelaOperator& npu : file.operators) {
    npu.cache_is_arena = !mode.starts_with("dedicated");
    const std::optional<Machine> machine = machine_of(npu.payload, mode);
    if (!machine) return fail("no stream, or no memory mode " + mode);
    Profile profile(machine->npu, machine->memories);
    const test::ethos_u::TimedRun run = test::ethos_u::run_timed(npu, mode, &profile);
    if (const std::string why = add_stream(npu.payload, profile, run, figures); !why.empty())
      return fail(why);
    add_constants(npu.constants.size(), *machine, figures);
    // In the dedicated mode the arena is DRAM and the fast copy is the SRAM.
    const bool dedicated = mode.starts_with("dedicated");
    const auto sram = static_cast<int64_t>(dedicated ? npu.cache_bytes : npu.arena_bytes);
    figures.sram = std::max(figures.sram, sram);
  }
  print(figures);
  return 0;
}

// What one inference on the simulator costs, with the checker watching.
int measure_simulation(const std::string& path, const std::string& npu, const std::string& mode,
                       const std::vector<std::string>& inputs) {
  const Result<CompiledModel> model = test::ethos_u::compile_for(
      test::read_bytes(path), {npu, mode, LoweringOptions::Optimise::Speed, std::nullopt});
  if (!model.ok()) return fail(model.error().to_string());
  std::vector<std::vector<uint8_t>> values;
  for (const std::string& input : inputs) values.push_back(test::read_bytes(input));
  if (values.size() != model->program().emitted.inputs.size())
    return fail(fmt::format("the model has {} inputs", model->program().emitted.inputs.size()));
  const std::clock_t start = std::clock();
  const test::ethos_u::SimulatedRun run = test::ethos_u::simulate(*model, values);
  const std::clock_t end = std::clock();
  if (!run.problem.empty()) return fail(run.problem);
  fmt::print("{{\"simulate_ms\": {:.1f}}}\n",
             1000.0 * static_cast<double>(end - start) / CLOCKS_PER_SEC);
  return 0;
}

}  // namespace
}  // namespace intarsia::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "profile") {
    intarsia::bench::profiles = true;
    --argc, ++argv;
  }
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "compile" && argc >= 5)
    return intarsia::bench::measure_compiled(argv[2], argv[3], argv[4], {argv + 5, argv + argc});
  if (what == "stream" && argc == 4) return intarsia::bench::measure_stream(argv[2], argv[3]);
  if (what == "simulate" && argc >= 5)
    return intarsia::bench::measure_simulation(argv[2], argv[3], argv[4], {argv + 5, argv + argc});
  std::fprintf(stderr,
               "usage: bench_ethos_u [profile] compile MODEL NPU MODE "
               "[size|confirmed|keep-dead-channels|npu-sums|SRAM-LIMIT]... | stream FILE MODE | "
               "simulate MODEL NPU MODE INPUT...\n");
  return 2;
}
