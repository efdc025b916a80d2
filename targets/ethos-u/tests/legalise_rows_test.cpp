// Operators that compute numbers of whole rows: softmax, its logarithm, and rows divided by their lengths.
#include <algorithm>
#include <string>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

graph::Module logarithms(const Shape& shape, float scale, int64_t zero) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, shape, scale, zero);
  return g.finish(
      g.node(OpKind::LogSoftmax, graph::NoAttrs{}, {x}, 1, DataType::Int8, 1.0f / 16, 127));
}

graph::Module lengths(const Shape& shape, int64_t zero) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, shape, 0.02f, zero);
  return g.finish(
      g.node(OpKind::L2Normalization, graph::NoAttrs{}, {x}, 1, DataType::Int8, 1.0f / 128, 0));
}

std::string refusal_of(const graph::Module& module) {
  return refusal(module, module.entry_function(), module.entry_function().nodes[0]);
}

// Row i has the values around -128 + i whose spread grows with i: sums of squares and of exponentials of every size.
graph::TensorValue rows_of_every_size(Random& random, int64_t rows, int64_t depth, int64_t zero) {
  graph::TensorValue values;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t spread = 1 + row * 127 / rows;
    for (int64_t c = 0; c < depth; ++c)
      values.push_back(static_cast<uint8_t>(
          std::clamp<int64_t>(zero + random.range(-spread, spread), -128, 127)));
  }
  return values;
}

TEST(Rows, LogarithmsOfSoftmax) {
  Random random(71);
  for (const Shape& shape :
       {Shape{1, 10}, Shape{7, 1}, Shape{300, 3}, Shape{2, 3, 5, 33}, Shape{1, 4095}})
    for (const float scale : {0.0001f, 0.02f, 0.13f, 0.9f, 20.0f})
      expect_taken_and_same(random, logarithms(shape, scale, random.range(-90, 90)));
  // Sums from one exponential of 1 to 64 of them, in steps as fine as exponentials are.
  for (const float scale : {0.01f, 0.05f, 0.2f})
    expect_same(logarithms({2000, 64}, scale, 0), {rows_of_every_size(random, 2000, 64, 0)});
  // The largest sums there are.
  for (const int64_t depth : {511, 1000, 4095})
    expect_same(logarithms({1, depth}, 0.1f, 3),
                {graph::TensorValue(static_cast<size_t>(depth), 5)});
}

TEST(Rows, DividedByTheirLengths) {
  Random random(72);
  for (const Shape& shape :
       {Shape{1, 10}, Shape{7, 1}, Shape{300, 3}, Shape{2, 3, 5, 33}, Shape{1, 8256}})
    for (const int64_t zero : {0, -5, 31, -128, 127})
      if (shape.back() * (zero == 0 ? 128 * 128 : 255 * 255) < 1 << 29)
        expect_taken_and_same(random, lengths(shape, zero));
  // Sums of squares of every size, those whose results are rounded twice among them: 33 elements of 255 and more.
  for (const int64_t depth : {2, 33, 129, 512})
    for (const int64_t zero : {0, 20, -128}) {
      const graph::Module module = lengths({600, depth}, zero);
      EXPECT_EQ(refusal_of(module), "");
      expect_same(module, {rows_of_every_size(random, 600, depth, zero)});
    }
  // One element beside nothing, of every size, and nothing at all.
  graph::TensorValue alone(256 * 4, 0);
  for (size_t i = 0; i < 256; ++i) alone[4 * i + 1] = static_cast<uint8_t>(i);
  expect_same(lengths({256, 4}, 0), {alone});
  for (const uint8_t largest : {uint8_t{127}, uint8_t{128}})
    expect_same(lengths({1, 8191}, 0), {graph::TensorValue(8191, largest)});
  EXPECT_EQ(refusal_of(lengths({1, 8257}, -128)),
            "the squares of 8257 elements may be 536911425 together, which is not below 536870912");
}

// Every pair of inputs, by a table of differences as int8 and, where differences beyond still matter, as
// int16 with one more operation. Differences of many pairs are one operation, of few two.
TEST(Legalise, SoftmaxOfPairs) {
  for (const float scale : {0.004f, 0.03f, 0.09f, 0.2f, 1.7f}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {65536, 2}, scale, 3);
    const graph::Module module = g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1,
                                                 DataType::Int8, 1.0f / 256, -128));
    graph::TensorValue pairs;
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; ++b)
        pairs.insert(pairs.end(), {static_cast<uint8_t>(a), static_cast<uint8_t>(b)});
    expect_same(module, {pairs});
    EXPECT_EQ(operation_count(module), scale > 0.08f ? 1u : 2u) << scale;
    Graph few;
    const TensorId y = few.input(DataType::Int8, {63, 2}, scale, 3);
    const graph::Module of_few = few.finish(few.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f},
                                                     {y}, 1, DataType::Int8, 1.0f / 256, -128));
    pairs.resize(2 * 63);
    expect_same(of_few, {pairs});
    EXPECT_EQ(operation_count(of_few), scale > 0.08f ? 2u : 3u) << scale;
  }
}

// Rows of few elements are read as pixels that follow each other, and not one below the other.
TEST(Legalise, RowsOfSoftmaxFollowEachOther) {
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    Graph g;
    const TensorId x = g.input(type, {1, 32, 32, 3}, 0.01f, 0);
    const bool narrow = type == DataType::Int8;
    const graph::Module module =
        g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1, type,
                        narrow ? 1.0f / 256 : 1.0f / 32768, narrow ? -128 : 0));
    int of_elements = 0;
    for (const targets::ethos_u::Operation& op :
         legalise(module, module.entry_function()).operations) {
      if (op.ifm.extent.depth != 3) continue;
      EXPECT_LE(op.ifm.extent.height, 2) << op.ifm.extent.width;
      ++of_elements;
    }
    EXPECT_GT(of_elements, 4);
  }
}

// A softmax that takes more memory than anything else goes through its rows some at a time.
TEST(Legalise, RowsOfSoftmaxInSmallBands) {
  Random random(46);
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    Graph g;
    const TensorId x = g.input(type, {1, 96, 60}, 0.01f, 0);
    const bool is_narrow = type == DataType::Int8;
    const graph::Module module =
        g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1, type,
                        is_narrow ? 1.0f / 256 : 1.0f / 32768, is_narrow ? -128 : 0));
    expect_taken_and_same(random, module);
    const auto sums_of_rows = [&](bool may_narrow) {
      const auto program = legalise(module, module.entry_function(), {.may_narrow = may_narrow});
      return std::count_if(
          program.operations.begin(), program.operations.end(),
          [](const auto& op) { return op.kind == targets::ethos_u::OperationKind::ReduceSum; });
    };
    EXPECT_EQ(sums_of_rows(true), 4);
    EXPECT_EQ(sums_of_rows(false), 1);
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
