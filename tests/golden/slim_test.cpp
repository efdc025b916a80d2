// Slimming changes no recorded result: every recorded sample and other inputs through the reference,
// before and after; and it finds what there is to find.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden_testing.h"
#include "intarsia/import.h"
#include "intarsia/slim.h"
#include "needs.h"

namespace intarsia::graph {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders(const char* kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(shared_folder() / kind, error), end; !error && it != end;
       it.increment(error))
    names.push_back(std::string(kind) + "/" + it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The imported model, or nothing when it is one that the importer does not take.
std::optional<Module> imported(const std::string& folder) {
  const std::string stem = fs::path(folder).filename().string();
  const Result<Module> module =
      import_model(bytes_of(shared_folder() / folder / "model.tflite"), {stem + ".tflite"});
  if (!module.ok()) return std::nullopt;
  return module.value();
}

void same_on_recorded_inputs(const std::string& folder, const Module& before, const Module& after) {
  for (int k = 0; k < 8; ++k) {
    std::vector<TensorValue> inputs;
    for (const TensorId id : before.entry_function().inputs) {
      inputs.push_back(
          bytes_of(shared_folder() / folder /
                   ("in" + std::to_string(k) + "_" + std::to_string(inputs.size()) + ".bin")));
      if (static_cast<int64_t>(inputs.back().size()) != before.entry_function().tensor(id).bytes())
        return;
    }
    const Result<std::vector<TensorValue>> expected = Evaluator(before).run(inputs);
    const Result<std::vector<TensorValue>> actual = Evaluator(after).run(inputs);
    ASSERT_TRUE(expected.ok() && actual.ok());
    for (size_t o = 0; o < expected.value().size(); ++o) {
      const Tensor& tensor = before.entry_function().tensor(before.entry_function().outputs[o]);
      EXPECT_EQ(difference(tensor.type, actual.value()[o], expected.value()[o]), "")
          << folder << " sample " << k;
    }
  }
}

class Slimming : public testing::TestWithParam<const char*> {};

TEST_P(Slimming, ChangesNoResult) {
  const std::vector<std::string> all = folders(GetParam());
  if (all.empty())
    GTEST_SKIP() << test::needs("shared-data") << "nothing at " << shared_folder() / GetParam();
  for (const std::string& folder : all) {
    const std::optional<Module> before = imported(folder);
    if (!before) continue;
    const Result<Slimmed> slimmed = slim(*before);
    ASSERT_TRUE(slimmed.ok()) << folder << ": " << slimmed.error().to_string();
    EXPECT_LE(slimmed->after.macs, slimmed->before.macs);
    EXPECT_LE(slimmed->after.weight_bytes, slimmed->before.weight_bytes);
    if (slimmed->actions.empty()) {
      EXPECT_TRUE(slimmed->module == *before) << folder;
      continue;
    }
    const Result<void> same = check_slimmed(*before, slimmed->module, 5);
    EXPECT_TRUE(same.ok()) << folder << ": " << same.error().to_string();
    same_on_recorded_inputs(folder, *before, slimmed->module);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Slimming, testing::Values("models", "conformance"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Slimming, FindsTheDeadChannelsOfVisualWakeWords) {
  const std::optional<Module> before = imported("models/vww_96_int8");
  if (!before)
    GTEST_SKIP() << test::needs("shared-data") << "nothing at "
                 << shared_folder() / "models/vww_96_int8";
  const Result<Slimmed> slimmed = slim(*before);
  ASSERT_TRUE(slimmed.ok()) << slimmed.error().to_string();
  EXPECT_EQ(slimmed->before.macs, 7489664);
  EXPECT_EQ(slimmed->before.weight_bytes, 208112);  // the last layer's 512 included
  EXPECT_LE(slimmed->after.macs, 3733073);
  EXPECT_LE(slimmed->after.weight_bytes, 29286);
  EXPECT_GE(slimmed->before.channels - slimmed->after.channels,
            1716);  // 971 in ordinary convolutions
}

}  // namespace
}  // namespace intarsia::graph
