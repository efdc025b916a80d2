// Every model on every configuration in every memory mode, for speed and for size: bit-exact on the simulator, and the checker has nothing to say.
#include <gtest/gtest.h>

#include "compiled.h"
#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

std::vector<uint8_t> model_bytes(const std::string& name) {
  return read_bytes(shared_folder() / "models" / name / "model.tflite");
}

std::vector<uint8_t> sample(const std::string& name, const std::string& file) {
  return read_bytes(shared_folder() / "models" / name / file);
}

void expect_exact(const std::string& name, const CompileRequest& request) {
  const std::string where = name + " on " + request.target + " " + request.memory_mode;
  const Result<CompiledModel> model = compile_for(model_bytes(name), request);
  ASSERT_TRUE(model.ok()) << where << ": " << model.error().to_string();
  for (int k = 0;; ++k) {
    std::vector<std::vector<uint8_t>> inputs;
    for (const auto& info : model->emitted.inputs)
      inputs.push_back(sample(name, "in" + std::to_string(k) + "_" +
                                        std::to_string(&info - model->emitted.inputs.data()) + ".bin"));
    if (inputs.front().empty()) break;
    const SimulatedRun run = simulate(*model, inputs);
    ASSERT_EQ(run.problem, "") << where;
    EXPECT_EQ(run.outputs.at(0), sample(name, "out" + std::to_string(k) + "_0.bin"))
        << where << ", sample " << k;
  }
}

TEST(EveryModel, IsBitExactEverywhere) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* name : {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
                           "hello_world_int8", "simple_add_model"})
    for (const char* configuration : {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128",
                                      "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"})
      for (const char* mode : {"shared-sram", "sram-only", "dedicated-sram"})
        for (const auto optimise :
             {LoweringOptions::Optimise::Speed, LoweringOptions::Optimise::Size})
          expect_exact(name, {configuration, mode, optimise, std::nullopt});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
