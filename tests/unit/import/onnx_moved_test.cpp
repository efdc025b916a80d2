// Quantised tensors of ONNX that move: what comes before a scale is said, and behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;

// Rows of a table of unsigned bytes, turned, and then made reals: what the bytes stand for is said behind what moves them.
TEST(OnnxQuantised, BytesThatMoveBeforeTheirScaleIsSaid) {
  constexpr int kUint8 = 2;
  Model model;
  model.input("places", {2}, kInt64).input("x", {1, 2, 2}).output("y");
  model.constant("table", {3, 2}, kUint8).set_raw(std::string("\x80\x81\x82\x83\x84\x85\xff", 6));
  const float scale = 0.5f;
  model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
  model.constant("zero", {}, kUint8).set_raw(std::string("\x80", 1));
  model.node("Gather", {"table", "places"}, {"rows"});
  model.node("Transpose", {"rows"}, {"turned"});
  model.node("DequantizeLinear", {"turned", "scale", "zero"}, {"real"});
  model.node("Add", {"x", "real"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::vector<uint8_t> places(16, 0), zeros(16, 0);
  places[0] = 2;  // rows 2 and 0
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({places, zeros});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  float found[4];
  ASSERT_EQ(outputs->at(0).size(), sizeof found);
  std::memcpy(found, outputs->at(0).data(), sizeof found);
  EXPECT_THAT(found, testing::ElementsAre(2.0f, 0.0f, 2.5f, 0.5f));
}

// What is behind the moves says the scale: a mean before a reshape, as exporters end classifiers, a product before a transposition.
TEST(OnnxQuantised, ResultsThatMoveBeforeTheyAreQuantised) {
  for (const bool is_mean : {true, false}) {
    for (const bool is_read_twice : {false, true}) {
      Model model(18);
      model.input("x", {1, 4, 6, 5}, kInt8).output("y");
      const float scale = 0.5f;
      model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
      model.constant("zero", {}, kInt8).set_raw(std::string(1, '\0'));
      model.integers("axes", {2, 3}), model.integers("flat", {1, -1});
      model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
      if (is_mean) {
        model.node("ReduceMean", {"real", "axes"}, {"made"});
      } else {
        model.constant("w", {1, 1, 5, 2});
        model.node("QuantizeLinear", {"w", "scale", "zero"}, {"w_q"});
        model.node("DequantizeLinear", {"w_q", "scale", "zero"}, {"w_real"});
        model.node("MatMul", {"real", "w_real"}, {"made"});
      }
      model.node("Transpose", {"made"}, {"moved"});
      model.node("Reshape", {"moved", "flat"}, {"flattened"});
      model.node("QuantizeLinear", {"flattened", "scale", "zero"}, {"y"});
      if (is_read_twice) model.output("moved");
      const auto module = model.read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      EXPECT_EQ(std::ranges::count(module->entry_function().nodes, graph::OpKind::Quantize,
                                   &graph::Node::kind),
                is_read_twice ? 1 : 0)
          << is_mean;
    }
  }
}

// Rows over their lengths, as exporters write them: of int8 and of the result's steps they stay integers, within a step.
TEST(OnnxQuantised, RowsOverTheirLengths) {
  enum class Written { Clipped, Root, Inverse, Norm };
  constexpr int64_t kRows = 24, kCount = 16;
  for (const Written how : {Written::Clipped, Written::Root, Written::Inverse, Written::Norm})
    for (const float least : {1e-12f, 3.0f}) {
      if (how == Written::Norm && least > 1) continue;
      Model model(18);
      model.input("x", {kRows, kCount}, kInt8).output("y");
      const auto number = [&](const char* name, float value) {
        model.constant(name, {}).set_raw(std::string(reinterpret_cast<const char*>(&value), 4));
      };
      constexpr float kStep = 0.5f, kOutStep = 1.0f / 128;
      number("scale", kStep), number("out_scale", kOutStep), number("least", least);
      model.constant("zero", {}, kInt8).set_raw(std::string(1, '\0'));
      model.integers("axes", {1}), model.integers("shape", {kRows, kCount});
      model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
      if (how == Written::Clipped) {
        model.node("ReduceL2", {"real", "axes"}, {"length"});
        model.node("Clip", {"length", "least"}, {"limited"});
        model.node("Expand", {"limited", "shape"}, {"repeated"});
        model.node("Div", {"real", "repeated"}, {"normal"});
      } else if (how == Written::Norm) {
        model.node("LpNormalization", {"real"}, {"normal"});
      } else {
        model.node("Mul", {"real", "real"}, {"square"});
        model.node("ReduceSum", {"square", "axes"}, {"sum"});
        model.node("Max", {"least", "sum"}, {"limited"});
        model.node("Sqrt", {"limited"}, {"length"});
        if (how == Written::Root) {
          model.node("Div", {"real", "length"}, {"normal"});
        } else {
          model.node("Reciprocal", {"length"}, {"inverse"});
          model.node("Mul", {"real", "inverse"}, {"normal"});
        }
      }
      model.node("QuantizeLinear", {"normal", "out_scale", "zero"}, {"y"});
      const auto module = model.read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      // A limit of more than a step would change what is short.
      EXPECT_EQ(std::ranges::count(module->entry_function().nodes, graph::OpKind::Dequantize,
                                   &graph::Node::kind) == 0,
                least < 1);
      std::vector<uint8_t> bytes;
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t i = 0; i < kCount; ++i)
          bytes.push_back(
              static_cast<uint8_t>((row * row + 1) * (i * 7 - 50) / 60 % 128 * (row == 3 ? 0 : 1)));
      graph::Evaluator evaluator(*module);
      const auto outputs = evaluator.run({bytes});
      ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
      for (size_t row = 0; row < kRows; ++row) {
        double squares = 0;
        const auto real = [&](size_t i) {
          return static_cast<double>(static_cast<int8_t>(bytes[row * kCount + i])) * kStep;
        };
        for (size_t i = 0; i < kCount; ++i) squares += real(i) * real(i);
        const double limit = static_cast<double>(least);
        const double length = how == Written::Clipped ? std::max(std::sqrt(squares), limit)
                                                      : std::sqrt(std::max(squares, limit));
        for (size_t i = 0; i < kCount; ++i)
          EXPECT_NEAR(static_cast<int8_t>(outputs->at(0)[row * kCount + i]),
                      std::clamp(real(i) / length / kOutStep, -128.0, 127.0), 1)
              << row << " " << i << " " << static_cast<int>(how);
      }
    }
}

// Of 21 elements 40: the distance of two outputs is no number of 1024ths, and what that misses adds up to more than a step.
// Twice as many are exact, and stay integers.
TEST(OnnxQuantised, AResizingThatIntegersMisplaceIsOfFloats) {
  for (const int64_t width : {42, 40}) {
    Model model;
    model.input("x", {1, 1, 1, 21}, kInt8).output("y");
    const float scale = 0.5f;
    model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
    model.constant("zero", {}, kInt8).set_raw(std::string(1, '\0'));
    model.integers("size", {1, 1, 1, width});
    model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
    Model::attribute(model.node("Resize", {"real", "", "", "size"}, {"larger"}), "mode")
        .set_text("linear");
    model.node("QuantizeLinear", {"larger", "scale", "zero"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto& nodes = module->entry_function().nodes;
    EXPECT_EQ(std::ranges::count(nodes, graph::OpKind::Dequantize, &graph::Node::kind),
              width == 42 ? 0 : 1);
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 21; ++i) bytes.push_back(i % 2 == 0 ? 128 : 127);  // -128, 127
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({bytes});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    ASSERT_EQ(outputs->at(0).size(), static_cast<size_t>(width));
    for (int64_t i = 0; i < width; ++i) {
      const double place = std::clamp(
          (static_cast<double>(i) + 0.5) * 21 / static_cast<double>(width) - 0.5, 0.0, 20.0);
      const int low = static_cast<int>(place);
      const auto value = [](int at) { return at % 2 == 0 ? -128.0 : 127.0; };
      const double expected = value(low) + (place - low) * (value(low + 1) - value(low));
      EXPECT_NEAR(static_cast<int8_t>(outputs->at(0)[static_cast<size_t>(i)]), expected, 1) << i;
    }
  }
}

}  // namespace
}  // namespace intarsia
