// Small ONNX networks (onnx/make_models.py) on the reference evaluator, against what onnxruntime computes;
// and the proof that taking transpositions out changes no result.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "golden_testing.h"
#include "import/onnx/fold_layout.h"
#include "import/onnx/read_onnx.h"
#include "intarsia/import.h"
#include "passes/dead_channel_elimination.h"
#include "passes/graph_edit.h"

namespace intarsia::graph {
namespace {

const std::filesystem::path kFolder = INTARSIA_ONNX_CASES, kOperators = INTARSIA_ONNX_OPERATORS,
                            kLayers = INTARSIA_ONNX_LAYERS;

std::vector<std::string> cases(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

Module imported(const std::string& name) {
  const Result<Module> module =
      import_model(bytes_of(kFolder / name / "model.onnx"), {name + ".onnx"});
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *module;
}

// The scale of the integers that a dequantised output stands for; 0 when it is computed in floats.
float step_of_output(const Function& function) {
  TensorId id = function.outputs[0];
  for (auto node = function.nodes.rbegin(); node != function.nodes.rend(); ++node) {
    if (node->outputs[0] != id) continue;
    id = node->inputs[0];
    if (node->kind == OpKind::Dequantize) return function.tensor(id).quantization.scale[0];
  }
  return 0;
}

class OnnxNetwork : public testing::TestWithParam<std::string> {};

// Floats to 4 parts in 10^5. Quantised networks round in TFLite's way after every operator, onnxruntime in
// floats: each operator may be one step off, and the networks here are at most two at the end.
TEST_P(OnnxNetwork, ComputesWhatOnnxruntimeDoes) {
  const Module module = imported(GetParam());
  Evaluator evaluator(module);
  const auto outputs = evaluator.run({bytes_of(kFolder / GetParam() / "in0.bin")});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  const TensorValue expected = bytes_of(kFolder / GetParam() / "out0.bin");
  const float step = step_of_output(module.entry_function());
  if (step == 0) {
    EXPECT_EQ(difference(DataType::Float32, outputs.value()[0], expected), "");
    return;
  }
  ASSERT_EQ(outputs.value()[0].size(), expected.size());
  const double largest = largest_steps(outputs.value()[0], expected, step);
  RecordProperty("steps", std::to_string(largest));
  EXPECT_LE(largest, 2.01f);
}

// Every operator of a quantised network is one of integers.
class QuantisedOnnxNetwork : public OnnxNetwork {};

TEST_P(QuantisedOnnxNetwork, HasNoFloatsInside) {
  const Module module = imported(GetParam());
  for (const Node& node : module.entry_function().nodes) {
    if (node.kind == OpKind::Dequantize || node.kind == OpKind::Transpose) continue;
    EXPECT_NE(module.entry_function().tensor(node.outputs[0]).type, DataType::Float32) << node.name;
  }
}

// Transpositions remain at the model's input and, for images, at its output.
TEST_P(OnnxNetwork, TransposesOnlyAtItsEnds) {
  const Module module = imported(GetParam());
  const Function& function = module.entry_function();
  const auto is_transpose = [](const Node& node) { return node.kind == OpKind::Transpose; };
  const int64_t count = std::ranges::count_if(function.nodes, is_transpose);
  const bool image = function.tensor(function.outputs[0]).shape.size() == 4;
  EXPECT_EQ(count, image ? 2 : 1);
  const auto first = std::ranges::find_if(function.nodes, is_transpose);
  EXPECT_LE(first - function.nodes.begin(), 1);
  // A quantised image is put in order before it becomes one of floats.
  const auto last =
      std::ranges::find_if(function.nodes.rbegin(), function.nodes.rend(), is_transpose);
  EXPECT_LE(last - function.nodes.rbegin(),
            image ? 1 : static_cast<int64_t>(function.nodes.size()) - 1);
}

TEST_P(OnnxNetwork, LayoutFoldingChangesNoResult) {
  const auto bytes = bytes_of(kFolder / GetParam() / "model.onnx");
  const Result<Module> read = onnx::read_onnx(bytes, GetParam() + ".onnx", "network", {});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_TRUE(verify(*read).ok()) << verify(*read).error().to_string();
  const Module folded = onnx::fold_layout(*read);
  ASSERT_TRUE(verify(folded).ok()) << verify(folded).error().to_string();
  EXPECT_LT(folded.entry_function().nodes.size(), read->entry_function().nodes.size());
  const Result<void> same = check_reduced(*read, folded, 4);
  EXPECT_TRUE(same.ok()) << same.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(All, OnnxNetwork, testing::ValuesIn(cases(kFolder)),
                         [](const auto& info) { return info.param; });

std::vector<std::string> quantised_networks() {
  std::vector<std::string> names = cases(kFolder);
  std::erase_if(names, [](const std::string& name) { return name.find("qdq") == name.npos; });
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, QuantisedOnnxNetwork, testing::ValuesIn(quantised_networks()),
                         [](const auto& info) { return info.param; });

// How far integers of a type are apart at most, and how many of them are apart.
struct Apart {
  int64_t largest = 0, count = 0;
};

Apart apart(DataType type, const TensorValue& some, const TensorValue& others) {
  Apart found;
  const auto size = static_cast<int64_t>(bits(type) / 8);
  for (int64_t i = 0; i < static_cast<int64_t>(others.size()) / size; ++i) {
    const int64_t steps = std::abs(passes::element_at(type, some.data(), i) -
                                   passes::element_at(type, others.data(), i));
    found.largest = std::max(found.largest, steps), found.count += steps != 0;
  }
  return found;
}

// One quantised operator each (onnx_operators/make_operators.py): at most one step from what onnxruntime rounds, and two steps of 16 bits.
class OnnxOperator : public testing::TestWithParam<std::string> {};

TEST_P(OnnxOperator, IsWithinOneStepOfOnnxruntime) {
  const std::filesystem::path folder = kOperators / GetParam();
  const Result<Module> module =
      import_model(bytes_of(folder / "model.onnx"), {GetParam() + ".onnx"});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::vector<TensorValue> inputs;
  for (size_t i = 0; i < module->entry_function().inputs.size(); ++i)
    inputs.push_back(bytes_of(folder / ("in" + std::to_string(i) + ".bin")));
  Evaluator evaluator(*module);
  const auto outputs = evaluator.run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  const TensorValue expected = bytes_of(folder / "out0.bin");
  ASSERT_EQ(outputs.value()[0].size(), expected.size());
  const DataType type = module->entry_function().tensor(module->entry_function().outputs[0]).type;
  const Apart found = apart(type, outputs.value()[0], expected);
  RecordProperty("differing", std::to_string(found.count));
  EXPECT_LE(found.largest, type == DataType::Int16 ? 2 : 1)
      << found.count << " of " << expected.size() << " bytes differ";
  // Sums in whole steps would be rounded twice, which puts one in ten a step beside.
  if (GetParam() == "cumsum_thirds") {
    EXPECT_EQ(found.count, 0);
  }
}

// These have integer operators; the others are computed in floats between dequantize and quantize.
class IntegerOnnxOperator : public OnnxOperator {};

TEST_P(IntegerOnnxOperator, IsOneOfIntegers) {
  const Result<Module> module =
      import_model(bytes_of(kOperators / GetParam() / "model.onnx"), {GetParam() + ".onnx"});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  for (const Node& node : module->entry_function().nodes)
    EXPECT_NE(node.kind, OpKind::Dequantize) << node.name;
}

// A layer of 16 bits around another zero point in steps that are larger than any network's, so that a grid of reals around 0 gives visibly other
// results: held against onnxruntime as it is computed with widened weights, in floats.
constexpr char kAroundAnotherZero[] = "conv_qdq_u16_zero";

// Layers of floats (onnx_layers/make_layers.py), to 4 parts in 10^5; those between integers to a step.
class OnnxLayer : public testing::TestWithParam<std::string> {};

TEST_P(OnnxLayer, ComputesWhatOnnxruntimeDoes) {
  const std::filesystem::path folder = kLayers / GetParam();
  ImportOptions options;
  options.file = GetParam() + ".onnx";
  options.widen_weights = GetParam() == kAroundAnotherZero;
  const Result<Module> module = import_model(bytes_of(folder / "model.onnx"), options);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const Function& entry = module->entry_function();
  std::vector<TensorValue> inputs;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    inputs.push_back(bytes_of(folder / ("in" + std::to_string(i) + ".bin")));
  Evaluator evaluator(*module);
  const auto outputs = evaluator.run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  for (size_t i = 0; i < outputs->size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    const TensorValue expected = bytes_of(folder / ("out" + std::to_string(i) + ".bin"));
    ASSERT_EQ(outputs.value()[i].size(), expected.size());
    if (entry.tensor(entry.outputs[i]).type == DataType::Float32) {
      EXPECT_EQ(difference(DataType::Float32, outputs.value()[i], expected), "");
      continue;
    }
    if (entry.tensor(entry.outputs[i]).type != DataType::Int8) {
      EXPECT_EQ(outputs.value()[i], expected);
      continue;
    }
    for (size_t k = 0; k < expected.size(); ++k)
      EXPECT_LE(
          std::abs(static_cast<int8_t>(outputs.value()[i][k]) - static_cast<int8_t>(expected[k])),
          1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnnxLayer, testing::ValuesIn(cases(kLayers)),
                         [](const auto& info) { return info.param; });

TEST(OnnxSixteenBits, WithoutASignAreThoseWithASign) {
  const Result<Module> module =
      import_model(bytes_of(kLayers / "conv_qdq_u16" / "model.onnx"), {"conv.onnx"});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const Function& entry = module->entry_function();
  const auto conv = std::ranges::find(entry.nodes, OpKind::Conv2d, &Node::kind);
  ASSERT_NE(conv, entry.nodes.end());
  EXPECT_EQ(entry.tensor(conv->inputs[0]).type, DataType::Int16);
  EXPECT_EQ(entry.tensor(conv->outputs[0]).type, DataType::Int16);
}

// Files with bytes changed, cut out and repeated are refused in words, or are models that hold together.
TEST(OnnxDamage, IsRefusedOrHarmless) {
  std::mt19937 random(3);
  int taken = 0, refused = 0;
  for (const auto& [folder, rounds] :
       {std::pair(kOperators, 60), std::pair(kFolder, 60), std::pair(kLayers, 60)})
    for (const std::string& name : cases(folder)) {
      const std::vector<uint8_t> whole = bytes_of(folder / name / "model.onnx");
      for (int round = 0; round < rounds; ++round) {
        std::vector<uint8_t> bytes = whole;
        for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
          const size_t at = random() % bytes.size();
          const auto place = bytes.begin() + static_cast<ptrdiff_t>(at);
          const uint32_t how = random() % 4;
          if (how == 0) *place = static_cast<uint8_t>(random());
          if (how == 1) *place = static_cast<uint8_t>(*place + 1);
          if (how == 2) *place ^= static_cast<uint8_t>(1u << (random() % 8));
          if (how == 3 && bytes.size() > at + 8) bytes.erase(place, place + 1 + random() % 4);
        }
        const Result<Module> module = import_model(bytes, {name + ".onnx"});
        module.ok() ? ++taken : ++refused;
        if (module.ok()) continue;
        EXPECT_NE(module.error().to_string().find(name + ".onnx"), std::string::npos)
            << name << ", round " << round << ": " << module.error().to_string();
      }
    }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxOperator, testing::ValuesIn(cases(kOperators)),
                         [](const auto& info) { return info.param; });

// What the kind computes with in the case; nothing: there is none.
std::optional<DataType> type_within(const std::string& name, OpKind kind, size_t operand) {
  const Result<Module> module =
      import_model(bytes_of(kOperators / name / "model.onnx"), {name + ".onnx"});
  if (!module.ok()) return std::nullopt;
  const Function& entry = module->entry_function();
  const auto node = std::ranges::find(entry.nodes, kind, &Node::kind);
  if (node == entry.nodes.end()) return std::nullopt;
  return entry.tensor(node->inputs[operand]).type;
}

// The floats before them become a table as the model is compiled.
TEST(OnnxFunctions, AveragesOfThemAreOfIntegers) {
  EXPECT_EQ(type_within("elu_average", OpKind::AveragePool2d, 0), DataType::Int16);
  EXPECT_EQ(type_within("hard_swish_mean", OpKind::Mean, 0), DataType::Int16);
  EXPECT_EQ(type_within("gelu_written_mean", OpKind::Mean, 0), DataType::Int16);
}

TEST(OnnxPlaces, QuantisedValuesArePutThereAsTheyAre) {
  EXPECT_EQ(type_within("max_unpool", OpKind::ScatterNd, 2), DataType::Int8);
  EXPECT_EQ(type_within("scatter_many_rows", OpKind::ScatterNd, 2), DataType::Int8);
  EXPECT_EQ(type_within("scatter_adds_rows", OpKind::ScatterNd, 2), DataType::Float32);
}

TEST(OnnxWords, CurvesAreStraightLinesWhereThoseAreNear) {
  EXPECT_EQ(type_within("words_elu", OpKind::Lookup, 0), DataType::Int16);
  EXPECT_EQ(type_within("words_elu_steep", OpKind::Elu, 0), DataType::Float32);
}

// Not the average whose input has so fine a scale that an average on it is not within a step, and what begins with functions or
// places that are computed in floats.
std::vector<std::string> operators_of_integers() {
  std::vector<std::string> names = cases(kOperators);
  for (const char* name :
       {"average_pool_fine", "elu_average", "hard_swish_mean", "gelu_written_mean", "mean_of_means",
        "mean_of_means_kept", "max_unpool", "max_pool_places", "scatter_many_rows",
        "scatter_adds_rows", "words_elu_steep"})
    std::erase(names, name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, IntegerOnnxOperator, testing::ValuesIn(operators_of_integers()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace intarsia::graph
