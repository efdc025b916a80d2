// Sums of two operands, each of every pair where they have eight bits.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

// Every pair of operands whose sum falls on the other side of a half with TFLite's own multipliers: others
// beside them are right for all, and one operation is enough.
TEST(Legalise, SumsOfScalesCloseTogether) {
  Graph g;
  const TensorId a = g.input(DataType::Int8, {256, 256}, 0.01020496990531683f, -7);
  const TensorId b = g.input(DataType::Int8, {256, 256}, 0.009016579017043114f, 5);
  const graph::Module module = g.finish(g.node(OpKind::Add, graph::BinaryAttrs{}, {a, b}, 1,
                                               DataType::Int8, 0.012253740802407265f, 10));
  const auto [first, second] = every_pair_of_bytes();
  expect_same(module, {first, second});
  EXPECT_EQ(operation_count(module), 1u);
}

// Every pair of operands, with scales near to each other and far apart: each operand has a factor of 16 bits, and the sum is
// rounded once, which takes the output unit two thirds of the time of a factor of 32 bits.
TEST(Legalise, SumsWithAFactorForEachOperand) {
  struct Scales {
    float a, b, out;
    int32_t zero_a, zero_b, zero_out;
  };
  const auto [first, second] = every_pair_of_bytes();
  for (const Scales& s :
       {Scales{0.01020496990531683f, 0.009016579017043114f, 0.012253740802407265f, -7, 5, 10},
        Scales{0.0235294122248888f, 0.0235294122248888f, 0.0470588244497776f, 0, 0, 0},
        Scales{0.0913477838039398f, 0.0017253740802407f, 0.0772193312644958f, -128, 127, -128},
        Scales{0.0004871139931492f, 0.0313477838039398f, 0.0291193312644958f, 3, -128, 127}})
    for (const OpKind kind : {OpKind::Add, OpKind::Sub})
      for (const bool swapped : {false, true})
        for (const graph::Activation activation :
             {graph::Activation::None, graph::Activation::Relu}) {
          Graph g;
          const TensorId x = g.input(DataType::Int8, {256, 256}, swapped ? s.b : s.a,
                                     swapped ? s.zero_b : s.zero_a);
          const TensorId y = g.input(DataType::Int8, {256, 256}, swapped ? s.a : s.b,
                                     swapped ? s.zero_a : s.zero_b);
          const graph::Module module = g.finish(g.node(kind, graph::BinaryAttrs{activation}, {x, y},
                                                       1, DataType::Int8, s.out, s.zero_out));
          expect_same(module, {first, second});
          const auto program = legalise(module, module.entry_function());
          ASSERT_EQ(program.operations.size(), 1u) << s.a << " " << swapped;
          EXPECT_EQ(program.operations[0].operand_scaling, targets::ethos_u::OperandScaling::Both)
              << s.a << " " << swapped;
          // Streams of Arm's compiler have such factors for equal scales alone.
          const auto confirmed =
              legalise(module, module.entry_function(), {.confirmed_only = true});
          if (s.a != s.b) {
            EXPECT_NE(confirmed.operations[0].operand_scaling,
                      targets::ethos_u::OperandScaling::Both)
                << s.a << " " << swapped;
          }
        }
}

// Operands whose scales are such that exact halves occur, which TFLite's two roundings send up or down: no registers are
// right for all pairs, a table for the operand with the smaller scale is. A few rows at a time, of three operations each.
TEST(Legalise, SumsThatNoRegistersMeet) {
  struct Scale {
    float scale;
    int32_t zero;
  };
  const Scale smaller{0.0187f, -128}, larger{0.0524f, -4};
  const auto [first, second] = every_pair_of_bytes();
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (const bool swapped : {false, true}) {
      Graph g;
      const Scale a = swapped ? larger : smaller, b = swapped ? smaller : larger;
      const TensorId x = g.input(DataType::Int8, {256, 256}, a.scale, a.zero);
      const TensorId y = g.input(DataType::Int8, {256, 256}, b.scale, b.zero);
      const graph::Module module =
          g.finish(g.node(kind, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int8, 0.0322f, -128));
      expect_same(module, {first, second});
      // Nothing else takes as much memory: bands are a quarter of an eighth of the rows.
      EXPECT_EQ(operation_count(module), 4u * 8u * 3u) << swapped;
    }
}

// Bands are small where they are what takes most memory, and not where another map takes more, or where time alone counts.
TEST(Legalise, BandsAreSmallWhereTheyTakeMost) {
  Random random(41);
  for (const int64_t height : {32, 96}) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 32, 32, 16}, 0.0011f, 0);
    const TensorId y = g.input(DataType::Int16, {1, height, 32, 16}, 0.0043f, 0);
    // Of a larger map one part is read.
    const TensorId all = g.like(OpKind::Maximum, graph::NoAttrs{}, {y, y})[0];
    const TensorId part =
        g.like(OpKind::Slice, graph::SliceAttrs{{0, 0, 0, 0}, {1, 32, 32, 16}, {1, 1, 1, 1}, {}},
               {all})[0];
    const auto out =
        g.node(OpKind::Add, graph::BinaryAttrs{}, {x, part}, 1, DataType::Int16, 0.0037f, 0);
    const graph::Module module = g.finish(out);
    expect_taken_and_same(random, module);
    const auto sums = [&](const targets::ethos_u::LegaliseOptions& options) {
      const auto program = legalise(module, module.entry_function(), options);
      return std::count_if(
          program.operations.begin(), program.operations.end(), [](const auto& op) {
            return op.kind == targets::ethos_u::OperationKind::Add && op.ifm2.has_value();
          });
    };
    EXPECT_EQ(sums({}), height == 32 ? 16 : 4) << height;
    EXPECT_EQ(sums({.may_narrow = false}), 4) << height;
  }
}

// Of 40 rows no more than 13 at a time are four bands, of 10 rows each.
TEST(Legalise, BandsAreAlike) {
  Random random(42);
  Graph g;
  const TensorId x = g.input(DataType::Int16, {1, 40, 40, 1}, 0.0011f, 0);
  const TensorId y = g.input(DataType::Int16, {1, 40, 40, 1}, 0.0043f, 0);
  const graph::Module module =
      g.finish(g.node(OpKind::Sub, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int16, 0.0037f, 0));
  expect_taken_and_same(random, module);
  const auto program = legalise(module, module.entry_function());
  EXPECT_EQ(program.operations.size(), 4u * 4u);
  for (const targets::ethos_u::Operation& op : program.operations)
    EXPECT_EQ(op.ofm.extent.elements(), 10 * 40);
}

// Of 16 bits, whose smaller operand TFLite rounds twice, as does the NPU's output unit; at both ends of the range too.
TEST(Legalise, SumsOf16Bits) {
  Random random(23);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (const bool swapped : {false, true})
      for (const Shape& second : {Shape{12, 5, 7}, Shape{1, 1, 7}}) {
        Graph g;
        const float small = 0.0011f, large = 0.0043f;
        const TensorId x = g.input(DataType::Int16, {12, 5, 7}, swapped ? large : small, 0);
        const TensorId y = g.input(DataType::Int16, second, swapped ? small : large, 0);
        const graph::Module module =
            g.finish(g.node(kind, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int16, 0.0037f, 0));
        expect_taken_and_same(random, module);
      }
}

// Pixels of 24 channels are written as if they had 32, and those of 16 as they are: a sum in several operations goes over such.
TEST(Legalise, WideSumsOfPixelsThatBreak) {
  Random random(67);
  for (const Shape& shape : {Shape{1, 1, 64, 24}, Shape{1, 9, 10, 24}, Shape{2, 8, 16, 5},
                             Shape{1, 5, 8, 40}, Shape{1, 7, 9, 24}}) {
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
      Graph g;
      const int64_t zero = type == DataType::Int8 ? 3 : 0;
      const TensorId x = g.input(type, shape, 0.00113f, zero),
                     y = g.input(type, shape, 0.00257f, 0);
      const TensorId sum =
          g.node(OpKind::Add, graph::BinaryAttrs{}, {x, y}, 1, type, 0.00291f, -zero)[0];
      const graph::Module module =
          g.finish(g.node(OpKind::Sub, graph::BinaryAttrs{}, {sum, x}, 1, type, 0.00347f, zero));
      expect_taken_and_same(random, module);
      const auto program = legalise(module, module.entry_function());
      const bool in_several = program.operations.size() > 2;  // of 16 bits none meets any registers
      EXPECT_TRUE(in_several || type == DataType::Int8);
      if (!in_several) continue;
      const bool divides = shape[2] * shape[3] % 16 == 0;
      for (const auto& operation : program.operations)
        EXPECT_EQ(operation.ofm.extent.depth, divides ? 16 : shape[3]);
    }
  }
}

// Of 16 bits, of one scale or of scales a power of two apart: TFLite's factor of the smaller operand rounds nothing, and one operation
// is exact, with factors of 16 bits.
TEST(Legalise, SumsOf16BitsOfScalesAPowerOfTwoApart) {
  Random random(31);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (const float times : {1.0f, 0.5f, 4.0f, 0.0009765625f, 16384.0f}) {
      Graph g;
      const TensorId x = g.input(DataType::Int16, {12, 5, 7}, 0.0043f, 0);
      const TensorId y = g.input(DataType::Int16, {12, 5, 7}, 0.0043f * times, 0);
      const graph::Module module =
          g.finish(g.node(kind, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int16,
                          0.0037f * std::max(1.0f, times), 0));
      expect_taken_and_same(random, module);
      const auto program = legalise(module, module.entry_function());
      ASSERT_EQ(program.operations.size(), 1u) << times;
      EXPECT_EQ(program.operations[0].operand_scaling, targets::ethos_u::OperandScaling::Both);
    }
}

// With a constant of one element there are as many results as the other operand has values: registers beside TFLite's own are right
// for all of them, and one operation is enough.
TEST(Legalise, SumsOf16BitsWithOneConstant) {
  Random random(29);
  std::vector<uint8_t> every;
  for (int32_t value = 0; value < 1 << 16; ++value) {
    every.push_back(static_cast<uint8_t>(value));
    every.push_back(static_cast<uint8_t>(value >> 8));
  }
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (const bool first : {false, true})
      for (const bool smaller : {false, true}) {
        Graph g;
        const float small = 0.0011f, large = 0.0043f;
        const TensorId x = g.input(DataType::Int16, {32, 64, 32}, smaller ? large : small, 0);
        const TensorId c =
            g.constant(random, DataType::Int16, {1}, {{smaller ? small : large}, {0}, 0});
        const std::vector<TensorId> operands = {first ? c : x, first ? x : c};
        const graph::Module module =
            g.finish(g.node(kind, graph::BinaryAttrs{}, operands, 1, DataType::Int16, 0.0037f, 0));
        expect_same(module, {every});
        EXPECT_EQ(operation_count(module), 1u) << first << smaller;
      }
}

// Where an operand repeats, as the addend of each channel does, values of 32 bits are there a few rows or columns at a time too.
TEST(Legalise, SumsOf16BitsWhoseOperandRepeats) {
  Random random(37);
  const Shape row{1, 1, 256, 32}, map{1, 32, 24, 16};
  for (const auto& [whole, repeated] : {std::pair<Shape, Shape>{row, {32}},
                                        {row, {1, 1, 1, 32}},
                                        {map, {16}},
                                        {map, {1, 1, 24, 16}},
                                        {map, {1, 32, 1, 16}},
                                        {map, {1, 32, 24, 1}},
                                        {{2, 16, 24, 16}, {16}},
                                        {{2, 16, 24, 16}, {2, 1, 1, 16}}})
    for (const OpKind kind : {OpKind::Add, OpKind::Sub})
      for (const bool first : {false, true})
        for (const bool smaller : {false, true}) {
          Graph g;
          const TensorId x = g.input(DataType::Int16, whole, smaller ? 0.0043f : 0.0011f, 0);
          const TensorId y = g.input(DataType::Int16, repeated, smaller ? 0.0011f : 0.0043f, 0);
          const std::vector<TensorId> operands = {first ? y : x, first ? x : y};
          const graph::Module module = g.finish(
              g.node(kind, graph::BinaryAttrs{}, operands, 1, DataType::Int16, 0.0037f, 0));
          expect_taken_and_same(random, module);
          if (repeated == Shape{2, 1, 1, 16}) continue;  // an image at a time
          for (const auto& tensor : legalise(module, module.entry_function()).tensors)
            if (tensor.type == DataType::Int32) {
              EXPECT_LE(4 * tensor.extent.elements(), 2 * element_count(whole));
            }
        }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
