// The reference evaluator against recorded results of one operator (or a small network) each, with types and shapes
// that the models do not use.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden_testing.h"
#include "intarsia/import.h"

namespace intarsia::graph {
namespace {

// One case's record is not what TFLite Micro's reference kernels compute; its source allows this much.
int64_t allowed_steps(const nlohmann::json& meta) {
  const bool is_reference = meta.value("tflm_reference", "match") == "match";
  return is_reference ? 0 : meta["compare"]["atol"].get<int64_t>();
}

// "" when the outputs are as recorded, else what is wrong.
std::string run_case(const std::filesystem::path& folder, const nlohmann::json& meta) {
  const std::string file = folder.filename().string() + ".tflite";
  const Result<Module> module = import_model(bytes_of(folder / "model.tflite"), {file});
  if (!module.ok()) return module.error().to_string();
  const Function& entry = module.value().entry_function();
  // Some cases run several times on one state; the last outputs are recorded.
  const size_t invocations = meta.value("invocations", size_t{1});
  std::vector<TensorValue> sequences;
  for (const auto& input : meta["inputs"])
    sequences.push_back(bytes_of(folder / input["file"].get<std::string>()));
  Evaluator evaluator(module.value());
  std::vector<TensorValue> results;
  for (size_t k = 0; k < invocations; ++k) {
    std::vector<TensorValue> inputs;
    for (const TensorValue& all : sequences) {
      const auto size = static_cast<ptrdiff_t>(all.size() / invocations);
      inputs.emplace_back(all.begin() + static_cast<ptrdiff_t>(k) * size,
                          all.begin() + static_cast<ptrdiff_t>(k + 1) * size);
    }
    const Result<std::vector<TensorValue>> outputs = evaluator.run(inputs);
    if (!outputs.ok()) return outputs.error().to_string();
    results = outputs.value();
  }
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const std::string found = difference(
        entry.tensor(entry.outputs[i]).type, results[i],
        bytes_of(folder / meta["outputs"][i]["file"].get<std::string>()), allowed_steps(meta));
    if (!found.empty()) return "output " + std::to_string(i) + ": " + found;
  }
  return "";
}

class Conformance : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Conformance, OutputsAreTheRecordedOnes) {
  const nlohmann::json meta = nlohmann::json::parse(bytes_of(GetParam() / "meta.json"));
  EXPECT_EQ(run_case(GetParam(), meta), "");
}

INSTANTIATE_TEST_SUITE_P(Recorded, Conformance, testing::ValuesIn(test::recorded_cases()),
                         [](const auto& info) { return test::test_name(info.param); });

// operators/make_cases.py, make_litert_cases.py and make_mediapipe_cases.py make these. None may be passed over unnoticed.
TEST(ConformanceCases, EveryFolderOfTheRepositoryIsOne) {
  const std::set<std::string> own = own_names(test::recorded_cases());
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(own, own_folders("operators"));
}

}  // namespace
}  // namespace intarsia::graph
