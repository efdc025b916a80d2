// Operators on the bytes themselves, between QuantizeLinear and DequantizeLinear, as files of quantised operators have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kUint8 = 2;
constexpr uint8_t kBytes[8] = {0, 200, 7, 130, 255, 3, 129, 255};

void scalar(Model& model, const std::string& name, uint8_t value) {
  model.constant(name, {}, kInt8).set_raw(std::string(1, static_cast<char>(value)));
  model.graph().mutable_initialiser(model.graph().initialiser_size() - 1)->set_element(kUint8);
}

std::vector<uint8_t> bytes_of_result(const Model& model, const std::vector<uint8_t>& given) {
  const auto module = model.read();
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({given});
  EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
  if (!outputs.ok()) return {};
  return outputs->at(0);
}

// [2,4] of the bytes through an operator, as the file's own type: made of floats, or an input.
std::vector<uint8_t> of_bytes(const std::string& type, bool are_quantised,
                              const std::vector<std::string>& more,
                              const std::function<void(Model&, format::Node&)>& with = {}) {
  Model model(17);
  model.input("x", {2, 4}, are_quantised ? kFloat : kUint8).output("y");
  const float scale = 0.5f;
  model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
  scalar(model, "zero", 100), scalar(model, "low", 5), scalar(model, "high", 200);
  if (are_quantised) model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  std::vector<std::string> operands{are_quantised ? "q" : "x"};
  operands.insert(operands.end(), more.begin(), more.end());
  format::Node& node = model.node(type, operands, {"y"});
  if (with) with(model, node);
  std::vector<uint8_t> given(kBytes, kBytes + 8);
  if (are_quantised) {
    given.resize(8 * sizeof(float));
    for (size_t i = 0; i < 8; ++i) {
      const float real = static_cast<float>(kBytes[i] - 100) * scale;
      std::memcpy(given.data() + i * sizeof real, &real, sizeof real);
    }
  }
  return bytes_of_result(model, given);
}

TEST(OnnxBytes, UnsignedOnesHaveTheirOwnOrder) {
  for (const bool are_quantised : {true, false}) {
    EXPECT_THAT(of_bytes("Max", are_quantised, {"high"}),
                ElementsAre(200, 200, 200, 200, 255, 200, 200, 255));
    EXPECT_THAT(of_bytes("Min", are_quantised, {"high"}),
                ElementsAre(0, 200, 7, 130, 200, 3, 129, 200));
    EXPECT_THAT(of_bytes("Clip", are_quantised, {"low", "high"}),
                ElementsAre(5, 200, 7, 130, 200, 5, 129, 200));
    const auto along_rows = [](Model&, format::Node& node) {
      Model::attribute(node, "axes").add_integers(1);
      Model::attribute(node, "keepdims").set_integer(0);
    };
    EXPECT_THAT(of_bytes("ReduceMax", are_quantised, {}, along_rows), ElementsAre(200, 255));
    EXPECT_THAT(of_bytes("ReduceMin", are_quantised, {}, along_rows), ElementsAre(0, 3));
    const auto places = [&](const char* type, bool last) {
      const auto made = of_bytes(type, are_quantised, {}, [&](Model&, format::Node& node) {
        Model::attribute(node, "axis").set_integer(1);
        Model::attribute(node, "select_last_index").set_integer(last ? 1 : 0);
      });
      EXPECT_EQ(made.size(), 16u);
      return made.size() == 16 ? std::vector<int>{made[0], made[8]} : std::vector<int>{};
    };
    EXPECT_THAT(places("ArgMax", false), ElementsAre(1, 0));
    EXPECT_THAT(places("ArgMax", true), ElementsAre(1, 3));
    EXPECT_THAT(places("ArgMin", false), ElementsAre(0, 1));
  }
}

TEST(OnnxBytes, ARectifierOfSignedOnes) {
  Model model(17);
  model.input("x", {4}, kInt8).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(bytes_of_result(model, {5, 0x80, 0, 0xff}), ElementsAre(5, 0, 0, 0));
}

// Bytes on two scales are compared as bytes, which no operator on reals does.
TEST(OnnxBytes, OfTwoScales) {
  Model model(17);
  model.input("x", {2}).output("y");
  const float coarse = 1.0f, fine = 0.5f;
  model.constant("coarse", {}).set_raw(std::string(reinterpret_cast<const char*>(&coarse), 4));
  model.constant("fine", {}).set_raw(std::string(reinterpret_cast<const char*>(&fine), 4));
  scalar(model, "zero", 10);
  model.node("QuantizeLinear", {"x", "coarse", "zero"}, {"a"});
  model.node("QuantizeLinear", {"x", "fine", "zero"}, {"b"});
  model.node("Max", {"a", "b"}, {"y"});
  std::vector<uint8_t> given(8);
  const float reals[2] = {20, -4};
  std::memcpy(given.data(), reals, sizeof reals);
  EXPECT_THAT(bytes_of_result(model, given), ElementsAre(50, 6));
}

TEST(OnnxBytes, MoreScalesThanElements) {
  const auto refusal = [](std::vector<int64_t> shape, bool dequantises) {
    Model model(17);
    model.input("x", std::move(shape), dequantises ? kInt8 : kFloat).output("y");
    model.constant("scale", {6}), model.constant("zero", {6}, kInt8);
    const char* type = dequantises ? "DequantizeLinear" : "QuantizeLinear";
    Model::attribute(model.node(type, {"x", "scale", "zero"}, {"y"}), "axis").set_integer(0);
    return model.refusal();
  };
  for (const bool dequantises : {true, false}) {
    EXPECT_THAT(refusal({1, 6}, dequantises),
                HasSubstr("has 6 scales along axis 0 of [1,6], which has 1 element; set the "
                          "attribute axis = 1"));
    EXPECT_THAT(refusal({3, 2}, dequantises),
                HasSubstr("has 6 scales along axis 0 of [3,2], which has 3 elements; quantise"));
    EXPECT_EQ(refusal({6, 2}, dequantises), "is taken");
  }
}

// Of 3 elements 7: the reals, cut off.
TEST(OnnxBytes, UnsignedOnesAreResized) {
  Model model(17);
  model.input("x", {1, 1, 1, 3}, kUint8).output("y");
  model.integers("size", {1, 1, 1, 7});
  Model::attribute(model.node("Resize", {"x", "", "", "size"}, {"y"}), "mode").set_text("linear");
  EXPECT_THAT(bytes_of_result(model, {0, 255, 11}), ElementsAre(0, 36, 145, 255, 150, 45, 11));
}

// A result whose steps are finer than the operand's is blended in floats: a quarter of the way from 0 to 13 is no step of the operand.
TEST(OnnxBytes, AreResizedToFinerSteps) {
  for (const bool finer : {true, false}) {
    Model model(17);
    model.input("x", {1, 1, 1, 2}, kUint8).output("y");
    const auto scalar_real = [&](const char* name, float value) {
      model.constant(name, {}).set_raw(std::string(reinterpret_cast<const char*>(&value), 4));
    };
    scalar_real("coarse", 2.0f), scalar_real("fine", finer ? 0.25f : 2.0f);
    scalar(model, "zero", 0);
    model.integers("size", {1, 1, 1, 4});
    model.node("DequantizeLinear", {"x", "coarse", "zero"}, {"real"});
    Model::attribute(model.node("Resize", {"real", "", "", "size"}, {"larger"}), "mode")
        .set_text("linear");
    model.node("QuantizeLinear", {"larger", "fine", "zero"}, {"y"});
    if (finer)
      EXPECT_THAT(bytes_of_result(model, {0, 13}), ElementsAre(0, 26, 78, 104));
    else
      EXPECT_THAT(bytes_of_result(model, {0, 13}), ElementsAre(0, 3, 10, 13));
  }
}

// A padding with the zero point is one of zeros; another one is its own.
TEST(OnnxBytes, PaddedUnsignedOnes) {
  for (const bool with_zero : {true, false}) {
    Model model(17);
    model.input("x", {2}).output("y");
    const float scale = 0.5f;
    model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&scale), 4));
    scalar(model, "zero", 100), scalar(model, "other", 7);
    model.integers("amounts", {1, 1});
    model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    model.node("Pad", {"q", "amounts", with_zero ? "zero" : "other"}, {"p"});
    model.node("DequantizeLinear", {"p", "scale", "zero"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto kind = with_zero ? graph::OpKind::Pad : graph::OpKind::PadV2;
    EXPECT_EQ(std::ranges::count(module->entry_function().nodes, kind, &graph::Node::kind), 1);
    const float reals[2] = {3, -4};
    std::vector<uint8_t> given(sizeof reals);
    std::memcpy(given.data(), reals, sizeof reals);
    const std::vector<uint8_t> bytes = bytes_of_result(model, given);
    float found[4];
    ASSERT_EQ(bytes.size(), sizeof found);
    std::memcpy(found, bytes.data(), sizeof found);
    const float end = with_zero ? 0 : -46.5f;
    EXPECT_THAT(found, ElementsAre(end, 3, -4, end));
  }
}

TEST(OnnxBytes, AVectorHasOneZeroPoint) {
  for (const size_t vector : {size_t{0}, size_t{1}}) {
    Model model;
    model.input("a", vector == 0 ? std::vector<int64_t>{4} : std::vector<int64_t>{3, 4}, kInt8);
    model.input("b", vector == 1 ? std::vector<int64_t>{4} : std::vector<int64_t>{4, 3}, kInt8);
    model.constant("one", {1}, kInt8), model.constant("three", {3}, kInt8);
    model.output("y");
    model.node("MatMulInteger",
               {"a", "b", vector == 0 ? "three" : "one", vector == 1 ? "three" : "one"}, {"y"});
    EXPECT_THAT(model.refusal(), testing::HasSubstr("has 3 zero points for a vector"));
  }
}

}  // namespace
}  // namespace intarsia
