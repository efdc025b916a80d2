// Every recorded output of Arm's compiler as a model: import to simulator, CPU operators included, against
// what TFLite's reference kernels gave for the model that was compiled.
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulator.h"
#include "recorded_data.h"
#include "vela_faults.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

// The inputs may hold several invocations on one state; the last one's outputs are returned.
std::vector<graph::TensorValue> run_sample(Program& program, const CompiledModel& compiled,
                                           const RecordedSample& sample) {
  const auto& inputs = compiled.program().emitted.inputs;
  if (inputs.empty() || sample.inputs.size() != inputs.size()) return {};
  const size_t times = sample.inputs[0].size() / static_cast<size_t>(inputs[0].bytes);
  std::vector<graph::TensorValue> outputs;
  for (size_t t = 0; t < times; ++t) {
    std::vector<graph::TensorValue> slices;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto bytes = static_cast<ptrdiff_t>(inputs[i].bytes);
      const auto first = sample.inputs[i].begin() + static_cast<ptrdiff_t>(t) * bytes;
      slices.emplace_back(first, first + bytes);
    }
    if (program.run(slices, outputs) != INTARSIA_OK) return {};
  }
  return outputs;
}

class VelaModels : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(VelaModels, GiveTheGoldens) {
  const std::string model = GetParam().parent_path().filename().string(),
                    tag = stream_tag(GetParam());
  const Result<graph::Module> imported =
      import_stream(read_bytes(GetParam()), GetParam().filename().string());
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, tag);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const intarsia_register_bus bus = intarsia_ethos_u_simulator(tag.c_str());
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu, &bus), INTARSIA_OK);
  const std::vector<RecordedSample> samples = recorded_samples(recorded_folder(model));
  ASSERT_FALSE(samples.empty());
  for (size_t k = 0; k < samples.size(); ++k) {
    Program program(*compiled, &npu.device);
    const std::vector<graph::TensorValue> outputs = run_sample(program, *compiled, samples[k]);
    EXPECT_TRUE(outputs == samples[k].outputs || vela_fault(model) != nullptr) << "sample " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, VelaModels, ::testing::ValuesIn(vela_streams()),
                         [](const auto& info) { return stream_test_name(info.param); });

}  // namespace
}  // namespace intarsia::test::ethos_u
