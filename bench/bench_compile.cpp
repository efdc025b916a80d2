// Time from the bytes of a model to C text, in memory: the digits of examples/, and the models beside
// the repository when they are there.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "intarsia/board.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"

namespace intarsia {
namespace {

void compile_model_file(benchmark::State& state, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)),
                                   std::istreambuf_iterator<char>());
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "cortex-m4");
  const Result<board::Board> board =
      board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", "mps2-an386");
  CompileOptions options;
  options.memory = board::memory_map(*board);
  for (auto _ : state) {
    const Result<CompiledModel> model =
        compile(bytes, path.filename().string(), registry, *target, options);
    if (!model.ok()) state.SkipWithError(model.error().to_string().c_str());
    benchmark::DoNotOptimize(model);
  }
}

int add_benchmarks() {
  namespace fs = std::filesystem;
  const fs::path root(INTARSIA_SOURCE_DIR);
  const auto add = [](const std::string& name, const fs::path& path) {
    if (fs::exists(path))
      benchmark::RegisterBenchmark(("compile/" + name).c_str(), [path](benchmark::State& state) {
        compile_model_file(state, path);
      })->Unit(benchmark::kMillisecond);
  };
  add("digits", root / "examples" / "digits" / "digits.tflite");
  const char* given = std::getenv("INTARSIA_SHARED");
  const fs::path shared = given != nullptr ? fs::path(given) : root / ".." / "shared";
  for (const char* model : {"ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8"})
    add(model, shared / "models" / model / "model.tflite");
  return 0;
}

const int registered = add_benchmarks();

}  // namespace
}  // namespace intarsia
