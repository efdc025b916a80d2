// Operators that bring elements into another order or repeat them, and reductions and pools in pieces.
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

TEST(Rearrange, TransposesInSeveralSteps) {
  Random random(31);
  const std::vector<std::pair<Shape, Shape>> cases = {{{2, 3, 4}, {2, 1, 0}},
                                                      {{4, 3, 5, 6}, {3, 1, 2, 0}},
                                                      {{4, 3, 5, 6}, {3, 2, 1, 0}},
                                                      {{2, 3, 4, 5}, {1, 3, 0, 2}},
                                                      {{2, 3, 4, 5}, {2, 1, 3, 0}},
                                                      {{3, 1, 4, 5}, {3, 1, 2, 0}},
                                                      {{2, 3, 2, 3, 2, 3}, {5, 4, 3, 2, 1, 0}}};
  for (const DataType type : kTypes)
    for (const auto& [shape, permutation] : cases) {
      Graph g;
      const TensorId x = g.input(type, shape, 0.05f, 0);
      expect_taken_and_same(
          random, g.finish(g.like(OpKind::Transpose, graph::TransposeAttrs{permutation}, {x})));
    }
}

graph::Module transposition(const Shape& shape, const Shape& permutation, DataType type) {
  Graph g;
  const TensorId x = g.input(type, shape, 0.05f, 0);
  return g.finish(g.like(OpKind::Transpose, graph::TransposeAttrs{permutation}, {x}));
}

// Matrices of any extents are one copy, and channels are shuffled by two.
TEST(Rearrange, TransposesMatricesAtOnce) {
  Random random(36);
  const std::vector<std::tuple<Shape, Shape, size_t>> cases = {
      {{70, 80}, {1, 0}, 1},
      {{1, 97, 5, 16}, {0, 2, 1, 3}, 1},
      {{3, 66, 67}, {0, 2, 1}, 3},
      {{1, 9, 9, 3, 21}, {0, 1, 2, 4, 3}, 2},
      {{65, 66, 5}, {0, 2, 1}, 2}};
  for (const DataType type : kTypes)
    for (const auto& [shape, permutation, copies] : cases) {
      const graph::Module module = transposition(shape, permutation, type);
      EXPECT_EQ(operation_count(module), copies) << graph::print(module);
      expect_taken_and_same(random, module);
    }
}

// Where rows and columns are exchanged is a form that no stream of Arm's compiler confirms.
TEST(Rearrange, TransposesLineByLineIfConfirmed) {
  Random random(37);
  const graph::Module module = transposition({70, 12}, {1, 0}, DataType::Int8);
  const graph::Function& main = module.entry_function();
  EXPECT_EQ(targets::ethos_u::legalise(module, main, {.may_gather = false, .confirmed_only = true})
                .operations.size(),
            12u);
  EXPECT_EQ(targets::ethos_u::legalise(module, main, {.may_gather = false}).operations.size(), 1u);
}

TEST(Rearrange, TransposesWithinLimits) {
  const auto reason = [](const Shape& shape, const Shape& permutation) {
    const graph::Module module = transposition(shape, permutation, DataType::Int8);
    return refusal(module, module.entry_function(), module.entry_function().nodes[0]);
  };
  // Another way than by 90000 rows.
  EXPECT_EQ(reason({300, 300, 10}, {0, 2, 1}), "");
  EXPECT_EQ(reason({65537, 2}, {1, 0}), "the input has an extent of 65537, above 65536");
  EXPECT_EQ(reason({1, 256, 257, 2}, {0, 3, 1, 2}),
            "transposing [1,256,257,2] by (0, 3, 1, 2) has a step of more than 64 copies, or an "
            "extent above 65536");
}

// A transposed piece of a concatenation is not in one piece of memory.
TEST(Rearrange, TransposesIntoAPart) {
  Random random(32);
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 3, 4, 5}, 0.05f, 0);
  const TensorId y = g.input(DataType::Int8, {1, 5, 4, 2}, 0.05f, 0);
  const auto t = g.like(OpKind::Transpose, graph::TransposeAttrs{{0, 3, 2, 1}}, {x});
  expect_taken_and_same(random, g.finish(g.like(OpKind::Concat, graph::AxisAttrs{3}, {t[0], y})));
}

// Maps of two layers as rows of four, one behind the other, as the boxes of a detector: each is made where it is joined.
TEST(Rearrange, JoinsWhatWasReshapedInPlace) {
  Random random(33);
  Graph g;
  std::vector<TensorId> rows;
  for (const int64_t side : {8, 4}) {
    const TensorId x = g.input(DataType::Int8, {1, side, side, 24}, 0.05f, 0);
    const TensorId y = g.like(OpKind::Relu, graph::ReluAttrs{}, {x})[0];
    rows.push_back(g.like(OpKind::Reshape, graph::ReshapeAttrs{{1, side * side * 6, 4}}, {y})[0]);
  }
  const graph::Module module = g.finish(g.like(OpKind::Concat, graph::AxisAttrs{1}, rows));
  expect_taken_and_same(random, module);
  EXPECT_EQ(operation_count(module), rows.size());
}

TEST(Rearrange, BlocksIntoDepthAndBack) {
  Random random(33);
  for (const DataType type : kTypes)
    for (const int64_t block : {2, 3})
      for (const int64_t images : {1, 2}) {
        Graph g;
        const TensorId x =
            g.input(type, {images, 2 * block, 3 * block, 5}, 0.05f, zero_for(random, type));
        const auto deep = g.like(OpKind::SpaceToDepth, graph::BlockAttrs{block}, {x});
        const auto relu = g.like(OpKind::Relu, graph::ReluAttrs{}, {deep[0]});
        const auto back = g.like(OpKind::DepthToSpace, graph::BlockAttrs{block}, {relu[0]});
        expect_taken_and_same(random, g.finish({deep[0], back[0]}));
      }
}

// A piece of an axis between others, as of the queries, keys and values of attention: [rows, 3, heads, width].
TEST(Rearrange, PiecesOfTensorsOfMoreAxesThanAnImage) {
  Random random(15);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 6, 3, 2, 5}, 0.05f, 0);
    const auto cut =
        g.like(OpKind::Slice,
               graph::SliceAttrs{{0, 0, 1, 0, 0}, {1, 6, 1, 2, 5}, {1, 1, 1, 1, 1}, {}}, {x});
    const auto stepped =
        g.like(OpKind::Slice,
               graph::SliceAttrs{{0, 0, 0, 0, 0}, {1, 6, 2, 2, 5}, {1, 1, 2, 1, 1}, {}}, {x});
    const auto halves = g.like(OpKind::Split, graph::SplitAttrs{2, {1, 2}}, {x}, 2);
    const auto each = g.like(OpKind::Unpack, graph::AxisAttrs{2}, {x}, 3);
    expect_taken_and_same(random, g.finish({cut[0], stepped[0], halves[1], each[2]}));
    Graph of_two;
    const TensorId y = of_two.input(type, {2, 3, 4, 5, 6}, 0.05f, 0);
    const auto inner =
        of_two.like(OpKind::Slice,
                    graph::SliceAttrs{{0, 1, 0, 2, 0}, {2, 1, 4, 2, 6}, {1, 1, 1, 1, 1}, {}}, {y});
    expect_taken_and_same(random, of_two.finish(inner));
    Graph of_three;
    const TensorId z = of_three.input(type, {2, 3, 4, 5, 6}, 0.05f, 0);
    const graph::Module module = of_three.finish(of_three.like(
        OpKind::Slice, graph::SliceAttrs{{0, 1, 0, 2, 1}, {2, 1, 4, 2, 3}, {1, 1, 1, 1, 1}, {}},
        {z}));
    EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]),
              "a piece is no box of one image");
  }
}

// The same the other way: pieces of an axis between others, also where the whole is a piece itself or read twice.
TEST(Rearrange, TensorsOfMoreAxesThanAnImageFromPieces) {
  Random random(16);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 6, 2, 5}, 0.05f, 0),
                   y = g.input(type, {1, 6, 2, 5}, 0.05f, 0);
    const auto packed = g.like(OpKind::Pack, graph::AxisAttrs{2}, {x, y, x});
    const auto relu = g.like(OpKind::Relu, graph::ReluAttrs{}, {packed[0]});
    const auto joined = g.like(OpKind::Concat, graph::AxisAttrs{2}, {packed[0], relu[0]});
    expect_taken_and_same(random, g.finish({packed[0], joined[0]}));
    Graph of_part;
    const TensorId z = of_part.input(type, {2, 3, 4, 5}, 0.05f, 0);
    const auto pair = of_part.like(OpKind::Pack, graph::AxisAttrs{1}, {z, z});
    const auto whole = of_part.like(OpKind::Concat, graph::AxisAttrs{4}, {pair[0], pair[0]});
    expect_taken_and_same(random, of_part.finish(whole));
    for (const int64_t axis : {0, 1}) {
      Graph rows;
      const TensorId row = rows.input(type, {7, 12}, 0.05f, 0);
      expect_taken_and_same(
          random, rows.finish(rows.like(OpKind::Pack, graph::AxisAttrs{axis}, {row, row})));
    }
  }
}

// Around an axis of one element, of several images, and along more axes than a box has.
TEST(Rearrange, PadsOfAnyAxes) {
  Random random(38);
  struct Case {
    Shape shape;
    graph::PadAttrs pads;
    size_t operations;
  };
  for (const DataType type : kTypes)
    for (const Case& c : {Case{{5, 6, 1, 7}, {{1, 2, 0, 0}, {1, 0, 0, 0}}, 4},
                          {{1, 5, 1, 6, 7}, {{0, 1, 0, 2, 3}, {0, 0, 0, 1, 0}}, 5},
                          {{3, 5, 6, 7}, {{0, 1, 0, 0}, {0, 2, 0, 0}}, 3},
                          {{3, 5, 6, 7}, {{0, 1, 2, 0}, {0, 0, 0, 0}}, 4},
                          {{2, 3, 4, 5}, {{1, 1, 1, 1}, {0, 1, 0, 2}}, 10},
                          {{2, 3, 2, 4, 2}, {{0, 1, 0, 0, 1}, {1, 0, 2, 0, 0}}, 8}}) {
      Graph g;
      const TensorId x = g.input(type, c.shape, 0.05f, zero_for(random, type));
      const graph::Module module = g.finish(g.like(OpKind::Pad, c.pads, {x}));
      EXPECT_EQ(operation_count(module), c.operations) << graph::print(module);
      expect_taken_and_same(random, module);
    }
  // What is made for a pad is made in its place where it is a box, and copied where it is none.
  for (const int64_t images : {1, 2}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {images, 5, 6, 7}, 0.05f, 3);
    const auto y =
        g.node(OpKind::Logistic, graph::NoAttrs{}, {x}, 1, DataType::Int8, 1.0f / 256, -128);
    const graph::Module module =
        g.finish(g.like(OpKind::Pad, graph::PadAttrs{{0, 1, 0, 0}, {0, 1, 0, 0}}, y));
    EXPECT_EQ(operation_count(module), images == 1 ? 3u : 4u) << graph::print(module);
    expect_taken_and_same(random, module);
  }
  const auto reason = [](const Shape& shape, const graph::PadAttrs& pads) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, shape, 0.05f, 3);
    const graph::Module module = g.finish(g.like(OpKind::Pad, pads, {x}));
    return refusal(module, module.entry_function(), module.entry_function().nodes[0]);
  };
  EXPECT_EQ(reason({2, 8, 256, 256}, {{0, 1, 0, 0}, {0, 1, 0, 0}}), "");
  EXPECT_EQ(reason({2, 8, 257, 256}, {{0, 1, 0, 0}, {0, 1, 0, 0}}),
            "padding [2,8,257,256] to [2,10,257,256] has an extent of 65792, above 65536");
}

TEST(Rearrange, MirroredPadding) {
  Random random(34);
  for (const DataType type : kTypes)
    for (const bool symmetric : {false, true})
      for (const graph::MirrorPadAttrs& pads :
           {graph::MirrorPadAttrs{{0, 2, 1, 0}, {0, 1, 3, 0}, symmetric},
            graph::MirrorPadAttrs{{0, 0, 2, 1}, {0, 0, 0, 2}, symmetric},
            graph::MirrorPadAttrs{{0, 0, 0, 0}, {0, 0, 0, 0}, symmetric}}) {
        Graph g;
        const TensorId x = g.input(type, {1, 4, 5, 3}, 0.05f, 0);
        expect_taken_and_same(random, g.finish(g.like(OpKind::MirrorPad, pads, {x})));
      }
}

// A copy for each run of neighbours, along any axis: of one image and several.
TEST(Rearrange, PickedPlaces) {
  Random random(37);
  for (const DataType type : kTypes)
    for (const Shape& shape : {Shape{1, 4, 5, 6}, Shape{2, 4, 5, 6}, Shape{9}})
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const auto last = static_cast<int32_t>(shape[axis]) - 1;
        Graph g;
        const TensorId x = g.input(type, shape, 0.05f, zero_for(random, type));
        const auto picked =
            g.like(OpKind::Gather, graph::GatherAttrs{static_cast<int64_t>(axis), 0},
                   {x, g.places({0, 0, std::min(last, 1), last, 0, std::min(last, 1)})});
        const graph::Module module = g.finish(picked);
        expect_taken_and_same(random, module);
        EXPECT_LE(operation_count(module), 6u);
      }
}

TEST(Rearrange, PlacesApartAreNotPicked) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {4, 6}, 0.05f, 0);
  std::vector<int32_t> many;
  for (int32_t i = 0; i < 65; ++i) many.push_back(i % 2 == 0 ? 3 : 1);
  const graph::Module module =
      g.finish(g.like(OpKind::Gather, graph::GatherAttrs{1, 0}, {x, g.places(many)}));
  EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]),
            "the places lie in 65 runs, more than 64");
}

TEST(Rearrange, Repetitions) {
  Random random(35);
  for (const DataType type : kTypes) {
    for (const Shape& times : {Shape{1, 2, 1, 3}, {2, 1, 3, 1}, {1, 3, 2, 2}, {1, 1, 1, 1}}) {
      Graph g;
      const TensorId x = g.input(type, {1, 3, 2, 5}, 0.05f, 0);
      expect_taken_and_same(random, g.finish(g.like(OpKind::Tile, graph::TileAttrs{times}, {x})));
    }
    // Along an axis that has several images before it.
    for (const auto& [shape, times] : {std::pair{Shape{1, 3, 1, 4, 5}, Shape{1, 1, 2, 1, 1}},
                                       {{2, 3, 4, 5}, {1, 3, 1, 1}},
                                       {{2, 2, 3, 2, 5}, {2, 1, 2, 3, 1}}}) {
      Graph g;
      const TensorId x = g.input(type, shape, 0.05f, 0);
      expect_taken_and_same(random, g.finish(g.like(OpKind::Tile, graph::TileAttrs{times}, {x})));
    }
    Graph g;
    const TensorId x = g.input(type, {3, 1, 5}, 0.05f, 0);
    expect_taken_and_same(
        random, g.finish(g.like(OpKind::BroadcastTo, graph::ShapeAttrs{{1, 3, 4, 5}}, {x})));
  }
}

// A copy for each axis reads elements again, however often: also where the result is a part of another map, and where what
// repeats is too long for channels. In streams as Arm's compiler writes them it is a copy for each time.
TEST(Rearrange, ManyTimes) {
  Random random(39);
  struct Case {
    Shape in, times;
    size_t operations;
  };
  for (const DataType type : kTypes)
    for (const Case& c : {Case{{1, 1, 1, 24}, {1, 1, 150, 1}, 1},
                          {{1, 3, 5, 2}, {1, 1, 90, 1}, 1},
                          {{1, 4, 1, 8}, {1, 70, 1, 1}, 1},
                          {{2, 3, 2, 3}, {1, 1, 1, 80}, 1},
                          {{1, 2, 3, 4}, {1, 2, 3, 1}, 2},
                          {{1, 3, 1, 1}, {1, 1, 200, 1}, 1},
                          {{1, 2, 256, 132}, {2, 1, 1, 1}, 1}}) {
      Graph g;
      const TensorId x = g.input(type, c.in, 0.05f, 0);
      const graph::Module module = g.finish(g.like(OpKind::Tile, graph::TileAttrs{c.times}, {x}));
      expect_taken_and_same(random, module);
      EXPECT_EQ(operation_count(module), c.operations);
    }
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 1, 1, 24}, 0.05f, 0),
                 y = g.input(DataType::Int8, {1, 1, 128, 9}, 0.05f, 0);
  const auto many = g.like(OpKind::Tile, graph::TileAttrs{{1, 1, 128, 1}}, {x});
  const graph::Module module = g.finish(g.like(OpKind::Concat, graph::AxisAttrs{3}, {many[0], y}));
  expect_taken_and_same(random, module);
  EXPECT_EQ(operation_count(module), 2u);
  const auto confirmed =
      targets::ethos_u::legalise(module, module.entry_function(), {.confirmed_only = true});
  EXPECT_EQ(confirmed.operations.size(), 129u);
}

TEST(Rearrange, BothOperandsRepeat) {
  Random random(36);
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{1, 3, 1, 5}, {1, 1, 4, 5}},          {{1, 3, 4, 1}, {1, 1, 1, 5}}, {{7, 1}, {1, 9}},
      {{1, 1, 4, 1}, {1, 3, 1, 5}},          {{4, 5}, {2, 3, 1, 5}},       {{70, 1}, {1, 90}},
      {{1, 2, 4, 5, 2, 4}, {2, 1, 5, 1, 4}},
  };
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Minimum})
    for (const DataType type : kTypes)
      for (const auto& [a, b] : shapes) {
        Graph g;
        const bool scales = kind != OpKind::Minimum;
        const int64_t zero = zero_for(random, type);
        const TensorId x = g.input(type, a, 0.04f, zero),
                       y = g.input(type, b, scales ? 0.07f : 0.04f, zero);
        const auto out = scales ? g.node(kind, graph::BinaryAttrs{}, {x, y}, 1, type, 0.1f,
                                         zero_for(random, type))
                                : g.like(kind, graph::NoAttrs{}, {x, y});
        expect_taken_and_same(random, g.finish(out));
      }
}

// One channel becomes many by one operation, as the factors of a layer normalisation do.
TEST(Rearrange, OneChannelRepeats) {
  Random random(38);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 70, 1}, 0.04f, zero_for(random, type));
    const TensorId y = g.constant(random, type, {96}, {{0.02f}, {0}, 0});
    const graph::Module module = g.finish(
        g.node(OpKind::Mul, graph::BinaryAttrs{}, {x, y}, 1, type, 0.09f, zero_for(random, type)));
    EXPECT_EQ(operation_count(module), 2u);
    expect_taken_and_same(random, module);
    Graph h;
    const TensorId z = h.input(type, {2, 5, 3, 1}, 0.04f, zero_for(random, type));
    const graph::Module broadcast =
        h.finish(h.like(OpKind::BroadcastTo, graph::ShapeAttrs{{2, 5, 3, 300}}, {z}));
    EXPECT_EQ(operation_count(broadcast), 1u);
    expect_taken_and_same(random, broadcast);
  }
}

// Beyond what the hardware does in one operation: strides above 3, and padded averages above 8 x 8.
TEST(Rearrange, PoolsInPieces) {
  Random random(37);
  struct Case {
    Shape in;
    int64_t size_y, size_x, stride_y, stride_x;
    graph::Padding2d padding;
  };
  const std::vector<Case> cases = {
      {{1, 16, 16, 5}, 4, 4, 4, 4, {}},           {{2, 9, 20, 3}, 3, 5, 2, 5, {}},
      {{1, 12, 12, 4}, 9, 9, 1, 1, {4, 4, 4, 4}}, {{1, 11, 30, 3}, 10, 3, 2, 1, {4, 1, 4, 1}},
      {{1, 7, 23, 6}, 5, 12, 3, 4, {2, 5, 2, 5}}, {{1, 25, 7, 8}, 25, 7, 1, 1, {12, 3, 12, 3}}};
  for (const OpKind kind : {OpKind::MaxPool2d, OpKind::AveragePool2d})
    for (const DataType type : kTypes)
      for (const Case& c : cases) {
        Graph g;
        const TensorId x = g.input(type, c.in, 0.05f, 0);
        const graph::Pool2dAttrs a = {
            c.size_y,   c.size_x,
            c.stride_y, c.stride_x,
            c.padding,  random.chance(50) ? graph::Activation::Relu : graph::Activation::None};
        const graph::Module module = g.finish(g.like(kind, a, {x}));
        const std::string reason =
            refusal(module, module.entry_function(), module.entry_function().nodes[0]);
        if (reason.empty()) expect_taken_and_same(random, module);
        // 25 x 7 places, each with a window of its own.
        EXPECT_EQ(
            reason,
            kind == OpKind::AveragePool2d && c.in[1] == 25
                ? "a padded average over 25 x 7 is above 8 x 8, and without padding it is 25 x 7 "
                  "pools, more than 128"
                : "");
      }
}

// Pools along a line with any stride, and maxima with strides that are products, are one or two operations for each image.
TEST(Rearrange, PoolsWithLargeStrides) {
  Random random(39);
  struct Case {
    Shape in;
    int64_t size_y, size_x, stride_y, stride_x;
    graph::Padding2d padding;
    size_t maxima, averages;  // operations; none: not taken
  };
  const std::vector<Case> cases = {
      {{1, 1, 803, 5}, 1, 4, 1, 4, {}, 1, 1},           {{1, 701, 1, 4}, 7, 1, 7, 1, {}, 1, 1},
      {{1, 1, 900, 3}, 1, 9, 1, 5, {0, 2, 0, 3}, 3, 3}, {{3, 1, 130, 8}, 1, 5, 1, 10, {}, 3, 3},
      {{1, 64, 62, 3}, 4, 4, 4, 4, {0, 1, 0, 1}, 2, 0}, {{1, 70, 63, 17}, 7, 5, 6, 4, {}, 2, 0},
      {{1, 33, 90, 2}, 2, 9, 2, 9, {}, 2, 0},           {{1, 21, 200, 3}, 1, 5, 1, 5, {}, 21, 21},
  };
  for (const OpKind kind : {OpKind::MaxPool2d, OpKind::AveragePool2d})
    for (const DataType type : kTypes)
      for (const Case& c : cases) {
        Graph g;
        const TensorId x = g.input(type, c.in, 0.05f, zero_for(random, type));
        const graph::Pool2dAttrs a = {c.size_y,   c.size_x,  c.stride_y,
                                      c.stride_x, c.padding, graph::Activation::None};
        const graph::Module module = g.finish(g.like(kind, a, {x}));
        const size_t count = kind == OpKind::MaxPool2d ? c.maxima : c.averages;
        if (count == 0) continue;
        EXPECT_EQ(operation_count(module), count);
        expect_taken_and_same(random, module);
      }
}

TEST(Rearrange, SumsAndLeasts) {
  Random random(38);
  for (const DataType type : kTypes)
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{3}, {1, 2}, {0}, {0, 1, 2, 3}}) {
      Graph g;
      const TensorId x = g.input(type, {2, 3, 4, 5}, 0.05f, zero_for(random, type));
      const auto sum = g.node(OpKind::Sum, graph::ReduceAttrs{axes, true}, {x}, 1, type,
                              random.real(0.05f, 0.9f), zero_for(random, type));
      const auto least = g.like(OpKind::ReduceMin, graph::ReduceAttrs{axes, false}, {x});
      expect_taken_and_same(random, g.finish({sum[0], least[0]}));
    }
}

// Rows that are many are taken some at a time, and what is one number a row lies packed; a prime number of them too.
TEST(Rearrange, SoftmaxOfManyRows) {
  Random random(15);
  for (const DataType type : kTypes)
    for (const Shape& shape :
         {Shape{1, 37, 29, 3}, Shape{2, 32, 33, 5}, Shape{1009, 3}, Shape{1, 16, 30, 21}}) {
      Graph g;
      const bool narrow = type == DataType::Int8;
      const TensorId x = g.input(type, shape, narrow ? 0.06f : 0.0004f, zero_for(random, type));
      expect_taken_and_same(
          random, g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1, type,
                                  narrow ? 1.0f / 256 : 1.0f / 32768, narrow ? -128 : 0)));
    }
}

TEST(Rearrange, SoftmaxOfInt16) {
  Random random(39);
  for (const Shape& shape : {Shape{1, 10}, {7, 2}, {2, 3, 4, 33}, {3, 1}, {1, 1001}})
    for (const float scale : {1.0f / 32768, 0.0004f, 0.003f, 0.1f, 4.9f}) {
      Graph g;
      const TensorId x = g.input(DataType::Int16, shape, scale, 0);
      expect_taken_and_same(random, g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x},
                                                    1, DataType::Int16, 1.0f / 32768, 0)));
    }
}

// Sums of 512 exponentials and more need a shift of more than 31 bits.
TEST(Rearrange, SoftmaxOfManyElements) {
  Random random(40);
  for (const int64_t depth : {512, 1001, 4095})
    for (const float scale : {0.0001f, 0.02f, 0.3f}) {
      Graph g;
      const TensorId x = g.input(DataType::Int8, {2, depth}, scale, 3);
      const graph::Module module = g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x},
                                                   1, DataType::Int8, 1.0f / 256, -128));
      expect_taken_and_same(random, module);
      expect_same(module, {graph::TensorValue(static_cast<size_t>(2 * depth),
                                              5)});  // the largest sum there is
    }
}

// Where few channels are left, neighbours are channels first: most of a micro-block would be idle. A number that has no such divisor
// is reduced at once.
TEST(Rearrange, ExtremesOfFewChannels) {
  Random random(40);
  struct Case {
    Shape in;
    std::vector<int64_t> axes;
    size_t operations;
  };
  for (const DataType type : kTypes)
    for (const Case& c : {Case{{1, 30, 30, 20}, {1, 2, 3}, 2},
                          {{2, 40, 30, 3}, {1, 2}, 2},
                          {{1, 61, 61, 1}, {1, 2, 3}, 1},
                          {{3, 2048}, {1}, 2},
                          {{1, 24, 24, 20}, {1, 2}, 1}})
      for (const OpKind kind : {OpKind::ReduceMax, OpKind::ReduceMin}) {
        Graph g;
        const TensorId x = g.input(type, c.in, 0.05f, zero_for(random, type));
        const graph::Module module = g.finish(g.like(kind, graph::ReduceAttrs{c.axes, false}, {x}));
        expect_taken_and_same(random, module);
        EXPECT_EQ(operation_count(module), c.operations + (kind == OpKind::ReduceMin ? 2 : 0));
      }
}

// Edges of many rows and columns.
TEST(Rearrange, WideMirrors) {
  Random random(41);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 64, 40, 3}, 0.05f, 0);
    graph::MirrorPadAttrs a;
    a.before = {0, 40, 33, 0};
    a.after = {0, 40, 20, 0};
    expect_taken_and_same(random, g.finish(g.like(OpKind::MirrorPad, a, {x})));
  }
}

// A copy of a few elements takes as long as a CPU needs for many.
TEST(Rearrange, ManyShortMirrorsAreTheCpus) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 256, 4}, 0.05f, 0);
  const graph::MirrorPadAttrs a = {{0, 120, 0}, {0, 80, 0}, false};
  const graph::Module module = g.finish(g.like(OpKind::MirrorPad, a, {x}));
  EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]),
            "mirroring takes 201 copies of 3 elements on average, more than 64");
}

}  // namespace
}  // namespace intarsia::test::ethos_u
