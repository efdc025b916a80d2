#include "golden_models.h"

#include <gtest/gtest.h>

#include "recorded_data.h"

namespace intarsia::test::ethos_u {

Result<CompiledModel> compile_recorded(const std::string& name, const CompileRequest& request) {
  return compile_for(read_bytes(recorded_folder(name) / "model.tflite"), request);
}

void expect_exact(const std::string& name, const CompileRequest& request) {
  const std::string where = name + " on " + request.target + " " + request.memory_mode;
  const Result<CompiledModel> model = compile_recorded(name, request);
  ASSERT_TRUE(model.ok()) << where << ": " << model.error().to_string();
  expect_exact(name, *model, where);
}

void expect_exact(const std::string& name, const CompiledModel& model, const std::string& where) {
  const std::vector<RecordedSample> samples = recorded_samples(recorded_folder(name));
  ASSERT_FALSE(samples.empty()) << name << " has no samples";
  for (size_t k = 0; k < samples.size(); ++k) {
    const SimulatedRun run = simulate(model, samples[k].inputs);
    ASSERT_EQ(run.problem, "") << where;
    EXPECT_EQ(run.outputs, samples[k].outputs) << where << ", sample " << k;
  }
}

}  // namespace intarsia::test::ethos_u
