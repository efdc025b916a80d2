// What Vela made for an Ethos-U85 as models: import, compilation and package to the simulated NPU, CPU operators included,
// against what TFLite's reference kernels gave for the model that was compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u85/simulation.h"
#include "recorded_data.h"
#include "u85_editing.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

namespace fs = std::filesystem;
namespace sim85 = simulators::ethos_u85;

// The inputs may hold several invocations on one state; the last one's outputs are compared. Empty where all is equal.
std::string run_model(const fs::path& path, std::vector<RecordedSample> samples) {
  const Result<graph::Module> imported = import_stream(read_bytes(path), path.filename().string());
  if (!imported.ok()) return imported.error().to_string();
  const std::string tag = stream_tag(path);
  const Result<CompiledModel> compiled = compile_for(*imported, tag);
  if (!compiled.ok()) return compiled.error().to_string();
  std::string marks, said;
  for (const CommandStream& stream : compiled->program().emitted.streams) marks += stream.marks;
  sim85::Simulation simulation(
      {.marks = marks, .say = [&](const std::string& line) { said += line + "\n"; }});
  intarsia_device* device = simulation.add_device(tag);
  const auto& inputs = compiled->program().emitted.inputs;
  for (const RecordedSample& sample : samples) {
    Program program(*compiled, device);
    const size_t times = inputs.empty() || inputs[0].bytes == 0
                             ? 1
                             : std::max<size_t>(1, sample.inputs.at(0).size() /
                                                       static_cast<size_t>(inputs[0].bytes));
    std::vector<graph::TensorValue> outputs;
    for (size_t t = 0; t < times; ++t) {
      std::vector<graph::TensorValue> slices;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const auto bytes = static_cast<ptrdiff_t>(inputs[i].bytes);
        const auto first = sample.inputs.at(i).begin() + static_cast<ptrdiff_t>(t) * bytes;
        slices.emplace_back(first, first + bytes);
      }
      if (const intarsia_status status = program.run(slices, outputs); status != INTARSIA_OK)
        return "status " + std::to_string(status) + "; " + said;
    }
    if (outputs != sample.outputs) return "the outputs differ";
  }
  return said;
}

class U85Models : public ::testing::TestWithParam<fs::path> {};

TEST_P(U85Models, GiveTheGoldens) {
  EXPECT_EQ(run_model(GetParam(), recorded_samples(u85_goldens_of(GetParam()))), "");
}

INSTANTIATE_TEST_SUITE_P(Recorded, U85Models, ::testing::ValuesIn(vela_streams("ethos-u85")),
                         [](const auto& info) { return stream_test_name(info.param); });

}  // namespace
}  // namespace intarsia::test::ethos_u
