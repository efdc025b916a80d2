// Figures of one stream in our own cycle model, as a line of JSON. Usage:
//   bench_ethos_u compile MODEL.tflite NPU MEMORY-MODE [size | SRAM-LIMIT]
//   bench_ethos_u stream VELA-OUTPUT.tflite MEMORY-MODE
#include <ctime>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "compiled.h"
#include "ethos_u/payload.h"
#include "ethos_u/run.h"
#include "ethos_u/timeline.h"
#include "shared_data.h"
#include "vela_file.h"

namespace intarsia::bench {
namespace {

namespace sim = simulators::ethos_u;

struct Figures {
  double cycles = 0;
  int64_t macs = 0;
  int64_t sram = 0, weights = 0, stream = 0;  // bytes; weights with scales, tables and padding
  double compile_ms = 0;                      // processor time
};

int fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  return 1;
}

void print(const Figures& figures) {
  fmt::print("{{\"cycles\": {:.0f}, \"macs\": {}, \"sram\": {}, \"weights\": {}, \"stream\": {}, \"compile_ms\": {:.1f}}}\n",
             figures.cycles, figures.macs, figures.sram, figures.weights, figures.stream, figures.compile_ms);
}

// Adds what one payload costs; an empty string when it could be read to its end. Nothing is computed, so
// the regions need no memory of their own.
std::string add_stream(std::span<const uint8_t> bytes, const std::string& mode, Figures& figures) {
  sim::Payload payload;
  if (const auto failure = sim::read_payload(bytes, payload)) return *failure;
  const auto* npu = isa::ethos_u::find_npu_timing(payload.made_for->tag);
  const auto memories = isa::ethos_u::memory_system(*npu, "", mode);
  if (!memories) return "there is no memory mode " + mode;
  sim::Memory memory(*payload.made_for);
  sim::Timeline timeline(*payload.made_for, *memories);
  sim::RunOptions options;
  options.execute = false;
  const sim::Outcome outcome = sim::run(payload.stream, *payload.made_for, memory, &timeline, options);
  if (outcome.fault) return outcome.fault->to_string();
  timeline.finish();
  figures.cycles += timeline.totals().cycles;
  figures.macs += timeline.totals().macs;
  figures.stream += static_cast<int64_t>(payload.stream.size());
  return "";
}

int measure_compiled(const std::string& path, const std::string& npu, const std::string& mode,
                     const std::string& option) {
  test::ethos_u::CompileRequest request{npu, mode, LoweringOptions::Optimise::Speed, std::nullopt};
  if (option == "size") request.optimise = LoweringOptions::Optimise::Size;
  else if (!option.empty()) request.sram_limit = std::stoll(option);
  const std::vector<uint8_t> bytes = test::read_bytes(path);
  const std::clock_t start = std::clock();
  const Result<CompiledModel> model = test::ethos_u::compile_for(bytes, request);
  Figures figures;
  figures.compile_ms = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!model.ok()) return fail(model.error().to_string());
  if (model->emitted.streams.size() != model->lowered.funcs.size() - 1)
    return fail("not every operator is the NPU's");
  for (const CommandStream& stream : model->emitted.streams) {
    if (const std::string why = add_stream(stream.commands, mode, figures); !why.empty()) return fail(why);
    figures.weights += static_cast<int64_t>(stream.constants.size());
  }
  figures.sram = test::ethos_u::sram_bytes(*model);
  print(figures);
  return 0;
}

int measure_stream(const std::string& path, const std::string& mode) {
  const test::ethos_u::VelaFile file = test::ethos_u::read_vela_file(path);
  if (!file.npu_alone || file.operators.empty()) return fail("not every operator is the NPU's");
  Figures figures;
  for (const test::ethos_u::VelaOperator& npu : file.operators) {
    if (const std::string why = add_stream(npu.payload, mode, figures); !why.empty()) return fail(why);
    figures.weights += static_cast<int64_t>(npu.constants.size());
    // In the dedicated mode the arena is DRAM and the fast copy is the SRAM.
    const bool dedicated = mode.starts_with("dedicated");
    const auto sram = static_cast<int64_t>(dedicated ? npu.cache_bytes : npu.arena_bytes);
    figures.sram = std::max(figures.sram, sram);
  }
  print(figures);
  return 0;
}

}  // namespace
}  // namespace intarsia::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "compile" && (argc == 5 || argc == 6))
    return intarsia::bench::measure_compiled(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "");
  if (what == "stream" && argc == 4) return intarsia::bench::measure_stream(argv[2], argv[3]);
  std::fprintf(stderr, "usage: bench_ethos_u compile MODEL NPU MODE [size|SRAM-LIMIT] | stream FILE MODE\n");
  return 2;
}
