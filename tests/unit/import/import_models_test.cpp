// The real models beside the sources import, or are refused for what they hold that we do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "intarsia/import.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

Result<graph::Module> import_file(const std::filesystem::path& path) {
  return import_model(read_bytes(path), {path.string()});
}

// "CONV_2D" and "conv2d" alike.
std::string letters(std::string name) {
  std::erase(name, '_');
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

class ImportModel : public testing::TestWithParam<std::filesystem::path> {};

// Those in whose description each operator stands once: a recurrent layer may be several here.
std::vector<std::filesystem::path> described_models() {
  std::vector<std::filesystem::path> folders = recorded_models();
  std::erase_if(folders, [](const std::filesystem::path& folder) {
    const std::string name = folder.filename().string();
    return name == "dtln_noise_suppression" || name == "keyword_scrambled_8bit" ||
           name == "trained_lstm_int8" || name.starts_with("lstm_");
  });
  return folders;
}

// The operators in order, with the shapes the reference interpreter found.
TEST_P(ImportModel, HasTheOperatorsOfItsDescription) {
  const std::filesystem::path& folder = GetParam();
  const auto module = import_file(folder / "model.tflite");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::ifstream file(folder / "meta.json");
  const auto meta = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(meta.is_object());
  const graph::Function& function = module->entry_function();
  ASSERT_EQ(function.nodes.size(), meta["ops"].size());
  for (size_t i = 0; i < function.nodes.size(); ++i) {
    const graph::Node& node = function.nodes[i];
    EXPECT_EQ(letters(meta["ops"][i]["op"]), letters(std::string(graph::to_string(node.kind))));
    std::string shape = "[";
    for (const int64_t extent : function.tensor(node.outputs[0]).shape) {
      if (shape.size() > 1) shape += ',';
      shape += std::to_string(extent);
    }
    EXPECT_THAT(meta["ops"][i]["out"][0].get<std::string>(), testing::EndsWith(shape + "]"));
  }
  EXPECT_EQ(function.inputs.size(), meta["inputs"].size());
  EXPECT_EQ(function.outputs.size(), meta["outputs"].size());
  const auto text = graph::print(*module);
  const auto again = graph::parse(text);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(*again, *module);
}

INSTANTIATE_TEST_SUITE_P(Recorded, ImportModel, testing::ValuesIn(described_models()),
                         [](const auto& instance) { return test_name(instance.param); });

std::vector<std::string> node_names(const std::filesystem::path& folder) {
  const auto module = import_file(folder / "model.tflite");
  EXPECT_TRUE(module.ok());
  std::vector<std::string> names;
  if (!module.ok()) return names;
  for (const graph::Node& node : module->entry_function().nodes) names.push_back(node.name);
  return names;
}

TEST(ImportedNodes, AreCalledAsTheirLayers) {
  EXPECT_THAT(node_names(golden_folder() / "models/separable_s8"),
              testing::ElementsAre("stem", "block0_depthwise", "block0_pointwise",
                                   "block1_depthwise", "block1_pointwise", "block2_depthwise",
                                   "block2_pointwise", "block3_depthwise", "block3_pointwise",
                                   "average", "classifier", "scores"));
}

// A converter's names hold several layers that became one operator.
TEST(ImportedNodes, OfKwsAreCalledAsTheirLayers) {
  INTARSIA_NEEDS_SHARED("models/kws_ref_model");
  EXPECT_THAT(
      node_names(shared_folder() / "models/kws_ref_model"),
      testing::ElementsAre("conv2d", "depthwise_conv2d", "conv2d_1", "depthwise_conv2d_1",
                           "conv2d_2", "depthwise_conv2d_2", "conv2d_3", "depthwise_conv2d_3",
                           "conv2d_4", "average_pooling2d", "flatten", "dense", "softmax"));
}

// Every model imports, or each line of the refusal names an operator we do not have.
class ImportFolder : public testing::TestWithParam<bool> {};

TEST_P(ImportFolder, EveryModelImportsOrSaysWhy) {
  int imported = 0, refused = 0;
  for (const std::filesystem::path& folder : GetParam() ? recorded_cases() : recorded_models()) {
    const auto result = import_file(folder / "model.tflite");
    if (result.ok()) {
      ++imported;
      continue;
    }
    EXPECT_FALSE(is_own(folder)) << result.error().to_string();
    ++refused;
    for (const Diagnostic& item : result.error().items()) {
      EXPECT_THAT(item.where, testing::HasSubstr("operator ")) << item.to_string();
      EXPECT_THAT(item.what, testing::HasSubstr("is an operator Intarsia does not have"))
          << item.to_string();
    }
  }
  EXPECT_GE(imported, GetParam() ? 138 : 8);
  RecordProperty("imported", imported);
  RecordProperty("refused", refused);
}

INSTANTIATE_TEST_SUITE_P(Recorded, ImportFolder, testing::Bool(), [](const auto& instance) {
  return std::string(instance.param ? "cases" : "models");
});

}  // namespace
}  // namespace intarsia::test
