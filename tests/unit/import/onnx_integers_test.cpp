// Integers in ONNX: products of bytes, QuantizeLinear and what stands between them. What they compute is compared with onnxruntime in
// tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

// 255 * 127 * 1000 is beyond what one sum of floats holds, and so are the odd numbers near it.
TEST(OnnxIntegers, LongSumsAreExact) {
  constexpr int kUint8 = 2;
  constexpr int64_t kTerms = 1000, kColumns = 3;
  for (const bool as_convolution : {false, true}) {
    Model model;
    std::string weights(kTerms * kColumns, '\0');
    for (int64_t k = 0; k < kTerms; ++k)
      for (int64_t c = 0; c < kColumns; ++c)
        weights[static_cast<size_t>(as_convolution ? c * kTerms + k : k * kColumns + c)] =
            static_cast<char>(c == 0   ? 127
                              : c == 1 ? -128
                                       : k % 7 - 3);
    model.input(
        "x", as_convolution ? std::vector<int64_t>{1, kTerms, 1} : std::vector<int64_t>{1, kTerms},
        kUint8);
    model
        .constant("w",
                  as_convolution ? std::vector<int64_t>{kColumns, kTerms, 1}
                                 : std::vector<int64_t>{kTerms, kColumns},
                  kInt8)
        .set_raw(weights);
    model.output("y");
    model.node(as_convolution ? "ConvInteger" : "MatMulInteger", {"x", "w"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    std::vector<uint8_t> bytes(kTerms, 255);
    bytes[17] = 254;
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({bytes});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    int32_t sums[kColumns];
    ASSERT_EQ(outputs->at(0).size(), sizeof sums);
    std::memcpy(sums, outputs->at(0).data(), sizeof sums);
    int32_t last = 0;
    for (int32_t k = 0; k < kTerms; ++k) last += (k % 7 - 3) * bytes[static_cast<size_t>(k)];
    EXPECT_EQ(sums[0], 127 * (255 * kTerms - 1));
    EXPECT_EQ(sums[1], -128 * (255 * kTerms - 1));
    EXPECT_EQ(sums[2], last);
  }
}

// What onnxruntime's dynamic quantiser writes of a layer: its weights stay bytes, whatever sums floats hold, and the integers are exact.
TEST(OnnxIntegers, KnownWeightsStayBytes) {
  constexpr int kUint8 = 2, kTerms = 1000;
  // Weights of 200 and one of 255 less their zero point: bytes hold the first, and not the second.
  for (int test = 0; test < 4; ++test) {
    const bool as_convolution = test % 2 == 1, fits = test < 2;
    const int zero_point = fits ? 200 : 20;
    Model model;
    model.input("x", as_convolution ? std::vector<int64_t>{1, kTerms, 1, 1}
                                    : std::vector<int64_t>{1, kTerms});
    model
        .constant("w",
                  as_convolution ? std::vector<int64_t>{1, kTerms, 1, 1}
                                 : std::vector<int64_t>{kTerms, 1},
                  kUint8)
        .set_raw(std::string(kTerms - 1, '\xc8') + '\xff');
    model.constant("w_zero", {}, kUint8).set_raw(std::string(1, static_cast<char>(zero_point)));
    model.output("real");
    model.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
    model.node(as_convolution ? "ConvInteger" : "MatMulInteger", {"q", "w", "zero", "w_zero"},
               {"y"});
    Model::attribute(model.node("Cast", {"y"}, {"real"}), "to").set_integer(1);
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    int64_t bytes = 0;
    for (const graph::Tensor& tensor : module->entry_function().tensors)
      if (tensor.constant.valid()) bytes += element_count(tensor.shape) * bits(tensor.type) / 8;
    EXPECT_LT(bytes, (fits ? 1 : 2) * kTerms + 100);
    std::vector<float> x(kTerms);
    for (int i = 0; i < kTerms; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i % 256 - 55);
    graph::TensorValue given(x.size() * sizeof(float));
    std::memcpy(given.data(), x.data(), given.size());
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({given});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    float found = 0, sum = 0;
    std::memcpy(&found, outputs->at(0).data(), sizeof found);
    for (const float value : x) sum += value * static_cast<float>(200 - zero_point);
    sum += x.back() * 55;
    EXPECT_EQ(found, sum);
  }
}

// Weights with a sign and a zero point, which bytes do not hold less that one: each is taken off elsewhere.
TEST(OnnxIntegers, WeightsWithASignHaveZeroPoints) {
  constexpr int kUint8 = 2, kInt8 = 3;
  for (const int zero_point : {-100, 0, 3, 100}) {
    Model model;
    model.input("x", {1, 2}, kUint8).output("y");
    model.constant("w", {2, 1}, kInt8).set_raw("\x7f\x81");  // 127, -127
    model.constant("zero", {}, kUint8).set_raw(std::string(1, '\x05'));
    model.constant("w_zero", {}, kInt8).set_raw(std::string(1, static_cast<char>(zero_point)));
    model.node("MatMulInteger", {"x", "w", "zero", "w_zero"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({graph::TensorValue{255, 30}});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    int32_t found = 0;
    std::memcpy(&found, outputs->at(0).data(), sizeof found);
    EXPECT_EQ(found, 250 * (127 - zero_point) + 25 * (-127 - zero_point)) << zero_point;
  }
}

// One operator, whose halves go to the even neighbour; zeros alone have the scale 1.
TEST(OnnxIntegers, DynamicQuantizeLinear) {
  struct Case {
    std::vector<float> x;
    std::vector<uint8_t> q;
    float scale;
    uint8_t zero;
  };
  const std::vector<Case> cases = {
      {{0, 255, 0.5f, 1.5f, 2.5f, 2.5000002f}, {0, 255, 0, 2, 2, 3}, 1, 0},
      {{-1, -3, -2.4f, -0.12f, 0, -3}, {170, 0, 51, 245, 255, 0}, 3.0f / 255, 255},
      {{-100, 155, 54.5f, -100.5f + 1, -0.5f, 0}, {0, 255, 154, 0, 100, 100}, 1, 100},
      {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, 1, 0}};
  Model model;
  model.input("x", {2, 3}).output("q").output("scale").output("zero");
  model.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto& nodes = module->entry_function().nodes;
  EXPECT_EQ(std::ranges::count(nodes, graph::OpKind::QuantizeRows, &graph::Node::kind), 1);
  EXPECT_LE(nodes.size(), 6U);
  for (const Case& c : cases) {
    graph::TensorValue given(c.x.size() * sizeof(float));
    std::memcpy(given.data(), c.x.data(), given.size());
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({given});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    float scale = 0;
    std::memcpy(&scale, outputs->at(1).data(), sizeof scale);
    EXPECT_EQ(std::vector<uint8_t>(outputs->at(0).begin(), outputs->at(0).end()), c.q);
    EXPECT_EQ(scale, c.scale);
    EXPECT_EQ(outputs->at(2).at(0), c.zero);
  }
}

// Its scale and its zero point are those of each row of the product: nothing is computed of them in between.
TEST(OnnxIntegers, RowsOfAProductShareWhatTheRunningModelFinds) {
  Model model;
  model.input("x", {1, 4, 3}).output("y");
  model.constant("w", {3, 2}, kInt8).set_raw("\x05\xfb\x70\x81\x22\x01");
  model.constant("w_scale", {}).set_raw(std::string("\0\0\0\x3f", 4));
  model.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  model.node("MatMulInteger", {"q", "w", "zero"}, {"sum"});
  Model::attribute(model.node("Cast", {"sum"}, {"real"}), "to").set_integer(1);
  model.node("Mul", {"scale", "w_scale"}, {"scales"});
  model.node("Mul", {"real", "scales"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto& nodes = module->entry_function().nodes;
  const auto rows = std::ranges::find(nodes, graph::OpKind::QuantizeRows, &graph::Node::kind);
  ASSERT_NE(rows, nodes.end());
  EXPECT_EQ(rows->attrs<graph::QuantizeRowsAttrs>(), (graph::QuantizeRowsAttrs{4, true, true}));
  const auto layer = std::ranges::find_if(nodes, [&](const graph::Node& node) {
    return node.kind == graph::OpKind::HybridFullyConnected && node.inputs[3] == rows->outputs[1];
  });
  ASSERT_NE(layer, nodes.end());
  EXPECT_EQ(layer->inputs[4], rows->outputs[2]);
}

// What a dynamic quantiser writes of a layer is one operator, with its scales, its bias and its activation: the same floats as the operators
// one by one, which stay where somebody reads what is between them.
TEST(OnnxIntegers, ScalesAndTheBiasAreTheLayersOwn) {
  for (const bool is_image : {false, true}) {
    std::vector<graph::TensorValue> results;
    for (const bool is_read : {false, true}) {
      Model model;
      model.input("x", is_image ? std::vector<int64_t>{1, 3, 4, 5} : std::vector<int64_t>{2, 3});
      model.output("y");
      const auto floats = [&](const std::string& name, const std::vector<int64_t>& shape,
                              const std::vector<float>& values) {
        std::string raw(values.size() * sizeof(float), '\0');
        std::memcpy(raw.data(), values.data(), raw.size());
        model.constant(name, shape).set_raw(raw);
      };
      const std::vector<int64_t> per_channel =
          is_image ? std::vector<int64_t>{1, 2, 1, 1} : std::vector<int64_t>{2};
      model
          .constant("w", is_image ? std::vector<int64_t>{2, 3, 1, 1} : std::vector<int64_t>{3, 2},
                    kInt8)
          .set_raw("\x05\xfb\x70\x81\x22\x01");
      floats("w_scale", per_channel, {0.013f, 0.7f});
      floats("bias", per_channel, {0.3f, -0.77f});
      model.constant("w_zero", {}, kInt8).set_raw(std::string(1, '\0'));
      model.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
      model.node(is_image ? "ConvInteger" : "MatMulInteger", {"q", "w", "zero", "w_zero"}, {"sum"});
      Model::attribute(model.node("Cast", {"sum"}, {"real"}), "to").set_integer(1);
      model.node("Mul", {"scale", "w_scale"}, {"scales"});
      model.node("Mul", {"real", "scales"}, {"scaled"});
      model.node("Add", {"bias", "scaled"}, {"added"});
      model.node("Relu", {"added"}, {"y"});
      if (is_read) model.output("sum"), model.output("scaled");
      const auto module = model.read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      const auto& nodes = module->entry_function().nodes;
      const graph::OpKind kind =
          is_image ? graph::OpKind::HybridConv2d : graph::OpKind::HybridFullyConnected;
      EXPECT_EQ(std::ranges::count(nodes, kind, &graph::Node::kind), 1);
      const auto layer = std::ranges::find(nodes, kind, &graph::Node::kind);
      EXPECT_EQ(layer->inputs[2].valid(), !is_read);
      EXPECT_EQ(
          std::ranges::any_of(
              nodes, [](const graph::Node& node) { return node.kind == graph::OpKind::Relu; }),
          false);
      std::vector<float> x(is_image ? 60 : 6);
      for (size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * static_cast<float>(i * i % 13) - 1.9f;
      graph::TensorValue given(x.size() * sizeof(float));
      std::memcpy(given.data(), x.data(), given.size());
      graph::Evaluator evaluator(*module);
      const auto outputs = evaluator.run({given});
      ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
      results.push_back(outputs->at(0));
    }
    EXPECT_EQ(results[0], results[1]) << is_image;
  }
}

// Comparisons with a number, on its scale or not, and beyond all of it: of bytes, for each of which they say the same.
TEST(OnnxIntegers, ComparisonsWithANumberAreOfBytes) {
  for (const char* kind : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    for (const float number : {0.3f, 0.0f, 0.31f, -5.0f, 40.0f, -12.5f, 12.8f})
      for (const bool is_first : {false, true}) {
        Model model;
        model.input("x", {256}, kInt8).output("y");
        const auto floats = [&](const char* name, float value) {
          std::string raw(sizeof value, '\0');
          std::memcpy(raw.data(), &value, sizeof value);
          model.constant(name, {}).set_raw(raw);
        };
        floats("scale", 0.1f), floats("number", number);
        model.constant("zero", {}, kInt8).set_raw(std::string(1, '\x03'));
        model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
        const std::vector<std::string> operands = is_first
                                                      ? std::vector<std::string>{"number", "real"}
                                                      : std::vector<std::string>{"real", "number"};
        model.node(kind, operands, {"says"});
        Model::attribute(model.node("Cast", {"says"}, {"y"}), "to").set_integer(1);
        const auto module = model.read();
        ASSERT_TRUE(module.ok()) << module.error().to_string();
        for (const graph::Node& node : module->entry_function().nodes)
          EXPECT_NE(node.kind, graph::OpKind::Dequantize) << kind << " " << number;
        graph::TensorValue given(256);
        for (size_t i = 0; i < given.size(); ++i) given[i] = static_cast<uint8_t>(i);
        graph::Evaluator evaluator(*module);
        const auto outputs = evaluator.run({given});
        ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
        for (size_t i = 0; i < given.size(); ++i) {
          float found = 0;
          std::memcpy(&found, outputs->at(0).data() + i * sizeof found, sizeof found);
          const float real = static_cast<float>(static_cast<int8_t>(given[i]) - 3) * 0.1f;
          const float a = is_first ? number : real, b = is_first ? real : number;
          const std::string name = kind;
          const bool wanted = name == "Equal"         ? a == b
                              : name == "Less"        ? a < b
                              : name == "LessOrEqual" ? a <= b
                              : name == "Greater"     ? a > b
                                                      : a >= b;
          ASSERT_EQ(found, wanted ? 1.0f : 0.0f) << kind << " " << number << " of " << real;
        }
      }
}

TEST(OnnxIntegers, KnownWeightsAreWidenedWhereAsked) {
  Model model;
  model.input("x", {1, 4}, kInt8).output("y");
  model.constant("w", {4, 2}, kInt8);
  model.node("MatMulInteger", {"x", "w"}, {"y"});
  const std::string text = model.raw().SerializeAsString();
  for (const bool widen : {false, true}) {
    ImportOptions options;
    options.file = "m.onnx", options.widen_weights = widen;
    const auto module =
        import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto& nodes = module->entry_function().nodes;
    const graph::OpKind kind =
        widen ? graph::OpKind::FullyConnected : graph::OpKind::HybridFullyConnected;
    EXPECT_TRUE(std::ranges::any_of(nodes, [&](const auto& node) { return node.kind == kind; }));
  }
}

TEST(OnnxIntegers, FiltersOfGroups) {
  Model model;
  model.input("x", {1, 2, 3}, kInt8).output("y");
  model.constant("w", {2, 1, 2}, kInt8).set_raw("\1\2\3\4");
  Model::attribute(model.node("ConvInteger", {"x", "w"}, {"y"}), "group").set_integer(2);
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({{1, 2, 3, 4, 5, 6}});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  int32_t sums[4];
  ASSERT_EQ(outputs->at(0).size(), sizeof sums);
  std::memcpy(sums, outputs->at(0).data(), sizeof sums);
  EXPECT_THAT(sums, testing::ElementsAre(5, 8, 32, 39));
}

TEST(OnnxIntegers, AFilterThatSumsTooMuchAtOnce) {
  Model model;
  model.input("x", {1, 1, 400}, kInt8);
  model.constant("w", {1, 1, 300}, kInt8).set_raw(std::string(300, '\x80'));
  model.output("y");
  model.constant("x_zero", {}, kInt8), model.constant("w_zero", {}, kInt8).set_raw("\x7f");
  model.node("ConvInteger", {"x", "w", "x_zero", "w_zero"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("sums more products in int32 than floats hold exactly"));
}

// y = Sigmoid(x) between 16 bits around other zero points than 0, where floats have to compute it: on a scale around 0 half of
// the operand's values would be beyond 16 bits.
TEST(OnnxQuantised, SigmoidOf16BitsAroundAnotherZeroPoint) {
  constexpr int kInt16 = 5;
  Model model(21);
  model.input("x", {3}, kInt16).output("y");
  const auto number = [&](const std::string& name, auto value, int element) {
    model.constant(name, {}, element)
        .set_raw(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  };
  number("x_scale", 2e-4f, kFloat), number("y_scale", 1.0f / 65535, kFloat);
  number("x_zero", int16_t{-30000}, kInt16), number("y_zero", int16_t{-32768}, kInt16);
  model.node("DequantizeLinear", {"x", "x_scale", "x_zero"}, {"real"});
  model.node("Sigmoid", {"real"}, {"chance"});
  model.node("QuantizeLinear", {"chance", "y_scale", "y_zero"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const int16_t given[3] = {-30000, -10000, 32767};
  std::vector<uint8_t> bytes(sizeof given);
  std::memcpy(bytes.data(), given, sizeof given);
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({bytes});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  int16_t found[3];
  ASSERT_EQ(outputs->at(0).size(), sizeof found);
  std::memcpy(found, outputs->at(0).data(), sizeof found);
  for (int i = 0; i < 3; ++i) {
    const double x = (given[i] + 30000) * 2e-4, expected = 65535 / (1 + std::exp(-x)) - 32768;
    EXPECT_NEAR(found[i], expected, 1) << i;
  }
}

// Functions of an int8 on other scales than TFLite's are rounded once.
TEST(OnnxQuantised, FunctionsOfBytesAreRoundedOnce) {
  const auto number = [](Model& model, const std::string& name, auto value, int element) {
    model.constant(name, {}, element)
        .set_raw(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  };
  const auto hard_swish = +[](double x) -> double { return x * std::clamp(x + 3, 0.0, 6.0) / 6; };
  const struct {
    const char* type;
    double (*function)(double);
    float scale;
    int8_t zero;
  } cases[] = {{"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 1.0f / 127, 0},
               {"Tanh", [](double x) { return std::tanh(x); }, 0.0063f, 20},
               {"Sqrt", [](double x) { return std::sqrt(std::max(x, 0.0)); }, 0.02f, -128},
               {"HardSwish", hard_swish, 0.03f, -100}};
  for (const auto& c : cases) {
    Model model(21);
    model.input("x", {256}, kInt8).output("y");
    number(model, "x_scale", 0.04f, kFloat), number(model, "y_scale", c.scale, kFloat);
    const int8_t x_zero = c.type == std::string("Sqrt") ? -128 : 3;
    number(model, "x_zero", x_zero, kInt8), number(model, "y_zero", c.zero, kInt8);
    model.node("DequantizeLinear", {"x", "x_scale", "x_zero"}, {"real"});
    model.node(c.type, {"real"}, {"made"});
    model.node("QuantizeLinear", {"made", "y_scale", "y_zero"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    ASSERT_EQ(module->entry_function().nodes.size(), 1u) << c.type;
    EXPECT_EQ(module->entry_function().nodes[0].kind, graph::OpKind::Lookup);
    std::vector<uint8_t> bytes(256);
    for (int i = 0; i < 256; ++i) bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(i - 128);
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({bytes});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    for (int i = 0; i < 256; ++i) {
      const double real = c.function((i - 128 - x_zero) * static_cast<double>(0.04f));
      const double steps = real / static_cast<double>(c.scale) + c.zero;
      EXPECT_NEAR(static_cast<int8_t>(outputs->at(0)[static_cast<size_t>(i)]),
                  std::clamp(steps, -128.0, 127.0), 0.5001)
          << c.type << " of " << i - 128;
    }
  }
}

// What onnxruntime's quantiser makes of a mask with -inf.
TEST(OnnxQuantised, AScaleThatIsNoNumber) {
  constexpr int kUint16 = 4;
  for (const int type : {int{kUint16}, int{kInt8}}) {
    Model model(21);
    model.input("x", {4}, type).output("y");
    const float scale = std::numeric_limits<float>::infinity();
    model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
    model.constant("zero", {}, type).set_raw(std::string(type == kInt8 ? 1 : 2, '\0'));
    model.node("DequantizeLinear", {"x", "scale", "zero"}, {"y"});
    const std::string refusal = model.refusal();
    if (type == kInt8) {
      EXPECT_EQ(refusal, "is taken");
      continue;
    }
    EXPECT_THAT(refusal, HasSubstr("has the scale inf"));
    EXPECT_THAT(refusal, HasSubstr("a large finite number (-1e4) in place of -inf"));
    Model made(21);
    made.input("x", {4}).output("y");
    made.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
    made.constant("zero", {}, type).set_raw(std::string(2, '\0'));
    made.node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
    EXPECT_THAT(made.refusal(), HasSubstr("has the scale inf"));
  }
}

// A bias of bytes without a scale is no bias of integers.
TEST(OnnxQuantised, ABiasOfPlainBytes) {
  constexpr int kUint8 = 2;
  Model model;
  model.raw().add_operator_set()->set_version(1);
  model.raw().mutable_operator_set(1)->set_domain("com.microsoft");
  model.input("x", {1, 4}, kInt8).output("y");
  model.constant("scale", {}), model.constant("zero", {}, kInt8);
  model.constant("w", {4, 3}, kInt8), model.constant("b", {3}, kInt8).set_element(kUint8);
  model.node("QGemm", {"x", "scale", "zero", "w", "scale", "zero", "b", "scale", "zero"}, {"y"})
      .set_domain("com.microsoft");
  EXPECT_NE(model.refusal(), "is taken");
}

TEST(OnnxIntegers, Uint16FromOutsideSaysWhatToDo) {
  constexpr int kUint16 = 4;
  Model model;
  model.input("x", {4}, kUint16).output("y");
  const float scale = 0.5f;
  std::string raw(sizeof scale, '\0');
  std::memcpy(raw.data(), &scale, sizeof scale);
  model.constant("scale", {}).set_raw(raw);
  model.constant("zero", {}, kUint16).set_raw(std::string("\x00\x80", 2));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
  model.node("Relu", {"real"}, {"y"});
  const auto module = model.read();
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().to_string(),
              HasSubstr("makes reals of uint16 that the model is given; let the model take floats "
                        "or int16 there"));
}

}  // namespace
}  // namespace intarsia
