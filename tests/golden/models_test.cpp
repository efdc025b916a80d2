// The reference evaluator against recorded results of TFLite Micro's reference kernels: the outputs
// of real models, and every tensor in between. Integers have to be equal bit for bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden_testing.h"
#include "intarsia/graph.h"
#include "intarsia/import.h"

namespace intarsia::graph {
namespace {

uint32_t crc32(const TensorValue& bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

class Models : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Models, EveryTensorIsAsRecorded) {
  const std::filesystem::path folder = GetParam();
  const nlohmann::json meta = nlohmann::json::parse(bytes_of(folder / "meta.json"));

  const std::vector<uint8_t> file = bytes_of(folder / "model.tflite");
  const Result<Module> imported = import_model(file, {folder.filename().string() + ".tflite"});
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Module& module = imported.value();
  ASSERT_TRUE(verify(module).ok()) << verify(module).error().to_string();
  const Result<Module> reread = parse(print(module));
  ASSERT_TRUE(reread.ok()) << reread.error().to_string();
  EXPECT_TRUE(reread.value() == module);

  const Function& entry = module.entry_function();
  ASSERT_EQ(entry.nodes.size(), meta["ops"].size());
  for (size_t i = 0; i < entry.nodes.size(); ++i) {
    const auto recorded = meta["ops"][i]["macs"].get<int64_t>();  // 0 for recurrent layers
    if (recorded == 0) continue;
    EXPECT_EQ(mac_count(entry, entry.nodes[i]), recorded) << "operator " << i;
  }

  for (size_t sample = 0; sample < meta["samples"].size(); ++sample) {
    const std::string k = std::to_string(sample);
    std::vector<TensorValue> inputs;
    for (size_t t = 0; t < entry.inputs.size(); ++t)
      inputs.push_back(bytes_of(folder / ("in" + k + "_" + std::to_string(t) + ".bin")));

    std::vector<TensorValue> results;
    Evaluator evaluator(module);
    const auto keep = [](void* context, const Node&, size_t output, const TensorValue& value) {
      if (output != 0) return;  // state is not recorded
      static_cast<std::vector<TensorValue>*>(context)->push_back(value);
    };
    const Result<std::vector<TensorValue>> outputs = evaluator.run(inputs, keep, &results);
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();

    ASSERT_EQ(results.size(), meta["mid"].size());
    const TensorValue kept = bytes_of(folder / ("mid" + k + ".bin"));
    for (size_t i = 0; i < results.size(); ++i) {
      const nlohmann::json& mid = meta["mid"][i];
      const Node& node = entry.nodes[mid["op"].get<size_t>()];
      const DataType type = entry.tensor(node.outputs[mid["out"].get<size_t>()]).type;
      const std::string what = "sample " + k + ", operator " + std::to_string(i) + " '" +
                               node.name + "' (" + std::string(to_string(node.kind)) + ")";
      if (!kept.empty()) {
        const auto first = kept.begin() + mid["offset"].get<int64_t>();
        EXPECT_EQ(
            difference(type, results[i], TensorValue(first, first + mid["bytes"].get<int64_t>())),
            "")
            << what;
      }
      if (type != DataType::Float32) {
        EXPECT_EQ(crc32(results[i]), mid["crc32"][sample].get<uint32_t>()) << what;
      }
    }
    for (size_t t = 0; t < entry.outputs.size(); ++t)
      EXPECT_EQ(difference(entry.tensor(entry.outputs[t]).type, outputs.value()[t],
                           bytes_of(folder / ("out" + k + "_" + std::to_string(t) + ".bin"))),
                "")
          << "sample " << k << ", output " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Models, testing::ValuesIn(test::recorded_models()),
                         [](const auto& info) { return test::test_name(info.param); });

// models/make_networks.py makes these. None may be passed over unnoticed.
TEST(RecordedModels, EveryFolderOfTheRepositoryIsOne) {
  const std::set<std::string> own = own_names(test::recorded_models());
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(own, own_folders("models"));
}

}  // namespace
}  // namespace intarsia::graph
