// The memory planner on random problems like those of networks, and on hard instances in MiniMalloc's
// format when they lie beside the repository. `steps` placements are allowed, as in compile.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {
namespace {

void minimise_random(benchmark::State& state) {
  std::mt19937 random(1);
  PlacementProblem problem;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const int64_t lower = i, upper = i + 2 + static_cast<int64_t>(random() % 6);
    problem.buffers.push_back(
        {"b", lower, upper, 64 * (1 + static_cast<int64_t>(random() % 100)), 16, {}});
  }
  int64_t peak = 0, bound = 0;
  for (auto _ : state) {
    const Result<PlacementSolution> solution = minimise_peak(problem, {200'000, std::nullopt});
    peak = solution->peak;
    bound = solution->lower_bound;
  }
  state.counters["peak/bound"] = static_cast<double>(peak) / static_cast<double>(bound);
}
BENCHMARK(minimise_random)->Arg(16)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

void fit_instance(benchmark::State& state, const std::filesystem::path& path) {
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Result<PlacementProblem> problem = read_problem_csv(text, path.filename().string());
  if (!problem.ok()) {
    state.SkipWithError("cannot be read");
    return;
  }
  // "A.1048576.csv": the capacity is in the name.
  problem.value().capacity = std::atoll(path.stem().extension().string().c_str() + 1);
  bool fits = false;
  for (auto _ : state) fits = fit_in_capacity(*problem, {})->status == FitStatus::Fits;
  state.counters["fits"] = fits ? 1 : 0;
}

int add_instances() {
  namespace fs = std::filesystem;
  const char* given = std::getenv("INTARSIA_SHARED");
  const fs::path folder =
      (given != nullptr ? fs::path(given) : fs::path(INTARSIA_SOURCE_DIR) / ".." / "shared") /
      "planner";
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const fs::path path = it->path(); path.extension() == ".csv")
      benchmark::RegisterBenchmark(("fit/" + path.stem().string()).c_str(),
                                   [path](benchmark::State& state) { fit_instance(state, path); })
          ->Unit(benchmark::kMillisecond);
  return 0;
}

const int registered = add_instances();

}  // namespace
}  // namespace intarsia::plan
