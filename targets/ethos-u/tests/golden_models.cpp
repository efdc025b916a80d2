#include "golden_models.h"

#include <gtest/gtest.h>

#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

std::vector<uint8_t> model_bytes(const std::string& name) {
  return read_bytes(shared_folder() / "models" / name / "model.tflite");
}

std::vector<uint8_t> sample(const std::string& name, const std::string& file) {
  return read_bytes(shared_folder() / "models" / name / file);
}

}  // namespace

void expect_exact(const std::string& name, const CompileRequest& request) {
  const std::string where = name + " on " + request.target + " " + request.memory_mode;
  const Result<CompiledModel> model = compile_for(model_bytes(name), request);
  ASSERT_TRUE(model.ok()) << where << ": " << model.error().to_string();
  expect_exact(name, *model, where);
}

void expect_exact(const std::string& name, const CompiledModel& model, const std::string& where) {
  int k = 0;
  for (;; ++k) {
    std::vector<std::vector<uint8_t>> inputs;
    for (const auto& info : model.emitted.inputs)
      inputs.push_back(sample(name, "in" + std::to_string(k) + "_" +
                                        std::to_string(&info - model.emitted.inputs.data()) +
                                        ".bin"));
    if (inputs.front().empty()) break;
    const SimulatedRun run = simulate(model, inputs);
    ASSERT_EQ(run.problem, "") << where;
    EXPECT_EQ(run.outputs.at(0), sample(name, "out" + std::to_string(k) + "_0.bin"))
        << where << ", sample " << k;
  }
  EXPECT_GT(k, 0) << name << " has no samples";
}

}  // namespace intarsia::test::ethos_u
