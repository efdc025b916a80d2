#include <algorithm>

#include "core_program.h"
#include "cost_samples.h"

namespace intarsia::test::cortex_m {
namespace {

// As many as have room in a board's memory for constants.
Result<std::vector<double>> count_some(const CoreRequest& request, const std::string& target,
                                       const CountedAs& as, std::span<const CostSample> samples) {
  KernelProgram kernels(target);
  if (as.made_for_waits != 0) kernels.place_constants(static_cast<int32_t>(1 + as.made_for_waits));
  Random random(7);
  std::vector<std::vector<graph::TensorValue>> inputs;
  for (const CostSample& sample : samples) {
    kernels.add(sample.module);
    inputs.push_back(testing::random_inputs(random, sample.module));
    for (graph::TensorValue& state : first_states(sample.module))
      inputs.back().push_back(std::move(state));
  }
  INTARSIA_TRY(CoreRun run, run_on_core(request, kernels, inputs));
  return std::move(run.cycles);
}

}  // namespace

Result<std::vector<double>> count_samples(const std::string& core, const std::string& board,
                                          std::span<const CostSample> samples,
                                          const CountedAs& as) {
  constexpr size_t kTogether = 400;
  CoreRequest request{board, core, "-Os"};
  request.count_cycles = true;
  request.waits = false;
  std::vector<double> cycles;
  for (size_t first = 0; first < samples.size(); first += kTogether) {
    INTARSIA_TRY(const std::vector<double> some,
                 count_some(request, as.portable ? core + " -kernels=portable" : core, as,
                            samples.subspan(first, std::min(kTogether, samples.size() - first))));
    cycles.insert(cycles.end(), some.begin(), some.end());
  }
  return cycles;
}

}  // namespace intarsia::test::cortex_m
