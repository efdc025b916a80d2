// Operators made of several: products of two activations, squares of differences, slopes by channel, sums over axes that do
// not lie beside each other, and resizing to any size.
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

struct Factor {
  Shape shape;
  int64_t zero;
};

graph::Module matrix_product(const Factor& a, const Factor& b, bool a_transposed,
                             bool b_transposed) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, a.shape, 0.021f, a.zero);
  const TensorId y = g.input(DataType::Int8, b.shape, 0.017f, b.zero);
  return g.finish(g.node(OpKind::BatchMatmul, graph::BatchMatmulAttrs{a_transposed, b_transposed},
                         {x, y}, 1, DataType::Int8, 0.043f, -11));
}

// All four layouts, with zero points between which products fit 16 bits and with others, for several heads, and for one
// matrix that all share.
TEST(Products, OfActivations) {
  Random random(41);
  constexpr int64_t kRows = 10, kShared = 18, kColumns = 7;
  const std::vector<std::pair<Shape, Shape>> batches = {
      {{}, {}}, {{3}, {3}}, {{2, 3}, {2, 3}}, {{2, 1}, {1, 3}}, {{3}, {}}, {{}, {2, 2}}};
  for (const auto& [a_batch, b_batch] : batches)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const auto& [a_zero, b_zero] : std::vector<std::pair<int64_t, int64_t>>{
                 {-128, 0}, {3, -5}, {-128, 127}, {127, -128}, {-128, -128}}) {
          Shape a = a_batch, b = b_batch;
          a.insert(a.end(), {a_transposed ? kShared : kRows, a_transposed ? kRows : kShared});
          b.insert(b.end(), {b_transposed ? kColumns : kShared, b_transposed ? kShared : kColumns});
          expect_taken_and_same(
              random, matrix_product({a, a_zero}, {b, b_zero}, a_transposed, b_transposed));
        }
}

// The ends of the range in every element: the largest products and sums that there are.
TEST(Products, OfActivationsAtTheEndsOfTheRange) {
  constexpr int64_t kShared = 300;
  for (const bool b_transposed : {false, true})
    for (const int64_t a_zero : {-128, 127})
      for (const int64_t b_zero : {-128, 0, 127}) {
        const graph::Module module = matrix_product(
            {{2, kShared}, a_zero}, {b_transposed ? Shape{3, kShared} : Shape{kShared, 3}, b_zero},
            false, b_transposed);
        for (const uint8_t a : {0x80, 0x7f})
          for (const uint8_t b : {0x80, 0x7f})
            expect_same(module,
                        {graph::TensorValue(2 * kShared, a), graph::TensorValue(3 * kShared, b)});
      }
}

graph::Module wide_product(const Shape& a, const Shape& b, bool a_transposed, bool b_transposed,
                           float out_scale) {
  Graph g;
  const TensorId x = g.input(DataType::Int16, a, 0.00021f, 0);
  const TensorId y = g.input(DataType::Int16, b, 0.00017f, 0);
  return g.finish(g.node(OpKind::BatchMatmul, graph::BatchMatmulAttrs{a_transposed, b_transposed},
                         {x, y}, 1, DataType::Int16, out_scale, 0));
}

// All four layouts and several heads, with factors of which the digits before the last one are one and two, and of which
// results are of a few bits, of all sixteen, and beyond them.
TEST(Products, OfActivationsOf16Bits) {
  Random random(48);
  constexpr int64_t kRows = 10, kShared = 18, kColumns = 7;
  const std::vector<std::pair<Shape, Shape>> batches = {
      {{}, {}}, {{2, 3}, {2, 3}}, {{2, 1}, {1, 3}}, {{3}, {}}, {{}, {2, 2}}};
  for (const auto& [a_batch, b_batch] : batches)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const float scale : {0.0002f, 0.0041f, 0.17f, 5.3f}) {
          Shape a = a_batch, b = b_batch;
          a.insert(a.end(), {a_transposed ? kShared : kRows, a_transposed ? kRows : kShared});
          b.insert(b.end(), {b_transposed ? kColumns : kShared, b_transposed ? kShared : kColumns});
          expect_taken_and_same(random, wide_product(a, b, a_transposed, b_transposed, scale));
        }
}

// Every factor from the least to the largest that is taken, with sums of any size: a row of the first operand has one
// element that is not zero, so that the sums are products of any two values.
TEST(Products, OfActivationsOf16BitsByEveryFactor) {
  Random random(49);
  constexpr int64_t kRows = 32, kColumns = 40;
  for (int shift = 20; shift <= 46; ++shift)
    for (const bool all : {false, true}) {
      const float products = 0.00021f * 0.00017f;
      const auto scale =
          static_cast<float>(std::ldexp(products, shift - 15) * random.real(1.01f, 1.99f));
      const graph::Module module = wide_product({kRows, 8}, {kColumns, 8}, false, true, scale);
      ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
      std::vector<graph::TensorValue> inputs = testing::random_inputs(random, module);
      for (size_t i = 0; !all && i < inputs[0].size(); ++i)
        if (i % 16 > 1) inputs[0][i] = 0;
      expect_same(module, inputs);
    }
}

// As many products as there may be, all of them the largest.
TEST(Products, OfActivationsOf16BitsAtTheEndsOfTheRange) {
  constexpr size_t kShared = 510;
  const auto of = [](size_t rows, uint16_t value) {
    graph::TensorValue bytes;
    for (size_t i = 0; i < rows * kShared; ++i)
      bytes.insert(bytes.end(), {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)});
    return bytes;
  };
  for (const bool b_transposed : {false, true})
    for (const float scale : {0.001f, 0.02f, 0.61f, 40.0f}) {
      const graph::Module module =
          wide_product({2, kShared}, b_transposed ? Shape{3, kShared} : Shape{kShared, 3}, false,
                       b_transposed, scale);
      for (const uint16_t a : {0x8000, 0x7fff, 0x7f7f, 0x0080})
        for (const uint16_t b : {0x8000, 0x7fff}) expect_same(module, {of(2, a), of(3, b)});
    }
}

// Many short rows in groups: one group, several, and some of each matrix; with zero points between which products fit, and others.
TEST(Products, OfActivationsOfManyShortRows) {
  Random random(50);
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{70, 5}, {5, 4}}, {{1300, 7}, {7, 6}}, {{5, 16, 8}, {5, 8, 12}}, {{3, 40, 9}, {9, 3}}};
  for (const auto& [a, b] : cases)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const auto& [a_zero, b_zero] : std::vector<std::pair<int64_t, int64_t>>{
                 {-128, 0}, {3, -5}, {-128, 127}, {127, -128}, {-128, -128}}) {
          Shape first = a, second = b;
          if (a_transposed) std::swap(first[first.size() - 2], first.back());
          if (b_transposed) std::swap(second[second.size() - 2], second.back());
          const graph::Module module =
              matrix_product({first, a_zero}, {second, b_zero}, a_transposed, b_transposed);
          expect_taken_and_same(random, module);
          EXPECT_LT(operation_count(module), 125u);
        }
}

// Thousands of rows: short ones in groups, long ones each by itself; the second operand is a part of what several share.
TEST(Products, OfActivationsOfThousandsOfRows) {
  Random random(51);
  struct Case {
    DataType type;
    int64_t rows, shared, columns;
    bool b_transposed;
  };
  for (const Case& c : {Case{DataType::Int8, 1201, 12, 30, false},
                        {DataType::Int8, 1201, 12, 30, true},
                        {DataType::Int8, 1025, 65, 64, false},
                        {DataType::Int16, 1025, 9, 20, true}}) {
    Graph g;
    const bool is_byte = c.type == DataType::Int8;
    Shape part = {1, c.shared, c.columns};
    if (c.b_transposed) std::swap(part[1], part[2]);
    const TensorId x = g.input(c.type, {c.rows, c.shared}, 0.0021f, is_byte ? -128 : 0);
    const TensorId all = g.input(c.type, {3, part[1], part[2]}, 0.0017f, is_byte ? 9 : 0);
    const TensorId y =
        g.like(OpKind::Slice, graph::SliceAttrs{{1, 0, 0}, part, {1, 1, 1}, {}}, {all})[0];
    const graph::Module module =
        g.finish(g.node(OpKind::BatchMatmul, graph::BatchMatmulAttrs{false, c.b_transposed}, {x, y},
                        1, c.type, is_byte ? 0.0043f : 0.031f, 0));
    for (const graph::Node& node : module.entry_function().nodes)
      ASSERT_EQ(refusal(module, module.entry_function(), node), "") << graph::print(module);
    expect_same(module, testing::random_inputs(random, module));
  }
}

// Two operations for all rows that are multiplied together, where products fit 16 bits. Else one more for all rows that are long, one
// more for all where the second operand is transposed and where rows are short.
TEST(Products, OperationsOfARow) {
  const auto count = [](int64_t shared, int64_t a_zero, int64_t b_zero, bool b_transposed) {
    return operation_count(matrix_product(
        {{20, shared}, a_zero}, {b_transposed ? Shape{9, shared} : Shape{shared, 9}, b_zero}, false,
        b_transposed));
  };
  EXPECT_EQ(count(12, -128, 0, false), 2u);
  EXPECT_EQ(count(12, -128, 0, true), 2u);
  EXPECT_EQ(count(12, -128, 127, false), 6u);  // in two groups, since a row is twice as wide
  EXPECT_EQ(count(12, -128, 127, true), 5u);   // the same
  EXPECT_EQ(count(29, -128, 0, false), 4u);
  EXPECT_EQ(count(29, -128, 0, true), 4u);
  EXPECT_EQ(count(29, -128, 127, false), 41u);
  EXPECT_EQ(count(29, -128, 127, true), 7u);
}

// Where products do not fit 16 bits and rows are long: two rows of products, and what another zero point adds once for all rows.
TEST(Products, OfManyLongRowsTakeLittleMemory) {
  Random random(46);
  constexpr int64_t kRows = 40, kShared = 30, kColumns = 20;
  const graph::Module module =
      matrix_product({{kRows, kShared}, -128}, {{kShared, kColumns}, 127}, false, false);
  expect_taken_and_same(random, module);
  int64_t elements = 0;
  for (const targets::ethos_u::NpuTensor& t : legalise(module, module.entry_function()).tensors)
    if (t.kind == targets::ethos_u::NpuTensor::Kind::Inner && t.alias_of < 0)
      elements += t.extent.elements();
  EXPECT_EQ(elements, 3 * kShared * kColumns);
}

// Every pair of operands, with scales apart and equal.
TEST(Products, SquaredDifferences) {
  const auto [first, second] = every_pair_of_bytes();
  struct Scales {
    float a, b, out;
    int64_t zero_a, zero_b, zero_out;
  };
  for (const Scales& s :
       {Scales{0.031f, 0.007f, 0.11f, -9, 30, -128}, Scales{0.004f, 0.027f, 0.013f, -128, 127, 5},
        Scales{0.05f, 0.05f, 1.3f, 0, 0, -128}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {256, 256}, s.a, s.zero_a);
    const TensorId y = g.input(DataType::Int8, {256, 256}, s.b, s.zero_b);
    const graph::Module module = g.finish(g.node(OpKind::SquaredDifference, graph::NoAttrs{},
                                                 {x, y}, 1, DataType::Int8, s.out, s.zero_out));
    expect_same(module, {first, second});
  }
}

TEST(Products, SquaredDifferencesFromWhatRepeats) {
  Random random(42);
  const std::vector<std::pair<Shape, Shape>> cases = {{{1, 9, 11, 13}, {1, 1, 1, 13}},
                                                      {{1, 1, 1, 13}, {1, 9, 11, 13}},
                                                      {{2, 9, 11, 13}, {2, 1, 1, 13}},
                                                      {{2, 9, 11, 13}, {2, 1, 1, 1}},
                                                      {{2, 3, 5, 7}, {1}},
                                                      {{1, 9, 1, 4}, {1, 1, 6, 4}},
                                                      {{1, 1200}, {1, 1200}}};
  for (const DataType type : kTypes)
    for (const auto& [a, b] : cases) {
      Graph g;
      const TensorId x = g.input(type, a, 0.013f, zero_for(random, type));
      const TensorId y = g.input(type, b, 0.019f, zero_for(random, type));
      const float scale = type == DataType::Int8 ? 0.09f : 9.1f;
      expect_taken_and_same(
          random, g.finish(g.node(OpKind::SquaredDifference, graph::NoAttrs{}, {x, y}, 1, type,
                                  scale, zero_for(random, type))));
    }
}

// Steps of the output that are smaller than those of squares: what TFLite shifts out of 32 bits to the left is not there.
TEST(Products, SquaredDifferencesInSmallSteps) {
  Random random(45);
  for (const DataType type : kTypes)
    for (const float steps : {4.0f, 3.9f, 0.6f, 0.01f, 1e-6f}) {
      const float a = random.real(0.01f, 0.1f), b = random.real(0.01f, 0.1f);
      const float largest = std::max(a, b) * (type == DataType::Int8 ? 1.0f / 128 : 1.0f);
      Graph g;
      const TensorId x = g.input(type, {1, 9, 300}, a, zero_for(random, type));
      const TensorId y = g.input(type, {1, 9, 1}, b, zero_for(random, type));
      expect_taken_and_same(
          random, g.finish(g.node(OpKind::SquaredDifference, graph::NoAttrs{}, {x, y}, 1, type,
                                  steps * largest * largest, zero_for(random, type))));
    }
}

TEST(Products, SquaredDifferencesAtTheEndsOf16Bits) {
  for (const auto& [a, b] : std::vector<std::pair<float, float>>{{0.01f, 0.01f}, {0.01f, 0.007f}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 4}, a, 0);
    const TensorId y = g.input(DataType::Int16, {1, 4}, b, 0);
    const graph::Module module = g.finish(
        g.node(OpKind::SquaredDifference, graph::NoAttrs{}, {x, y}, 1, DataType::Int16, 3.3f, 0));
    const graph::TensorValue low = {0, 0x80, 0, 0x80, 0xff, 0x7f, 0xff, 0x7f};
    const graph::TensorValue high = {0xff, 0x7f, 0, 0x80, 0, 0x80, 0xff, 0x7f};
    expect_same(module, {low, high});
  }
}

// In one accumulator whatever the axes: windows of rows and columns, and of more rows than a window has.
TEST(Products, SumsOverAnyAxes) {
  Random random(43);
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{4, 5, 6}, {0, 2}},          {{2, 3, 4, 5}, {1, 3}},    {{2, 3, 4, 5}, {0, 2}},
      {{2, 3, 4, 5}, {0, 2, 3}},    {{300, 3, 4}, {0, 2}},     {{2, 300, 3, 4, 2}, {1, 3}},
      {{1, 9, 9, 4, 8}, {1, 2, 4}}, {{3, 1, 4, 1, 5}, {0, 4}}, {{3, 4, 5}, {0, 1, 2}}};
  for (const OpKind kind : {OpKind::Mean, OpKind::Sum, OpKind::ReduceMax, OpKind::ReduceMin})
    for (const DataType type : kTypes)
      for (const auto& [shape, axes] : cases) {
        Graph g;
        const bool sums = kind == OpKind::Mean || kind == OpKind::Sum;
        const TensorId x = g.input(type, shape, 0.05f, zero_for(random, type));
        const graph::ReduceAttrs attributes{axes, random.chance(50)};
        expect_taken_and_same(random, g.finish(sums ? g.node(kind, attributes, {x}, 1, type, 0.071f,
                                                             zero_for(random, type))
                                                    : g.like(kind, attributes, {x})));
      }
}

// More elements behind the reduced axes than channels there are.
TEST(Products, ExtremesOfManyRows) {
  Random random(46);
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{3, 300, 500}, {0}}, {{2, 3, 260, 260}, {1}}, {{1, 2, 2, 70, 1024}, {1, 2}}};
  for (const OpKind kind : {OpKind::Mean, OpKind::ReduceMax, OpKind::ReduceMin})
    for (size_t i = 0; i < cases.size(); ++i) {
      const auto& [shape, axes] = cases[i];
      const DataType type = kTypes[i % 2];
      Graph g;
      const TensorId x = g.input(type, shape, 0.05f, zero_for(random, type));
      const graph::ReduceAttrs attributes{axes, false};
      const graph::Module module =
          g.finish(kind == OpKind::Mean ? g.node(kind, attributes, {x}, 1, type, 0.071f, 0)
                                        : g.like(kind, attributes, {x}));
      ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
      expect_same(module, testing::random_inputs(random, module));
    }
}

// Every value with every slope, a band of rows at a time; slopes of channels, of all elements and of none.
TEST(Products, SlopesByChannel) {
  graph::TensorValue values, slopes;
  for (int x = 0; x < 256; ++x)
    for (int y = 0; y < 256; ++y) values.push_back(static_cast<uint8_t>(x));
  for (int y = 0; y < 256; ++y) slopes.push_back(static_cast<uint8_t>(y));
  for (const auto& [zero, slope_zero] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {-128, 5}, {127, -128}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 256, 1, 256}, 0.037f, zero);
    const TensorId y = g.input(DataType::Int8, {1, 1, 256}, 0.011f, slope_zero);
    const graph::Module module =
        g.finish(g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1, DataType::Int8, 0.029f, -17));
    expect_same(module, {values, slopes});
  }
  Random random(44);
  for (const Shape& shape : {Shape{1, 1, 7}, Shape{40, 5, 7}, Shape{1}, Shape{1, 5, 7}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {2, 40, 5, 7}, 0.037f, -4);
    const TensorId y = g.constant(random, DataType::Int8, shape, {{0.011f}, {3}, 0});
    expect_taken_and_same(random, g.finish(g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1,
                                                  DataType::Int8, 0.029f, -17)));
  }
}

// One slope for all channels, whatever it is and however often it is stored: a table, which is one operation.
TEST(Products, OneSlopeIsATable) {
  graph::TensorValue values;
  for (int x = 0; x < 256; ++x) values.insert(values.end(), 3, static_cast<uint8_t>(x));
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{1}})
    for (const int slope : {-128, -40, 3, 5, 90, 127}) {
      Random random(47);
      Graph g;
      const TensorId x = g.input(DataType::Int8, {1, 16, 16, 3}, 0.037f, -4);
      const TensorId y = g.constant(random, DataType::Int8, shape, {{0.011f}, {3}, 0});
      graph::Module module =
          g.finish(g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1, DataType::Int8, 0.029f, -17));
      module.constants.at(0).bytes = std::vector<uint8_t>(static_cast<size_t>(element_count(shape)),
                                                          static_cast<uint8_t>(slope));
      ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
      expect_same(module, {values});
      EXPECT_EQ(operation_count(module), 1u);
    }
}

// Every fifth value of 16 bits, the least and the largest too, with slopes below 1, above it and of both signs, of another scale and of the same.
TEST(Products, SlopesOfInt16) {
  Random random(46);
  const std::vector<std::vector<int8_t>> several = {
      {0, 3, 90, 100}, {101, 127, 120, 110}, {-127, 120, 0, -1}};
  for (const auto& [out_scale, operations] : std::vector<std::pair<float, std::vector<size_t>>>{
           {0.0007f, {3, 3, 4}}, {0.001f, {2, 2, 4}}})
    for (size_t i = 0; i < several.size(); ++i) {
      Graph g;
      const TensorId x = g.input(DataType::Int16, {1, 113, 116, 4}, 0.001f, 0);
      const TensorId y = g.constant(random, DataType::Int8, {1, 1, 4}, {{0.01f}, {0}, 0});
      graph::Module module = g.finish(
          g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1, DataType::Int16, out_scale, 0));
      module.constants.at(0).bytes = std::vector<uint8_t>(several[i].begin(), several[i].end());
      graph::TensorValue values;
      for (int value = -32768; value <= 32767; value += 5)
        for (int c = 0; c < 4; ++c)
          for (int byte = 0; byte < 2; ++byte)
            values.push_back(static_cast<uint8_t>(static_cast<uint32_t>(value) >> (8 * byte)));
      ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
      expect_same(module, {values});
      EXPECT_EQ((operation_count(module) - 1) % operations[i], 0u);  // one copies the slopes
    }
  for (const Shape& shape : {Shape{1, 1, 7}, Shape{40, 5, 7}, Shape{1}, Shape{1, 5, 7}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {2, 40, 5, 7}, 0.037f, 0);
    const TensorId y = g.constant(random, DataType::Int8, shape, {{0.011f}, {0}, 0});
    expect_taken_and_same(random, g.finish(g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1,
                                                  DataType::Int16, 0.029f, 0)));
  }
}

// Slopes between 0 and 1 take the larger side, slopes above the less, both kinds the sum: 3 or 4 operations a band of rows,
// and the maps beside the operands are never whole.
TEST(Products, SlopesTakeLittleMemory) {
  const auto program_of = [](int8_t least, int8_t most) {
    Random random(45);
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 64, 64, 16}, 0.037f, -4);
    const TensorId y = g.constant(random, DataType::Int8, {1, 1, 16}, {{0.01f}, {0}, 0});
    graph::Module module =
        g.finish(g.node(OpKind::Prelu, graph::NoAttrs{}, {x, y}, 1, DataType::Int8, 0.029f, -17));
    std::vector<uint8_t> slopes;
    for (int c = 0; c < 16; ++c)
      slopes.push_back(static_cast<uint8_t>(least + (most - least) * c / 15));
    module.constants.at(0).bytes = slopes;
    expect_taken_and_same(random, module);
    return legalise(module, module.entry_function());
  };
  for (const auto& [least, most, operations] :
       std::vector<std::tuple<int8_t, int8_t, size_t>>{{0, 90, 3}, {101, 127, 3}, {-20, 120, 4}}) {
    const targets::ethos_u::Program program = program_of(least, most);
    EXPECT_EQ(program.operations.size(), 1 + 32 * operations);  // the copy of the slopes
    for (const targets::ethos_u::NpuTensor& t : program.tensors)
      if (t.kind == targets::ethos_u::NpuTensor::Kind::Inner) {
        EXPECT_LE(t.extent.elements(), 64 * 64 * 16 / 32);
      }
  }
}

// The first of equal elements, along any axis; as many elements as places fit, at both ends of the range.
TEST(Products, PlacesOfExtremes) {
  Random random(47);
  const std::vector<std::pair<Shape, int64_t>> cases = {{{3, 4, 5}, 2}, {{3, 4, 5}, 1},
                                                        {{3, 4, 5}, 0}, {{1, 6, 7, 21}, 3},
                                                        {{9, 128}, 1},  {{4, 1}, 1}};
  for (const OpKind kind : {OpKind::ArgMax, OpKind::ArgMin})
    for (const auto& [shape, axis] : cases) {
      Graph g;
      const TensorId x = g.input(DataType::Int8, shape, 0.05f, -7);
      const graph::Module module =
          g.finish(g.node(kind, graph::AxisAttrs{axis}, {x}, 1, DataType::Int32, 1.0f, 0));
      expect_taken_and_same(random, module);
      const auto count = static_cast<size_t>(element_count(shape));
      for (const uint8_t same : {0x80, 0x7f, 0x00}) {
        graph::TensorValue values(count, same);
        expect_same(module, {values});
        values.back() = 1;
        expect_same(module, {values});
      }
    }
}

// Sizes that are no multiples, larger and smaller, and weights of ten bits, with all ways to place pixels.
TEST(Products, ResizingToAnySize) {
  Random random(46);
  struct Sizes {
    int64_t h, w, to_h, to_w;
  };
  for (const Sizes& s : {Sizes{5, 7, 15, 21},
                         {10, 9, 16, 12},
                         {4, 4, 64, 64},
                         {20, 30, 9, 11},
                         {3, 5, 24, 40},
                         {1, 6, 5, 6},
                         {7, 1, 7, 9},
                         {6, 6, 11, 11},
                         {8, 8, 8, 8}})
    for (const OpKind kind : {OpKind::ResizeBilinear, OpKind::ResizeNearest})
      for (const auto& [align, centres] :
           std::vector<std::pair<bool, bool>>{{false, false}, {true, false}, {false, true}}) {
        Graph g;
        const TensorId x = g.input(DataType::Int8, {2, s.h, s.w, 3}, 0.05f, 7);
        expect_taken_and_same(
            random,
            g.finish(g.like(kind, graph::ResizeAttrs{s.to_h, s.to_w, align, centres}, {x})));
      }
}

// Constants lie in slow memory as a rule, and one that repeats is read again for every element beside it.
TEST(Products, WeightsOfResizedImagesLieNear) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 20, 20, 8}, 0.05f, 0);
  const targets::ethos_u::Program program = [&] {
    const graph::Module module =
        g.finish(g.like(OpKind::ResizeBilinear, graph::ResizeAttrs{57, 57, true, false}, {x}));
    return targets::ethos_u::legalise(module, module.entry_function());
  }();
  for (const targets::ethos_u::Operation& op : program.operations) {
    if (!op.ifm2 || op.ifm2->extent.elements() == 1) continue;
    const auto& operand = program.tensors.at(static_cast<size_t>(op.ifm2->tensor));
    EXPECT_FALSE(operand.kind == targets::ethos_u::NpuTensor::Kind::Constant &&
                 op.ifm2->extent.elements() < op.ofm.extent.elements())
        << print(program);
  }
}

// Sums that end in exact halves go away from zero on both sides of it.
TEST(Products, BlendedTiesGoAwayFromZero) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 2, 2, 256}, 0.05f, 0);
  const graph::Module module =
      g.finish(g.like(OpKind::ResizeBilinear, graph::ResizeAttrs{64, 64, false, true}, {x}));
  graph::TensorValue values;
  for (int pixel = 0; pixel < 4; ++pixel)
    for (int c = 0; c < 256; ++c)
      values.push_back(static_cast<uint8_t>(pixel % 2 == 0 ? c : c + 1));
  EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
  expect_same(module, {values});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
