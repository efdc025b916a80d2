// What stands between DequantizeLinear and QuantizeLinear becomes an operator of integers, wherever the quantisation comes behind operators
// that only move elements or choose some of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>

#include "onnx_values.h"

namespace intarsia {
namespace {

using namespace onnx_models;

constexpr float kFrom = 0.05f, kTo = 0.125f;
constexpr int kFromZero = -7, kToZero = 5;

void set_floats(Model& model, const std::string& name, const std::vector<int64_t>& shape,
                const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  model.constant(name, shape).set_raw(raw);
}

// Bytes "x" of the shape as the reals "real"; "y" is "made" as bytes.
Model between_bytes(const std::vector<int64_t>& shape) {
  Model model;
  model.input("x", shape, kInt8).output("y");
  set_floats(model, "from", {}, {kFrom}), set_floats(model, "to", {}, {kTo});
  model.constant("from_zero", {}, kInt8).set_raw(std::string(1, static_cast<char>(kFromZero)));
  model.constant("to_zero", {}, kInt8).set_raw(std::string(1, static_cast<char>(kToZero)));
  model.node("DequantizeLinear", {"x", "from", "from_zero"}, {"real"});
  return model;
}

void set_list(format::Node& node, const std::string& name, const std::vector<int64_t>& values) {
  format::Attribute& attribute = Model::attribute(node, name);
  for (const int64_t value : values) attribute.add_integers(value);
}

// Bytes of every value, as many as the shape has elements.
std::vector<int8_t> bytes_of(const std::vector<int64_t>& shape) {
  std::vector<int8_t> bytes(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  return bytes;
}

using Reals = std::vector<float>;

// No float is left, and the bytes are at most `steps` from what the reals are.
void expect_in_integers(const Model& model, const std::vector<int64_t>& shape,
                        const std::function<Reals(const Reals&)>& computed, int steps,
                        float scale = kTo, int zero = kToZero) {
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  for (const graph::Node& node : module->entry_function().nodes)
    for (const graph::TensorId id : node.outputs)
      EXPECT_NE(module->entry_function().tensor(id).type, DataType::Float32)
          << node.name << " (" << to_string(node.kind) << ")";
  const std::vector<int8_t> bytes = bytes_of(shape);
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({raw_values(bytes)});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  Reals x;
  for (const int8_t byte : bytes) x.push_back(kFrom * static_cast<float>(byte - kFromZero));
  const Reals expected = computed(x);
  ASSERT_EQ(outputs->at(0).size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const int real = static_cast<int>(std::nearbyint(expected[i] / scale)) + zero;
    EXPECT_NEAR(static_cast<int8_t>(outputs->at(0)[i]), std::clamp(real, -128, 127), steps) << i;
  }
}

// A sum along the last axis, which [1,6,4] becomes [1,6,1] by.
Reals sums_of_four(const Reals& x) {
  Reals sums;
  for (size_t i = 0; i < x.size(); i += 4) sums.push_back(x[i] + x[i + 1] + x[i + 2] + x[i + 3]);
  return sums;
}

TEST(OnnxQuantisedBehind, BehindWhatMovesElements) {
  const std::vector<int64_t> shape = {1, 6, 4};
  for (const char* moved : {"Expand", "Gather", "Slice", "Tile"}) {
    Model model = between_bytes(shape);
    model.integers("last", {2}), model.integers("wide", {1, 6, 2}),
        model.integers("times", {1, 1, 2});
    model.integers("zeros", {0, 0}), model.integers("ends", {6, 1}), model.integers("axes", {1, 2});
    model.node("ReduceSum", {"real", "last"}, {"sum"});
    if (moved == std::string("Expand"))
      model.node(moved, {"sum", "wide"}, {"made"});
    else if (moved == std::string("Gather"))
      Model::attribute(model.node(moved, {"sum", "zeros"}, {"made"}), "axis").set_integer(2);
    else if (moved == std::string("Slice"))
      model.node(moved, {"sum", "zeros", "ends", "axes"}, {"made"});
    else
      model.node(moved, {"sum", "times"}, {"made"});
    model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
    expect_in_integers(
        model, shape,
        [&](const Reals& x) {
          Reals made;
          for (const float sum : sums_of_four(x))
            made.insert(made.end(), moved == std::string("Slice") ? 1 : 2, sum);
          return made;
        },
        1);
  }
}

// Bytes that are moved before they are reals, as tf2onnx writes a network's input: with long names, and for several layers.
TEST(OnnxQuantisedBehind, BytesThatAreMovedFirst) {
  for (const bool is_shared : {false, true}) {
    Model model = between_bytes({1, 6, 4});
    const std::string moved = "functional/" + std::string(150, 'm');
    model.integers("image", {1, 2, 3, 4});
    model.node("Reshape", {"x", "image"}, {moved});
    const auto layer = [&](const std::string& name, const std::string& result) {
      set_list(model.node("Transpose", {moved}, {name}), "perm", {0, 3, 1, 2});
      model.node("DequantizeLinear", {name, "from", "from_zero"}, {name + "_real"});
      set_list(model.node("AveragePool", {name + "_real"}, {name + "_mean"}), "kernel_shape",
               {1, 3});
      model.node("QuantizeLinear", {name + "_mean", "to", "to_zero"}, {result});
    };
    layer("first", "y");
    if (is_shared) model.output("z"), layer("second", "z");
    expect_in_integers(
        model, {1, 6, 4},
        [](const Reals& x) {
          Reals means;
          for (size_t channel = 0; channel < 4; ++channel)
            for (size_t row = 0; row < 24; row += 12)
              means.push_back((x[row + channel] + x[row + 4 + channel] + x[row + 8 + channel]) / 3);
          return means;
        },
        1);
  }
}

// The greatest of rounded numbers is the greatest one, rounded; and a limit may come before or behind.
TEST(OnnxQuantisedBehind, BehindWhatKeepsTheOrder) {
  const std::vector<int64_t> shape = {1, 6, 4};
  Model model = between_bytes(shape);
  model.integers("last", {2});
  model.node("ReduceSum", {"real", "last"}, {"sum"});
  set_list(model.node("MaxPool", {"sum"}, {"most"}), "kernel_shape", {1});
  model.node("Relu", {"most"}, {"made"});
  model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
  expect_in_integers(
      model, shape,
      [](const Reals& x) {
        Reals made = sums_of_four(x);
        for (float& each : made) each = std::max(each, 0.0f);
        return made;
      },
      1);
}

TEST(OnnxQuantisedBehind, WhereEverythingThatReadsItDoesSoAlike) {
  const std::vector<int64_t> shape = {1, 6, 4};
  for (const bool alike : {true, false}) {
    Model model = between_bytes(shape);
    model.integers("last", {2});
    model.output("other");
    model.node("ReduceSum", {"real", "last"}, {"sum"});
    model.node("QuantizeLinear", {"sum", "to", "to_zero"}, {"y"});
    model.node("QuantizeLinear", {"sum", alike ? "to" : "from", "to_zero"}, {"other"});
    if (alike) {
      expect_in_integers(model, shape, sums_of_four, 1);
      continue;
    }
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto& nodes = module->entry_function().nodes;
    EXPECT_EQ(std::ranges::count(nodes, graph::OpKind::Dequantize, &graph::Node::kind), 1);
  }
}

// Whose places rounding would make equal.
TEST(OnnxQuantisedBehind, NotBeforePlacesOfMaxima) {
  Model model = between_bytes({1, 6, 4});
  model.integers("last", {2});
  model.output("places");
  model.node("ReduceSum", {"real", "last"}, {"sum"});
  set_list(model.node("MaxPool", {"sum"}, {"made", "places"}), "kernel_shape", {1});
  model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto& nodes = module->entry_function().nodes;
  EXPECT_EQ(std::ranges::count(nodes, graph::OpKind::Dequantize, &graph::Node::kind), 1);
}

// Of branches whose sum is averaged, as in networks that choose among kernels.
TEST(OnnxQuantisedBehind, AveragesOfSums) {
  const std::vector<int64_t> shape = {1, 2, 3, 4};
  Model model = between_bytes(shape);
  model.integers("first", {1});
  model.node("ReduceSum", {"real", "first"}, {"sum"});
  set_list(model.node("ReduceMean", {"sum"}, {"made"}), "axes", {2, 3});
  model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
  expect_in_integers(
      model, shape,
      [](const Reals& x) {
        float sum = 0;
        for (const float each : x) sum += each;
        return Reals{sum / 12};
      },
      1);
}

// An average keeps seven more bits for the function behind it.
TEST(OnnxQuantisedBehind, FunctionsOfAverages) {
  const std::vector<int64_t> shape = {1, 2, 3, 4};
  Model model = between_bytes(shape);
  set_list(model.node("ReduceMean", {"real"}, {"mean"}), "axes", {2, 3});
  model.node("Sigmoid", {"mean"}, {"made"});
  model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
  expect_in_integers(
      model, shape,
      [](const Reals& x) {
        Reals made;
        for (size_t channel = 0; channel < 2; ++channel) {
          float sum = 0;
          for (size_t i = 0; i < 12; ++i) sum += x[channel * 12 + i];
          made.push_back(1 / (1 + std::exp(-sum / 12)));
        }
        return made;
      },
      1);
}

TEST(OnnxQuantisedBehind, ReductionsOfOnePlaceMoveElements) {
  const std::vector<int64_t> shape = {1, 6, 1, 4};
  for (const char* type : {"ReduceMean", "ReduceMax"}) {
    Model model = between_bytes(shape);
    format::Node& node = model.node(type, {"real"}, {"made"});
    set_list(node, "axes", {2}), Model::attribute(node, "keepdims").set_integer(0);
    model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
    expect_in_integers(
        model, shape, [](const Reals& x) { return x; }, 1);
  }
}

// As quantisers write a layer that look at its inputs alone: weights stay bytes, and the floats are what the exact sums say.
TEST(OnnxQuantisedBehind, FloatsOfLayersOfBytes) {
  constexpr int64_t kDepth = 6, kColumns = 2;
  for (const bool has_bias : {false, true})
    for (const std::string type : {"Conv", "Gemm", "MatMul"}) {
      const bool is_image = type == "Conv";
      const std::vector<int64_t> shape =
          is_image ? std::vector<int64_t>{1, kDepth, 1, 5} : std::vector<int64_t>{5, kDepth};
      if (has_bias && type == "MatMul") continue;
      Model model = between_bytes(shape);
      model.raw().mutable_graph()->mutable_output(0)->set_name("made");
      std::string weights;
      for (int64_t i = 0; i < kDepth * kColumns; ++i)
        weights.push_back(static_cast<char>(i * 23 % 256 - 128));
      model
          .constant("bytes",
                    is_image ? std::vector<int64_t>{kColumns, kDepth, 1, 1}
                             : std::vector<int64_t>{kDepth, kColumns},
                    kInt8)
          .set_raw(weights);
      set_floats(model, "of_weights", {}, {0.25f}), set_floats(model, "bias", {2}, {0.5f, -3});
      model.node("DequantizeLinear", {"bytes", "of_weights"}, {"weights"});
      std::vector<std::string> operands = {"real", "weights"};
      if (has_bias) operands.push_back("bias");
      model.node(type, operands, {"made"});
      const auto module = model.read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      for (const graph::Tensor& tensor : module->entry_function().tensors)
        EXPECT_FALSE(tensor.constant.valid() && tensor.type == DataType::Float32 &&
                     element_count(tensor.shape) >= kDepth)
            << tensor.name;
      const std::vector<int8_t> bytes = bytes_of(shape);
      const std::vector<float> made = floats_of(model, {raw_values(bytes)});
      ASSERT_EQ(made.size(), 5U * kColumns);
      for (size_t row = 0; row < 5; ++row)
        for (size_t column = 0; column < kColumns; ++column) {
          int sum = 0;
          for (size_t k = 0; k < kDepth; ++k)
            sum += (bytes[is_image ? k * 5 + row : row * kDepth + k] - kFromZero) *
                   static_cast<int8_t>(
                       weights[is_image ? column * kDepth + k : k * kColumns + column]);
          const float offset = !has_bias ? 0 : column == 0 ? 0.5f : -3;
          EXPECT_NEAR(made[is_image ? column * 5 + row : row * kColumns + column],
                      static_cast<float>(sum) * (kFrom * 0.25f) + offset, 1e-3f)
              << type;
        }
    }
}

// What PyTorch's own quantiser makes of a linear layer on sequences: the product, a factor and a bias of floats, and integers behind them.
TEST(OnnxQuantisedBehind, ProductsWithAFactorAndABias) {
  const std::vector<int64_t> shape = {1, 5, 3};
  Model model = between_bytes(shape);
  model.constant("bytes", {3, 2}, kInt8).set_raw(std::string("\x10\xf0\x7f\x05\x80\x33", 6));
  set_floats(model, "of_weights", {}, {0.01f}), set_floats(model, "bias", {2}, {0.5f, -3});
  set_floats(model, "factor", {}, {0.75f});
  model.node("DequantizeLinear", {"bytes", "of_weights"}, {"weights"});
  model.node("MatMul", {"real", "weights"}, {"product"});
  model.node("Add", {"bias", "product"}, {"sum"});
  model.node("Mul", {"sum", "factor"}, {"scaled"});
  model.node("Relu", {"scaled"}, {"made"});
  model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
  expect_in_integers(
      model, shape,
      [](const Reals& x) {
        const Reals weights = {16, -16, 127, 5, -128, 51}, bias = {0.5f, -3};
        Reals made;
        for (size_t row = 0; row < 5; ++row)
          for (size_t column = 0; column < 2; ++column) {
            float sum = bias[column];
            for (size_t k = 0; k < 3; ++k) sum += x[row * 3 + k] * 0.01f * weights[k * 2 + column];
            made.push_back(std::max(sum * 0.75f, 0.0f));
          }
        return made;
      },
      1);
}

// Of any rank, and with channels whose factor is 0 or next to it.
TEST(OnnxQuantisedBehind, BatchNormalization) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{5, 3}, {2, 3, 7}, {1, 3, 4, 5}, {2, 3, 2, 2, 3}}) {
    Model model = between_bytes(shape);
    const Reals factor = {1.5f, 0, 1e-12f}, offset = {-1, 2.2f, 0.4f};
    set_floats(model, "factor", {3}, factor), set_floats(model, "offset", {3}, offset);
    set_floats(model, "mean", {3}, {0, 0, 0}), set_floats(model, "variance", {3}, {1, 1, 1});
    format::Node& node = model.node("BatchNormalization",
                                    {"real", "factor", "offset", "mean", "variance"}, {"made"});
    Model::attribute(node, "epsilon").set_real(0);
    model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
    const size_t places =
        static_cast<size_t>(element_count(std::vector<int64_t>(shape.begin() + 2, shape.end())));
    expect_in_integers(
        model, shape,
        [&](const Reals& x) {
          Reals made;
          for (size_t i = 0; i < x.size(); ++i)
            made.push_back(x[i] * factor[i / places % 3] + offset[i / places % 3]);
          return made;
        },
        1);
  }
}

// A mask that hides nothing, as exporters write it: zeros with a scale that has nothing to do with the other operand's.
TEST(OnnxQuantised, WhatChangesNothingIsNoOperator) {
  struct Case {
    const char* type;
    int8_t number;
    std::vector<std::string> operands;
  };
  for (const Case& each : {Case{"Add", 0, {"real", "none"}}, Case{"Add", 0, {"none", "real"}},
                           Case{"Sub", 0, {"real", "none"}}, Case{"Mul", 1, {"none", "real"}},
                           Case{"Div", 1, {"real", "none"}}}) {
    SCOPED_TRACE(each.type);
    Model model = between_bytes({1, 6, 4});
    set_floats(model, "none_scale", {}, {1.0f});
    model.constant("none_zero", {}, kInt8).set_raw(std::string(1, '\3'));
    model.constant("none_bytes", {1, 4}, kInt8)
        .set_raw(std::string(4, static_cast<char>(each.number + 3)));
    model.node("DequantizeLinear", {"none_bytes", "none_scale", "none_zero"}, {"none"});
    model.node(each.type, each.operands, {"made"});
    model.node("QuantizeLinear", {"made", "to", "to_zero"}, {"y"});
    expect_in_integers(
        model, {1, 6, 4}, [](const Reals& x) { return x; }, 1);
    EXPECT_EQ(model.read()->entry_function().nodes.size(), 1U);
  }
}

// What is left where the constant is larger, or is what the other one is taken from, or holds anything else.
TEST(OnnxQuantised, WhatChangesSomethingIs) {
  for (const auto& [type, number, shape] :
       {std::tuple{"Sub", 0.0f, Shape{1, 2}}, std::tuple{"Add", 0.0f, Shape{3, 2}},
        std::tuple{"Mul", 0.0f, Shape{1, 2}}}) {
    Model model;
    model.input("x", {1, 2}).output("y");
    set_floats(model, "known", shape, Reals(static_cast<size_t>(element_count(shape)), number));
    model.node(type, {"known", "x"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(module->entry_function().nodes.size(), 1U) << type;
  }
}

// Of one byte: the float function for each of the 256 values, rounded once. The scales leave no result halfway between two steps.
TEST(OnnxQuantised, FunctionsOfAByteAreRoundedOnce) {
  const auto of = [](const std::function<double(double)>& function) {
    return [function](const Reals& x) {
      Reals made;
      for (const float each : x) made.push_back(static_cast<float>(function(each)));
      return made;
    };
  };
  struct Case {
    const char* type;
    std::function<double(double)> function;
    float scale;
    int8_t zero;
  };
  const auto leaky = [](double x) { return x > 0 ? x : static_cast<double>(0.07f) * x; };
  for (const Case& each :
       {Case{"LeakyRelu", leaky, 0.0613f, -101}, Case{"PRelu", leaky, 0.0217f, 13},
        Case{"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 1.0f / 256, -128},
        Case{"Tanh", [](double x) { return std::tanh(x); }, 1.0f / 128, 0}}) {
    SCOPED_TRACE(each.type);
    Model model = between_bytes({1, 256});
    set_floats(model, "slope", {1}, {0.07f});
    set_floats(model, "scale", {}, {each.scale});
    model.constant("zero", {}, kInt8).set_raw(std::string(1, static_cast<char>(each.zero)));
    const bool has_slopes = std::string(each.type) == "PRelu";
    format::Node& node = model.node(
        each.type,
        has_slopes ? std::vector<std::string>{"real", "slope"} : std::vector<std::string>{"real"},
        {"made"});
    if (std::string(each.type) == "LeakyRelu") Model::attribute(node, "alpha").set_real(0.07f);
    model.node("QuantizeLinear", {"made", "scale", "zero"}, {"y"});
    expect_in_integers(model, {1, 256}, of(each.function), 0, each.scale, each.zero);
  }
}

}  // namespace
}  // namespace intarsia
