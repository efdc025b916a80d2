// Layers of ONNX that become several operators: what they become, and what is refused in which words. What they compute is
// compared with onnxruntime in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

Model einsum(const std::string& equation, const std::vector<std::vector<int64_t>>& shapes) {
  Model model;
  std::vector<std::string> names;
  for (const std::vector<int64_t>& shape : shapes) {
    names.push_back("x" + std::to_string(names.size()));
    model.input(names.back(), shape);
  }
  model.output("y");
  Model::attribute(model.node("Einsum", names, {"y"}), "equation").set_text(equation);
  return model;
}

TEST(OnnxEinsum, ProductOfMatricesIsOneOperator) {
  const auto module = einsum("bij,bkj->bik", {{2, 3, 4}, {2, 5, 4}}).read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().nodes[0].kind, graph::OpKind::BatchMatmul);
}

TEST(OnnxEinsum, EquationsThatDoNotFit) {
  EXPECT_THAT(einsum("ij,jk->ik", {{2, 3}}).refusal(),
              HasSubstr("has the equation 'ij,jk->ik', which is of 2 operands, and 1 of them"));
  EXPECT_THAT(einsum("ij->i", {{2, 3, 4}}).refusal(),
              HasSubstr("whose operand 0 has the shape [2,3,4]"));
  EXPECT_THAT(einsum("ij,jk->ik", {{2, 3}, {4, 5}}).refusal(),
              HasSubstr("in which an axis has 3 and 4 elements"));
  EXPECT_THAT(einsum("ij->ix", {{2, 3}}).refusal(),
              HasSubstr("whose result names an axis that is not there once"));
  EXPECT_THAT(einsum("i!->i", {{2, 3}}).refusal(), HasSubstr("whose operand 0 has the shape"));
  EXPECT_THAT(einsum("", {{2, 3}}).refusal(), HasSubstr("whose operand 0 has the shape"));
  EXPECT_THAT(einsum("ii->i", {{2, 3}}).refusal(), HasSubstr("an axis has 2 and 3 elements"));
  EXPECT_THAT(einsum("...i->....", {{2, 3}}).refusal(), HasSubstr("whose result cannot be read"));
}

// Channels in another order between two convolutions stay the last axis: only the model's own edges are transposed.
TEST(OnnxLayout, ChannelsInAnotherOrder) {
  Model model;
  model.input("x", {1, 3, 5, 4}).output("y");
  model.constant("w", {6, 3, 1, 1}), model.constant("v", {2, 6, 1, 1});
  model.integers("places", {4, 0, 3, 1, 5, 2});
  model.node("Conv", {"x", "w"}, {"a"});
  Model::attribute(model.node("Gather", {"a", "places"}, {"b"}), "axis").set_integer(1);
  model.node("Conv", {"b", "v"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::vector<graph::OpKind> kinds;
  for (const graph::Node& node : module->entry_function().nodes) kinds.push_back(node.kind);
  using enum graph::OpKind;
  EXPECT_THAT(kinds, testing::ElementsAre(Transpose, Conv2d, Gather, Conv2d, Transpose));
}

TEST(OnnxNormalization, GroupsThatDoNotDivideTheChannels) {
  Model model(21);
  model.input("x", {1, 6, 4}).output("y");
  model.constant("factor", {6}), model.constant("offset", {6});
  Model::attribute(model.node("GroupNormalization", {"x", "factor", "offset"}, {"y"}), "num_groups")
      .set_integer(4);
  EXPECT_THAT(model.refusal(), HasSubstr("normalises [1,6,4] in 4 groups of channels"));
}

TEST(OnnxNormalization, FactorsOfChannelsInAnOldOperatorSet) {
  Model model(18);
  model.input("x", {1, 6, 4}).output("y");
  model.constant("factor", {6}), model.constant("offset", {6});
  Model::attribute(model.node("GroupNormalization", {"x", "factor", "offset"}, {"y"}), "num_groups")
      .set_integer(3);
  EXPECT_THAT(model.refusal(), HasSubstr("has [6] factors or offsets for 3 groups"));
}

TEST(OnnxNormalization, KnownStatisticsGoIntoTheConvolution) {
  Model model;
  model.input("x", {1, 2, 4, 4}).output("y");
  model.constant("w", {3, 2, 1, 1});
  for (const char* name : {"factor", "offset", "mean", "variance"}) model.constant(name, {3});
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("BatchNormalization", {"a", "factor", "offset", "mean", "variance"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  for (const graph::Node& node : module->entry_function().nodes)
    EXPECT_TRUE(node.kind == graph::OpKind::Conv2d || node.kind == graph::OpKind::Transpose)
        << to_string(node.kind);
}

TEST(OnnxNormalization, OtherNorms) {
  Model model;
  model.input("x", {2, 3}).output("y");
  Model::attribute(model.node("LpNormalization", {"x"}, {"y"}), "p").set_integer(3);
  EXPECT_THAT(model.refusal(), HasSubstr("has the norm 3; 1 and 2 are possible"));
}

TEST(OnnxPick, PlacesOutside) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("places", {5});
  model.node("GatherElements", {"x", "places"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("picks [1] from [2,3]"));
  Model rows;
  rows.input("x", {4}).output("y");
  rows.integers("places", {5});
  rows.node("GatherElements", {"x", "places"}, {"y"});
  EXPECT_THAT(rows.refusal(), HasSubstr("takes element 5 of 4"));
}

TEST(OnnxPick, RowsAtPlacesOfTheRunningModel) {
  const auto scatter = [](int64_t rows, const char* reduction = "none") {
    Model model;
    model.input("x", {400}).input("places", {rows, 1}, kInt64).input("z", {rows}).output("y");
    Model::attribute(model.node("ScatterND", {"x", "places", "z"}, {"y"}), "reduction")
        .set_text(reduction);
    return model.refusal();
  };
  EXPECT_EQ(scatter(2), "is taken");
  EXPECT_EQ(scatter(300), "is taken");
  EXPECT_EQ(scatter(2, "add"), "is taken");
  EXPECT_THAT(scatter(2, "mean"), HasSubstr("has the reduction 'mean'"));
}

TEST(OnnxPick, ScatteringWithAReduction) {
  Model model;
  model.input("x", {4}).input("z", {1}).output("y");
  model.integers("places", {2});
  Model::attribute(model.node("ScatterElements", {"x", "places", "z"}, {"y"}), "reduction")
      .set_text("mean");
  EXPECT_THAT(model.refusal(), HasSubstr("has the reduction 'mean'"));
}

TEST(OnnxPick, NumbersOfElementsThatCannotBeTaken) {
  const auto top_k = [](int64_t extent, int64_t count, int type = 1) {
    Model model;
    model.input("x", {2, extent}, type).output("y");
    model.integers("k", {count});
    model.node("TopK", {"x", "k"}, {"y", "places"});
    return model.refusal();
  };
  EXPECT_THAT(top_k(5, 6), HasSubstr("takes [6] of [2,5] along axis 1"));
  EXPECT_THAT(top_k(5, 0), HasSubstr("takes [0] of [2,5] along axis 1"));
  EXPECT_EQ(top_k(300, 200), "is taken");
  EXPECT_THAT(top_k(20000, 17000), HasSubstr("takes 17000 elements; at most 16384 are possible"));
  EXPECT_THAT(top_k(5, 2, kInt64), HasSubstr("searches i64"));
  Model model;
  model.input("x", {5}).input("k", {1}, kInt64).output("y");
  model.node("TopK", {"x", "k"}, {"y", "places"});
  EXPECT_THAT(model.refusal(), HasSubstr("takes how many it takes from 'k', which is known only"));
}

Model grid_sample(std::vector<int64_t> image, std::vector<int64_t> grid,
                  const char* mode = "linear", const char* padding = "zeros") {
  Model model(20);
  model.input("x", std::move(image)).input("places", std::move(grid)).output("y");
  format::Node& node = model.node("GridSample", {"x", "places"}, {"y"});
  Model::attribute(node, "mode").set_text(mode);
  Model::attribute(node, "padding_mode").set_text(padding);
  return model;
}

TEST(OnnxGridSample, PlacesAndModesThatAreNone) {
  EXPECT_THAT(grid_sample({1, 2, 4, 4}, {2, 3, 3, 2}).refusal(),
              HasSubstr("samples [1,2,4,4] at [2,3,3,2]"));
  EXPECT_THAT(grid_sample({1, 2, 4, 4}, {1, 3, 3, 3}).refusal(),
              HasSubstr("samples [1,2,4,4] at [1,3,3,3]"));
  EXPECT_THAT(grid_sample({1, 2, 4, 4, 4}, {1, 3, 3, 3, 3}).refusal(),
              HasSubstr("samples the rank 5 at places of rank 5"));
  EXPECT_THAT(grid_sample({1, 2, 4, 4}, {1, 3, 3, 2}, "quintic").refusal(),
              HasSubstr("has the mode 'quintic'; linear, nearest and cubic are possible"));
  EXPECT_THAT(grid_sample({1, 2, 4, 4}, {1, 3, 3, 2}, "linear", "wrap").refusal(),
              HasSubstr("has the padding 'wrap'"));
}

// Whatever the places are, no pixel outside of the image is read.
TEST(OnnxGridSample, PlacesThatAreNoNumbers) {
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"}) {
      const auto module = grid_sample({1, 1, 2, 3}, {1, 1, 4, 2}, mode, padding).read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      const float infinity = std::numeric_limits<float>::infinity();
      const float places[8] = {infinity, -infinity, std::nanf(""), 0, 1e30f, -1e30f, 3e9f, -3e9f};
      const std::vector<uint8_t> image(24, 0);
      std::vector<uint8_t> bytes(sizeof places);
      std::memcpy(bytes.data(), places, sizeof places);
      graph::Evaluator evaluator(*module);
      const auto outputs = evaluator.run({image, bytes});
      EXPECT_TRUE(outputs.ok()) << mode << " " << padding << ": " << outputs.error().to_string();
    }
}

TEST(OnnxAttention, AnglesThatDoNotFit) {
  const auto rotary = [](std::vector<int64_t> shape, std::vector<int64_t> table, int64_t heads,
                         int64_t turned) {
    Model model(23);
    model.input("x", std::move(shape)).output("y");
    model.constant("cosine", table), model.constant("sine", table);
    format::Node& node = model.node("RotaryEmbedding", {"x", "cosine", "sine"}, {"y"});
    Model::attribute(node, "num_heads").set_integer(heads);
    Model::attribute(node, "rotary_embedding_dim").set_integer(turned);
    return model.refusal();
  };
  EXPECT_THAT(rotary({1, 3, 9}, {1, 3, 2}, 2, 0), HasSubstr("turns [1,3,9] of 2 heads"));
  EXPECT_THAT(rotary({1, 3, 8}, {1, 3, 4}, 2, 6), HasSubstr("turns 6 of 4 features"));
  EXPECT_THAT(rotary({1, 3, 8}, {1, 3, 3}, 2, 0),
              HasSubstr("has the angles [1,3,3] for 2 pairs of 3 steps"));
}

TEST(OnnxAttention, HeadsThatDoNotDivide) {
  Model model(23);
  model.input("q", {1, 3, 8}).input("k", {1, 3, 8}).input("v", {1, 3, 8}).output("y");
  format::Node& node = model.node("Attention", {"q", "k", "v"}, {"y"});
  Model::attribute(node, "q_num_heads").set_integer(3);
  Model::attribute(node, "kv_num_heads").set_integer(2);
  EXPECT_THAT(model.refusal(), HasSubstr("has the operand [1,3,8] of 3 heads"));
}

// Squeezes the last axis where it has one element, as exporters write it.
Model squeeze_if(int64_t last, bool known = true) {
  Model model;
  model.input("x", {1, 3, last}).output("y");
  model.integers("one", {1}), model.integers("axis", {2});
  Model::attribute(model.node("Shape", {"x"}, {"extent"}), "start").set_integer(2);
  if (known) {
    model.node("Equal", {"extent", "one"}, {"is_one"});
  } else {
    model.input("is_one", {1}, 9);
  }
  format::Node& choice = model.node("If", {"is_one"}, {"z"});
  const auto branch = [&](const char* name, const char* type, std::vector<std::string> inputs) {
    format::Graph& graph = *Model::attribute(choice, name).mutable_graph();
    format::Node& node = *graph.add_node();
    node.set_type(type), node.add_output("made");
    for (const std::string& input : inputs) node.add_input(input);
    graph.add_output()->set_name("made");
  };
  branch("then_branch", "Squeeze", {"x", "axis"});
  branch("else_branch", "Identity", {"x"});
  model.node("Relu", {"z"}, {"y"});
  return model;
}

TEST(OnnxIf, TheBranchIsTakenWhoseConditionIsKnown) {
  for (const int64_t last : {1, 4}) {
    const auto module = squeeze_if(last).read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& entry = module->entry_function();
    EXPECT_EQ(entry.tensor(entry.outputs[0]).shape, last == 1 ? (Shape{1, 3}) : (Shape{1, 3, 4}));
  }
}

// The message of the branch is followed by what the user can do.
TEST(OnnxIf, ABranchThatCannotBe) {
  EXPECT_THAT(
      squeeze_if(4, false).refusal(),
      HasSubstr("(If, operator set 17): computes both of its branches, since only the running "
                "model knows which one it takes; make what chooses between them (a sampling "
                "rate, for example) a constant of the file"));
}

TEST(OnnxIf, ConditionOfTheRunningModel) {
  EXPECT_THAT(squeeze_if(1, false).refusal(),
              HasSubstr("gives f32[1,3] or f32[1,3,1], by what is known only when the model runs"));
}

TEST(OnnxIf, ProblemsWithinABranchAreTold) {
  Model model = squeeze_if(1);
  for (format::Node& node : *model.graph().mutable_node())
    if (node.type() == "If")
      node.mutable_attribute(0)->mutable_graph()->mutable_node(0)->set_type("Frobnicate");
  EXPECT_THAT(model.refusal(), HasSubstr("(Frobnicate, operator set 17): is an operator"));
}

TEST(OnnxFile, HalfAndDoublePrecisionBecomeSingle) {
  Model model;
  model.input("x", {2}, 10).output("y");
  const double numbers[] = {0.5, -3.0};
  model.constant("w", {2}, 11)
      .set_raw(std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  model.node("Add", {"x", "w"}, {"y"});
  Diagnostics notes;
  const auto module = model.read(&notes);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_THAT(notes.to_string(), HasSubstr("model input 'x': is of float16, and becomes f32"));
  float values[2];
  std::memcpy(values, std::vector<uint8_t>(module->constants[0].bytes).data(), sizeof values);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], -3.0f);
}

TEST(OnnxFile, OutputsThatAreConstantsOrInputs) {
  Model model;
  model.input("x", {1, 3}).output("s").output("x").output("y");
  model.node("Shape", {"x"}, {"s"});
  model.node("Relu", {"x"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  graph::Evaluator evaluator(*module);
  const std::vector<uint8_t> input(12, 0);
  const auto outputs = evaluator.run({input});
  ASSERT_TRUE(outputs.ok());
  int64_t shape[2];
  std::memcpy(shape, outputs->at(0).data(), sizeof shape);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(outputs->at(1), input);
}

// ---- transforms and grids ----

std::string of_dft(const std::vector<int64_t>& shape, std::vector<int64_t> length,
                   std::vector<int64_t> axis, int64_t onesided = 0, int64_t inverse = 0) {
  Model model(20);
  model.input("x", shape).output("y");
  model.integers("length", length), model.integers("axis", axis);
  format::Node& node = model.node("DFT", {"x", "length", "axis"}, {"y"});
  Model::attribute(node, "onesided").set_integer(onesided);
  Model::attribute(node, "inverse").set_integer(inverse);
  return model.refusal();
}

TEST(OnnxTransforms, OfNoNumbersOrNoLength) {
  EXPECT_EQ(of_dft({2, 12, 1}, {12}, {1}), "is taken");
  EXPECT_THAT(of_dft({2, 12, 3}, {12}, {1}), HasSubstr("transforms [2,12,3]"));
  EXPECT_THAT(of_dft({2, 12, 1}, {0}, {1}), HasSubstr("has no length"));
  EXPECT_THAT(of_dft({2, 12, 1}, {-4}, {1}), HasSubstr("has no length"));
  EXPECT_THAT(of_dft({2, 12, 1}, {3, 4}, {1}), HasSubstr("has no length"));
  EXPECT_THAT(of_dft({2, 12, 1}, {12}, {1, 1}), HasSubstr("has one axis"));
  EXPECT_THAT(of_dft({2, 12, 1}, {12}, {2}), HasSubstr("transforms the parts of numbers"));
  EXPECT_THAT(of_dft({2, 12, 1}, {12}, {7}), HasSubstr("axis"));
  EXPECT_THAT(of_dft({2, 12, 2}, {12}, {1}, 1), HasSubstr("one side"));
  EXPECT_THAT(of_dft({2, 12, 1}, {12}, {1}, 1, 1), HasSubstr("one side"));
  EXPECT_THAT(of_dft({2, 12, 1}, {3001}, {1}), HasSubstr("transforms a length of 3001"));
  EXPECT_NE(of_dft({2, 12, 1}, {int64_t{1} << 40}, {1}), "is taken");
  EXPECT_NE(of_dft({2, 12, 1}, {INT64_MAX}, {1}), "is taken");
}

std::string of_stft(const std::vector<int64_t>& shape, std::vector<int64_t> step,
                    std::vector<int64_t> size, int64_t window = 0) {
  Model model(17);
  model.input("x", shape).output("y");
  model.integers("step", step), model.integers("size", size);
  if (window != 0) model.constant("window", {window});
  model.node("STFT", {"x", "step", window != 0 ? "window" : "", "size"}, {"y"});
  return model.refusal();
}

TEST(OnnxTransforms, OfFramesThatAreNone) {
  EXPECT_EQ(of_stft({2, 100, 1}, {10}, {16}, 16), "is taken");
  EXPECT_THAT(of_stft({2, 100, 1}, {0}, {16}), HasSubstr("has no step"));
  EXPECT_THAT(of_stft({2, 100, 1}, {-1}, {16}), HasSubstr("has no step"));
  EXPECT_THAT(of_stft({2, 100, 1}, {10, 10}, {16}), HasSubstr("has no step"));
  EXPECT_THAT(of_stft({2, 100, 1}, {10}, {101}), HasSubstr("takes frames of 101 of 100 samples"));
  EXPECT_THAT(of_stft({2, 100, 1}, {10}, {0}), HasSubstr("takes frames of 0 of 100 samples"));
  EXPECT_THAT(of_stft({2, 100, 1}, {10}, {16}, 15), HasSubstr("takes frames of 16"));
  EXPECT_THAT(of_stft({2, 100, 1}, {10}, {16, 16}), HasSubstr("one size"));
  EXPECT_THAT(of_stft({2, 100, 2}, {10}, {16}), HasSubstr("transforms [2,100,2]"));
  EXPECT_EQ(of_stft({2, 100, 1}, {INT64_MAX}, {16}), "is taken");  // one frame
  EXPECT_NE(of_stft({1, 1 << 20, 1}, {1}, {1 << 19}), "is taken");
}

std::string of_grid(const std::vector<int64_t>& maps, const std::vector<int64_t>& sizes) {
  Model model(20);
  model.input("maps", maps).output("y");
  model.integers("sizes", sizes);
  model.node("AffineGrid", {"maps", "sizes"}, {"y"});
  return model.refusal();
}

TEST(OnnxGrids, OfNoImages) {
  EXPECT_EQ(of_grid({2, 2, 3}, {2, 1, 5, 4}), "is taken");
  EXPECT_THAT(of_grid({2, 2, 3}, {2, 1, 5, 4, 3}), HasSubstr("maps by [2,2,3] onto [2,1,5,4,3]"));
  EXPECT_THAT(of_grid({2, 3, 4}, {2, 1, 5, 4}), HasSubstr("maps by [2,3,4]"));
  EXPECT_THAT(of_grid({2, 2, 3}, {3, 1, 5, 4}), HasSubstr("has other images"));
  EXPECT_THAT(of_grid({2, 2, 3}, {2, 1, 0, 4}), HasSubstr("has other images"));
  EXPECT_THAT(of_grid({2, 2, 3}, {2, 1, 5, -4}), HasSubstr("has other images"));
  EXPECT_THAT(of_grid({2, 2, 3}, {2, 1, 5, INT64_MAX}), HasSubstr("makes places of 5 x"));
  EXPECT_NE(of_grid({2, 2, 3}, {2, 1, 1 << 20, 1 << 20}), "is taken");
}

// A window of so many elements beside an input, or one whose size is that input.
std::string of_window(const std::vector<int64_t>& size, int64_t type = 1) {
  Model model(17);
  model.input("x", {1}).output("y");
  if (!size.empty()) model.integers("size", size);
  format::Node& window = model.node("HannWindow", {size.empty() ? "x" : "size"}, {"w"});
  Model::attribute(window, "output_datatype").set_integer(type);
  model.node("Mul", {"w", "x"}, {"y"});
  return model.refusal();
}

TEST(OnnxWindows, OfSizesThatAreNone) {
  EXPECT_EQ(of_window({1}), "is taken");
  EXPECT_THAT(of_window({}), HasSubstr("has a size that is known only when the model runs"));
  EXPECT_THAT(of_window({4, 4}), HasSubstr("has a size that is known only when the model runs"));
  EXPECT_THAT(of_window({0}), HasSubstr("is 0 elements long"));
  EXPECT_THAT(of_window({-3}), HasSubstr("is -3 elements long"));
  EXPECT_NE(of_window({INT64_MAX}), "is taken");
  EXPECT_THAT(of_window({4}, 10), HasSubstr("gives numbers that are no floats"));
}

std::string of_mel_weights(std::vector<int64_t> bands, std::vector<int64_t> length, float highest) {
  Model model(17);
  model.input("x", {1}).output("y");
  model.integers("bands", bands), model.integers("length", length), model.integers("rate", {8000});
  const auto real = [&](const std::string& name, float value) {
    std::string raw(sizeof value, '\0');
    std::memcpy(raw.data(), &value, sizeof value);
    model.constant(name, {1}).set_raw(raw);
  };
  real("low", 100), real("high", highest);
  model.node("MelWeightMatrix", {"bands", "length", "rate", "low", "high"}, {"w"});
  model.node("Mul", {"w", "x"}, {"y"});
  return model.refusal();
}

TEST(OnnxWindows, OfBandsThatAreNone) {
  EXPECT_EQ(of_mel_weights({8}, {64}, 4000), "is taken");
  EXPECT_THAT(of_mel_weights({8}, {64}, 4001), HasSubstr("has 8 bands from 100 to 4001 Hz"));
  EXPECT_THAT(of_mel_weights({8}, {64}, 50), HasSubstr("has 8 bands from 100 to 50 Hz"));
  EXPECT_THAT(of_mel_weights({0}, {64}, 4000), HasSubstr("has 0 bands"));
  EXPECT_THAT(of_mel_weights({8}, {1}, 4000), HasSubstr("transforms of 1 samples"));
  EXPECT_NE(of_mel_weights({4096}, {1 << 20}, 4000), "is taken");
}

}  // namespace
}  // namespace intarsia
