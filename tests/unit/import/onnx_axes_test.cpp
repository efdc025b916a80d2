// ONNX: tensors of more axes than the IR has, and of no element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "onnx_values.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

using Axes = std::vector<int64_t>;

int64_t product(const Axes& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// Where each element of a transposition comes from.
std::vector<float> transposed(const std::vector<float>& values, const Axes& shape,
                              const Axes& order) {
  std::vector<float> result;
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    int64_t place = 0, rest = i;
    for (size_t k = order.size(); k-- > 0;) {
      const auto axis = static_cast<size_t>(order[k]);
      const int64_t step = product({shape.begin() + order[k] + 1, shape.end()});
      place += rest % shape[axis] * step, rest /= shape[axis];
    }
    result.push_back(values[static_cast<size_t>(place)]);
  }
  return result;
}

struct Moved {
  Axes given, many, order;
  size_t transpositions;  // that it takes
};

// Windows of a volume, a volume whose channels become pixels, all axes the other way round, and nothing but ones.
TEST(OnnxAxes, MoreThanTheIrHasAreTransposed) {
  const Moved cases[] = {
      {{2, 4, 4, 6, 3}, {2, 2, 2, 2, 2, 2, 3, 3}, {0, 1, 3, 5, 2, 4, 6, 7}, 1},
      {{1, 16, 3, 2, 2}, {1, 2, 2, 2, 2, 3, 2, 2}, {0, 1, 5, 2, 6, 3, 7, 4}, 2},
      {{128}, {2, 2, 2, 2, 2, 2, 2}, {6, 5, 4, 3, 2, 1, 0}, 3},
      {{6}, {1, 2, 1, 1, 3, 1, 1}, {6, 1, 5, 2, 3, 4, 0}, 0},
  };
  for (const Moved& each : cases) {
    Model model;
    model.input("x", each.given).output("y");
    Axes back;
    for (const int64_t axis : each.order) back.push_back(each.many[static_cast<size_t>(axis)]);
    const Axes fewer = {product({back.begin(), back.begin() + 3}), -1};
    model.integers("many", each.many), model.integers("fewer", fewer);
    model.node("Reshape", {"x", "many"}, {"tall"});
    auto& transpose = model.node("Transpose", {"tall"}, {"moved"});
    auto& order = Model::attribute(transpose, "perm");
    for (const int64_t axis : each.order) order.add_integers(axis);
    model.node("Reshape", {"moved", "fewer"}, {"y"});
    const auto count = static_cast<size_t>(product(each.given));
    EXPECT_EQ(floats_of(model, {raw_values(counted(count))}),
              transposed(counted(count), each.many, each.order));
    const auto module = model.read();
    ASSERT_TRUE(module.ok());
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(module->entry_function().nodes,
                                                     graph::OpKind::Transpose, &graph::Node::kind)),
              each.transpositions);
  }
}

// A bias for each row and one for each column, as relative positions of a volume's windows have it.
TEST(OnnxAxes, ElementsOfMoreThanTheIrHas) {
  Model model;
  model.input("x", {12, 30}).input("rows", {12, 6}).input("columns", {12, 5}).output("y");
  model.integers("many", {1, 1, 3, 4, 2, 3, 5}), model.integers("ends", {1, 1, 3, 4, 2, 3, 1});
  model.integers("starts", {1, 1, 3, 4, 1, 1, 5}), model.integers("fewer", {12, 30});
  model.node("Reshape", {"x", "many"}, {"tall"});
  model.node("Reshape", {"rows", "ends"}, {"tall_rows"});
  model.node("Reshape", {"columns", "starts"}, {"tall_columns"});
  model.node("Add", {"tall", "tall_rows"}, {"one"});
  model.node("Add", {"one", "tall_columns"}, {"both"});
  model.node("Neg", {"both"}, {"negative"});
  model.node("Reshape", {"negative", "fewer"}, {"y"});
  const std::vector<float> x = counted(360), rows = counted(72), columns = counted(60);
  std::vector<float> expected;
  for (size_t i = 0; i < x.size(); ++i)
    expected.push_back(-(x[i] + rows[i / 5] + columns[i / 30 * 5 + i % 5]));
  EXPECT_EQ(floats_of(model, {raw_values(x), raw_values(rows), raw_values(columns)}), expected);
}

// Repeated along three axes of seven, as a volume is enlarged.
TEST(OnnxAxes, RepeatedAlongMoreThanTheIrHas) {
  Model model;
  model.input("x", {3, 2, 2, 2}).output("y");
  model.integers("many", {3, 2, 1, 2, 1, 2, 1}), model.integers("repeated", {3, 2, 2, 2, 3, 2, 2});
  model.integers("fewer", {-1});
  model.node("Reshape", {"x", "many"}, {"tall"});
  model.node("Expand", {"tall", "repeated"}, {"taller"});
  model.node("Reshape", {"taller", "fewer"}, {"y"});
  std::vector<float> expected;
  for (int64_t i = 0; i < 3 * 4 * 6 * 4; ++i) {
    const int64_t channel = i / 96, row = i / 48 % 2, column = i / 12 % 2, depth = i / 2 % 2;
    expected.push_back(static_cast<float>(((channel * 2 + row) * 2 + column) * 2 + depth));
  }
  EXPECT_EQ(floats_of(model, {raw_values(counted(24))}), expected);
}

TEST(OnnxAxes, QuantisedBetween) {
  Model model;
  model.input("x", {2, 4, 4, 6}, kInt8).output("y");
  const float step = 0.5f;
  model.constant("scale", {}).set_raw(std::string(reinterpret_cast<const char*>(&step), 4));
  model.constant("zero", {}, kInt8).set_raw(std::string(1, '\0'));
  model.integers("many", {1, 2, 2, 2, 2, 2, 2, 3}), model.integers("fewer", {32, 6});
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
  model.node("Reshape", {"real", "many"}, {"tall"});
  model.node("QuantizeLinear", {"tall", "scale", "zero"}, {"bytes"});
  model.node("DequantizeLinear", {"bytes", "scale", "zero"}, {"again"});
  auto& order = Model::attribute(model.node("Transpose", {"again"}, {"moved"}), "perm");
  for (const int64_t axis : {0, 1, 2, 4, 6, 3, 5, 7}) order.add_integers(axis);
  model.node("Reshape", {"moved", "fewer"}, {"back"});
  model.node("QuantizeLinear", {"back", "scale", "zero"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  for (const graph::Node& node : module->entry_function().nodes)
    EXPECT_TRUE(node.kind == graph::OpKind::Reshape || node.kind == graph::OpKind::Transpose);
  std::vector<uint8_t> bytes(192);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({bytes});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  const std::vector<float> expected =
      transposed(counted(192), {1, 2, 2, 2, 2, 2, 2, 3}, {0, 1, 2, 4, 6, 3, 5, 7});
  EXPECT_TRUE(std::ranges::equal(outputs->at(0), expected));
}

TEST(OnnxAxes, MoreThanTheIrHasWhereTheyAreRefused) {
  const auto refusal = [](const std::string& type, const Axes& many) {
    Model model;
    model.input("x", {2, 64}).output("y");
    model.integers("many", many);
    model.node("Reshape", {"x", "many"}, {"tall"});
    model.node(type, {"tall"}, {"y"});
    return model.refusal();
  };
  EXPECT_THAT(refusal("Softmax", {2, 2, 2, 2, 2, 2, 2}),
              HasSubstr("reads 'tall', which has 7 axes; 6 are possible here"));
  EXPECT_THAT(refusal("Neg", {2, 2, 2, 2, 2, 2, 2}),
              HasSubstr("model output 'y': has 7 axes; 6 are possible"));
}

// A roll by nothing: all of it, and the rest behind it.
TEST(OnnxNothing, IsBehindAll) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("zero", {0}), model.integers("end", {3}), model.integers("axis", {1});
  model.node("Slice", {"x", "zero", "end", "axis"}, {"all"});
  model.node("Slice", {"x", "end", "end", "axis"}, {"rest"});
  model.node("Neg", {"rest"}, {"negative"});
  Model::attribute(model.node("Concat", {"negative", "all"}, {"y"}), "axis").set_integer(1);
  EXPECT_EQ(floats_of(model, {raw_values(counted(6))}), counted(6));
}

Model with_cache(int64_t extent) {
  Model model;
  model.input("past", {1, 2, extent, 4}).input("x", {1, 2, 3, 4}).output("present").output("count");
  model.output("rest");
  Model::attribute(model.node("Concat", {"past", "x"}, {"present"}), "axis").set_integer(2);
  model.node("Shape", {"past"}, {"count"});
  auto& order = Model::attribute(model.node("Transpose", {"past"}, {"rest"}), "perm");
  for (const int64_t axis : {2, 0, 1, 3}) order.add_integers(axis);
  return model;
}

// Of the first step of a decoder, whose states hold nothing yet.
TEST(OnnxNothing, AsAnInputAndAnOutput) {
  for (const int64_t extent : {0, -1}) {
    Diagnostics notes;
    std::map<std::string, Shape> shapes;
    if (extent < 0) shapes["past"] = {1, 2, 0, 4};
    const auto module = with_cache(extent).read(&notes, shapes);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& entry = module->entry_function();
    ASSERT_EQ(entry.inputs.size(), 1u);
    EXPECT_EQ(entry.tensor(entry.inputs[0]).name, "x");
    ASSERT_EQ(entry.outputs.size(), 2u);
    EXPECT_EQ(entry.tensor(entry.outputs[0]).shape, (Shape{1, 2, 3, 4}));
    ASSERT_EQ(notes.items().size(), 2u);
    EXPECT_THAT(notes.items()[0].where, HasSubstr("model input 'past'"));
    EXPECT_EQ(notes.items()[0].what, "has the shape [1,2,0,4], of no element, and is left out");
    EXPECT_THAT(notes.items()[1].where, HasSubstr("model output 'rest'"));
    EXPECT_EQ(notes.items()[1].what, "has the shape [0,1,2,4], of no element, and is left out");
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({raw_values(counted(24))});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    EXPECT_EQ(outputs->at(0), raw_values(counted(24)));
    EXPECT_EQ(outputs->at(1), raw_values(Axes{1, 2, 0, 4}));
  }
}

TEST(OnnxNothing, IsMovedAndPutNowhere) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("axes", {0}), model.integers("sizes", {0, 2}), model.integers("one", {1});
  model.integers("all", {0, 30, 3});
  model.node("Slice", {"x", "one", "one"}, {"none"});
  model.node("Unsqueeze", {"none", "axes"}, {"deeper"});
  model.node("Reshape", {"none", "all"}, {"wide"});
  Model::attribute(model.node("Flatten", {"wide"}, {"rows"}), "axis").set_integer(1);
  model.node("Shape", {"rows"}, {"shape"});
  Model::attribute(model.node("Split", {"x", "sizes"}, {"nothing", "rest"}), "axis").set_integer(0);
  model.constant("places", {0, 1}, kInt64).set_raw("");
  model.node("ScatterND", {"rest", "places", "nothing"}, {"put"});
  model.node("Cast", {"shape"}, {"extents"});
  Model::attribute(*model.graph().mutable_node(model.graph().node_size() - 1), "to")
      .set_integer(kFloat);
  model.integers("end", {2});
  model.node("Slice", {"extents", "one", "end"}, {"ninety"});
  model.node("Add", {"put", "ninety"}, {"y"});
  std::vector<float> expected = counted(6);
  for (float& value : expected) value += 90;
  EXPECT_EQ(floats_of(model, {raw_values(counted(6))}), expected);
}

TEST(OnnxNothing, OfFunctionsOfElements) {
  for (const char* type : {"Relu", "LeakyRelu", "Clip", "Gelu", "Sigmoid", "Neg"}) {
    Model model;
    model.input("x", {2, 3}).output("y");
    model.integers("end", {2});
    model.node("Slice", {"x", "end", "end"}, {"none"});
    model.node(type, {"none"}, {"function"});
    Model::attribute(model.node("Concat", {"function", "x"}, {"y"}), "axis").set_integer(0);
    EXPECT_EQ(floats_of(model, {raw_values(counted(6))}), counted(6)) << type;
  }
}

TEST(OnnxNothing, WhereElementsAreNeeded) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("end", {2});
  model.node("Slice", {"x", "end", "end"}, {"none"});
  Model::attribute(model.node("Softmax", {"none"}, {"y"}), "axis").set_integer(0);
  EXPECT_THAT(model.refusal(), HasSubstr("reads 'none', which has the shape [0,3], of no element"));
}

// The portable C has no such conversion.
TEST(OnnxWhole, FloatsBecomeNumbersOf64BitsBy32) {
  Model model;
  model.input("x", {4}).output("y");
  Model::attribute(model.node("Cast", {"x"}, {"y"}), "to").set_integer(kInt64);
  Diagnostics notes;
  const auto module = model.read(&notes);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& entry = module->entry_function();
  ASSERT_EQ(entry.nodes.size(), 2u);
  EXPECT_EQ(entry.tensor(entry.nodes[0].outputs[0]).type, DataType::Int32);
  EXPECT_EQ(notes.items().size(), 1u);
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run({raw_values(std::vector<float>{-1.5f, 0, 2.75f, 70000})});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(outputs->at(0), raw_values(Axes{-1, 0, 2, 70000}));
}

// onnxruntime's optimiser moves a transposition from above the length to below it.
TEST(OnnxAxes, TransposedRowsOverTheirLengths) {
  constexpr int64_t kRows = 5, kCount = 16;
  for (const bool alike : {true, false}) {
    Model model(18);
    model.input("x", {kCount, kRows, 1}, kInt8).output("y");
    const auto number = [&](const char* name, float value) {
      model.constant(name, {}).set_raw(std::string(reinterpret_cast<const char*>(&value), 4));
    };
    number("scale", 0.5f), number("out_scale", 1.0f / 128), number("least", 1e-12f);
    model.constant("zero", {}, kInt8).set_raw(std::string(1, '\0'));
    model.integers("axes", {0});
    const auto transpose = [&](const char* from, const char* to, const std::vector<int64_t>& axes) {
      auto& order = Model::attribute(model.node("Transpose", {from}, {to}), "perm");
      for (const int64_t axis : axes) order.add_integers(axis);
    };
    model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
    transpose("real", "moved", {2, 1, 0});
    model.node("QuantizeLinear", {"moved", "scale", "zero"}, {"bytes"});
    model.node("DequantizeLinear", {"bytes", "scale", "zero"}, {"rows"});
    model.node("ReduceL2", {"real", "axes"}, {"length"});
    transpose("length", "moved_length",
              alike ? std::vector<int64_t>{2, 1, 0} : std::vector<int64_t>{1, 2, 0});
    model.node("Clip", {"moved_length", "least"}, {"limited"});
    model.node("Div", {"rows", "limited"}, {"normal"});
    model.node("QuantizeLinear", {"normal", "out_scale", "zero"}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(std::ranges::count(module->entry_function().nodes, graph::OpKind::Dequantize,
                                 &graph::Node::kind) == 0,
              alike);
    if (!alike) continue;
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < kCount * kRows; ++i) bytes.push_back(static_cast<uint8_t>(i * i % 251));
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({bytes});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    for (size_t row = 0; row < kRows; ++row) {
      const auto element = [&](size_t i) {
        return static_cast<double>(static_cast<int8_t>(bytes[i * kRows + row]));
      };
      double squares = 0;
      for (size_t i = 0; i < kCount; ++i) squares += element(i) * element(i);
      for (size_t i = 0; i < kCount; ++i)
        EXPECT_NEAR(static_cast<int8_t>(outputs->at(0)[row * kCount + i]),
                    std::min(element(i) / std::sqrt(squares) * 128, 127.0), 1)
            << row << " " << i;
    }
  }
}

// ---- transposed convolutions of volumes ----

struct Volume {
  Axes kernel, strides, dilations, pads, extra;
  int64_t groups;
  bool is_limited;
};

// What each element adds to the result, one after another: [2,4,3,2,3] by six channels.
std::vector<double> transposed_convolution(const Volume& v, const Axes& out,
                                           const std::vector<float>& x, const std::vector<float>& w,
                                           const std::vector<float>& bias) {
  const Axes in = {2, 4, 3, 2, 3};
  const int64_t each = 6 / v.groups, window = product(v.kernel), pixels = product(out);
  std::vector<double> y;
  for (int64_t i = 0; i < 2 * 6 * pixels; ++i)
    y.push_back(static_cast<double>(bias[static_cast<size_t>(i / pixels % 6)]));
  for (int64_t i = 0; i < std::ssize(x); ++i)
    for (int64_t o = 0; o < each; ++o)
      for (int64_t k = 0; k < window; ++k) {
        const int64_t channel = i / 18 % 4, image = i / 72, at[] = {i / 6 % 3, i / 3 % 2, i % 3};
        const int64_t tap[] = {k / v.kernel[2] / v.kernel[1], k / v.kernel[2] % v.kernel[1],
                               k % v.kernel[2]};
        int64_t place = image * 6 + channel / (4 / v.groups) * each + o;
        bool is_inside = true;
        for (size_t axis = 0; axis < 3; ++axis) {
          const int64_t to =
              at[axis] * v.strides[axis] + tap[axis] * v.dilations[axis] - v.pads[axis];
          is_inside &= to >= 0 && to < out[axis];
          place = place * out[axis] + to;
        }
        if (is_inside)
          y[static_cast<size_t>(place)] +=
              static_cast<double>(x[static_cast<size_t>(i)]) *
              static_cast<double>(w[static_cast<size_t>((channel * each + o) * window + k)]);
      }
  if (v.is_limited)
    for (double& value : y) value = std::max(value, 0.0);
  return y;
}

TEST(OnnxVolumes, AreConvolvedTransposed) {
  const Volume cases[] = {
      {{3, 2, 2}, {2, 1, 2}, {1, 1, 1}, {1, 0, 0, 0, 1, 0}, {1, 0, 1}, 1, true},
      {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 0, 0}, 1, false},
      {{3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0}, 2, false},
      {{2, 3, 2}, {3, 2, 1}, {2, 2, 1}, {1, 0, 0, 0, 2, 0}, {0, 0, 0}, 2, true},
      {{1, 1, 2}, {3, 2, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {2, 1, 0}, 1, false},
  };
  for (const Volume& v : cases) {
    Model model;
    model.input("x", {2, 4, 3, 2, 3}).output("y");
    const Axes in = {3, 2, 3};
    Axes out;
    for (size_t i = 0; i < 3; ++i)
      out.push_back((in[i] - 1) * v.strides[i] + (v.kernel[i] - 1) * v.dilations[i] + 1 +
                    v.extra[i] - v.pads[i] - v.pads[i + 3]);
    const auto some = [](int64_t count, int64_t step) {
      std::vector<float> values;
      for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(i * step % 31 - 15) / 8);
      return values;
    };
    const std::vector<float> w = some(4 * 6 / v.groups * product(v.kernel), 7), bias = some(6, 5);
    Axes weights = {4, 6 / v.groups};
    weights.insert(weights.end(), v.kernel.begin(), v.kernel.end());
    const auto text = [](const std::vector<float>& values) {
      return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
    };
    model.constant("w", weights).set_raw(text(w)), model.constant("bias", {6}).set_raw(text(bias));
    auto& node = model.node("ConvTranspose", {"x", "w", "bias"}, {v.is_limited ? "whole" : "y"});
    const auto state = [&](const char* name, const Axes& values) {
      auto& attribute = Model::attribute(node, name);
      for (const int64_t value : values) attribute.add_integers(value);
    };
    state("strides", v.strides), state("dilations", v.dilations), state("pads", v.pads);
    state("output_padding", v.extra);
    Model::attribute(node, "group").set_integer(v.groups);
    if (v.is_limited) model.node("Relu", {"whole"}, {"y"});
    const std::vector<float> x = some(144, 11);
    const std::vector<double> expected = transposed_convolution(v, out, x, w, bias);
    const std::vector<float> found = floats_of(model, {raw_values(x)});
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(static_cast<double>(found[i]), expected[i], 1e-4) << i;
  }
}

}  // namespace
}  // namespace intarsia
