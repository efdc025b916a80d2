// Slimming changes no recorded result: every recorded sample and other inputs through the reference,
// before and after; and it finds what there is to find.
#include <gtest/gtest.h>

#include "golden_testing.h"
#include "intarsia/import.h"
#include "passes/dead_channel_elimination.h"

namespace intarsia::graph {
namespace {

namespace fs = std::filesystem;

// The imported model, or nothing when it is one that the importer does not take.
std::optional<Module> imported(const fs::path& folder) {
  const Result<Module> module =
      import_model(bytes_of(folder / "model.tflite"), {folder.filename().string() + ".tflite"});
  if (!module.ok()) return std::nullopt;
  return module.value();
}

// The files of a case may hold several invocations on one state.
std::vector<std::vector<TensorValue>> invocations(const test::RecordedSample& sample,
                                                  const Function& entry) {
  std::vector<std::vector<TensorValue>> runs;
  const auto bytes = [&](size_t t) {
    return static_cast<ptrdiff_t>(entry.tensor(entry.inputs[t]).bytes());
  };
  if (sample.inputs.size() != entry.inputs.size() || entry.inputs.empty()) return runs;
  const ptrdiff_t count = static_cast<ptrdiff_t>(sample.inputs[0].size()) / bytes(0);
  for (ptrdiff_t run = 0; run < count; ++run) {
    std::vector<TensorValue> inputs;
    for (size_t t = 0; t < sample.inputs.size(); ++t) {
      if (static_cast<ptrdiff_t>(sample.inputs[t].size()) != count * bytes(t)) return {};
      const auto first = sample.inputs[t].begin() + run * bytes(t);
      inputs.emplace_back(first, first + bytes(t));
    }
    runs.push_back(std::move(inputs));
  }
  return runs;
}

void same_on_recorded_inputs(const fs::path& folder, const Module& before, const Module& after) {
  const std::vector<test::RecordedSample> samples = test::recorded_samples(folder);
  ASSERT_FALSE(samples.empty()) << "no recorded inputs in " << folder;
  for (size_t k = 0; k < samples.size(); ++k) {
    const auto runs = invocations(samples[k], before.entry_function());
    ASSERT_FALSE(runs.empty()) << "sample " << k << " has other sizes than the model's inputs";
    Evaluator slow(before), quick(after);
    for (const std::vector<TensorValue>& inputs : runs) {
      const Result<std::vector<TensorValue>> expected = slow.run(inputs);
      const Result<std::vector<TensorValue>> actual = quick.run(inputs);
      ASSERT_TRUE(expected.ok() && actual.ok());
      for (size_t o = 0; o < expected.value().size(); ++o) {
        const Tensor& tensor = before.entry_function().tensor(before.entry_function().outputs[o]);
        EXPECT_EQ(difference(tensor.type, actual.value()[o], expected.value()[o]), "")
            << "sample " << k;
      }
    }
  }
}

class Slimming : public testing::TestWithParam<fs::path> {};

TEST_P(Slimming, ChangesNoResult) {
  const std::optional<Module> before = imported(GetParam());
  ASSERT_TRUE(before.has_value());
  const Result<ReducedModule> reduced = eliminate_dead_channels(*before);
  ASSERT_TRUE(reduced.ok()) << reduced.error().to_string();
  EXPECT_LE(reduced->after.macs, reduced->before.macs);
  EXPECT_LE(reduced->after.weight_bytes, reduced->before.weight_bytes);
  if (reduced->actions.empty()) {
    // Constants that nothing reads, as those of a subgraph that initialises variables, go without a step.
    EXPECT_TRUE(reduced->module == *before ||
                reduced->module.constants.size() < before->constants.size());
  } else {
    const Result<void> same = check_reduced(*before, reduced->module, 5);
    EXPECT_TRUE(same.ok()) << same.error().to_string();
  }
  same_on_recorded_inputs(GetParam(), *before, reduced->module);
}

std::vector<fs::path> models_and_cases() {
  std::vector<fs::path> all = test::recorded_models();
  const std::vector<fs::path> cases = test::recorded_cases();
  all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Slimming, testing::ValuesIn(models_and_cases()),
                         [](const auto& info) { return test::test_name(info.param); });

// Two channels of the first convolution are cut off by its activation, and so are the filters that read them.
TEST(DeadChannels, OfTheSeparableNetworkAreFound) {
  for (const char* name : {"separable_s8", "separable_s16"}) {
    const std::optional<Module> before = imported(test::golden_folder() / "models" / name);
    ASSERT_TRUE(before.has_value());
    const Result<ReducedModule> reduced = eliminate_dead_channels(*before);
    ASSERT_TRUE(reduced.ok()) << reduced.error().to_string();
    EXPECT_EQ(reduced->before.macs, 318592) << name;
    EXPECT_GE(reduced->before.channels - reduced->after.channels, 4) << name;
    EXPECT_LT(reduced->after.macs, reduced->before.macs) << name;
  }
}

TEST(DeadChannels, OfVisualWakeWordsAreFound) {
  INTARSIA_NEEDS_SHARED("models/vww_96_int8");
  const std::optional<Module> before = imported(shared_folder() / "models/vww_96_int8");
  ASSERT_TRUE(before.has_value());
  const Result<ReducedModule> reduced = eliminate_dead_channels(*before);
  ASSERT_TRUE(reduced.ok()) << reduced.error().to_string();
  EXPECT_EQ(reduced->before.macs, 7489664);
  EXPECT_EQ(reduced->before.weight_bytes, 208112);  // the last layer's 512 included
  EXPECT_LE(reduced->after.macs, 3733073);
  EXPECT_LE(reduced->after.weight_bytes, 29286);
  EXPECT_GE(reduced->before.channels - reduced->after.channels,
            1716);  // 971 in ordinary convolutions
}

}  // namespace
}  // namespace intarsia::graph
