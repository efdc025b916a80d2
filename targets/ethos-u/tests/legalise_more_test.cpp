// Operators of which graphs are written here, and graphs of several operators: what is a view, what
// is folded, what is fused.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

TEST(Legalise, FunctionsOfOneElement) {
  Random random(6);
  for (const OpKind kind : {OpKind::Logistic, OpKind::Tanh, OpKind::HardSwish, OpKind::LeakyRelu,
                            OpKind::Abs, OpKind::Elu}) {
    for (int i = 0; i < 8; ++i) {
      Graph g;
      const TensorId x =
          g.input(DataType::Int8, {2, 3, 70}, random.real(0.01f, 0.1f), random.range(-90, 90));
      graph::Attributes attributes = graph::NoAttrs{};
      if (kind == OpKind::LeakyRelu) attributes = graph::LeakyReluAttrs{random.real(-0.5f, 1.5f)};
      const bool fixed = kind == OpKind::Logistic || kind == OpKind::Tanh;
      const float scale = kind == OpKind::Logistic ? 1.0f / 256
                          : fixed                  ? 1.0f / 128
                                                   : random.real(0.01f, 0.1f);
      const int64_t zero = kind == OpKind::Logistic ? -128 : fixed ? 0 : random.range(-90, 90);
      const auto y = g.node(kind, attributes, {x}, 1, DataType::Int8, scale, zero);
      expect_taken_and_same(random, g.finish(y));
    }
  }
}

// All values of 16 bits, of ranges that end before the gate opens, that have all of it, and of which most lies beyond.
TEST(Legalise, HardSwishOfInt16) {
  Random random(62);
  graph::TensorValue all(1 << 17);
  for (size_t value = 0; value < 1 << 16; ++value)
    all[2 * value] = static_cast<uint8_t>(value),
            all[2 * value + 1] = static_cast<uint8_t>(value >> 8);
  for (int i = 0; i < 12; ++i) {
    const float largest = std::exp(random.real(-2.0f, 5.0f));
    const float in = largest / 32767, out = in * random.real(0.4f, 1.6f);
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 64, 64, 16}, in, 0);
    const graph::Module module =
        g.finish(g.node(OpKind::HardSwish, graph::NoAttrs{}, {x}, 1, DataType::Int16, out, 0));
    EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
    expect_same(module, {all});
  }
}

// All values of 16 bits through the lines that TFLite draws, which are the NPU's own.
TEST(Legalise, FunctionsOfInt16AsLines) {
  Random random(61);
  for (const OpKind kind : {OpKind::Gelu, OpKind::Exp, OpKind::Log})
    for (int i = 0; i < 6; ++i) {
      const float in = random.real(5e-5f, 2.5e-4f);
      const float out =
          kind == OpKind::Exp ? std::exp(in * 32767) / 32767 : random.real(1e-4f, 1e-3f);
      graph::Attributes attributes = graph::NoAttrs{};
      if (kind == OpKind::Gelu) attributes = graph::GeluAttrs{random.chance(50)};
      Graph g;
      const TensorId x = g.input(DataType::Int16, {1, 64, 64, 16}, in, 0);
      const graph::Module module =
          g.finish(g.node(kind, attributes, {x}, 1, DataType::Int16, out, 0));
      EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
      graph::TensorValue all(1 << 17);
      for (size_t value = 0; value < 1 << 16; ++value)
        all[2 * value] = static_cast<uint8_t>(value),
                all[2 * value + 1] = static_cast<uint8_t>(value >> 8);
      expect_same(module, {all});
    }
}

// All values of 16 bits: of scales with which the least inputs, most or all have the largest result, and of those with which
// no input above 0 has.
TEST(Legalise, SquareRootsOfInt16) {
  Random random(65);
  graph::TensorValue all(1 << 17);
  for (size_t value = 0; value < 1 << 16; ++value)
    all[2 * value] = static_cast<uint8_t>(value),
            all[2 * value + 1] = static_cast<uint8_t>(value >> 8);
  const auto module_of = [](float in, float largest) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 64, 64, 16}, in, 0);
    return g.finish(
        g.node(OpKind::Rsqrt, graph::NoAttrs{}, {x}, 1, DataType::Int16, largest / 32767, 0));
  };
  for (int i = 0; i < 8; ++i) {
    const float in = std::exp(random.real(-15.0f, 2.0f));
    // The largest result is that of this input.
    const float at = i == 0 ? 0.04f : std::exp(random.real(-3.0f, 12.0f));
    const graph::Module module = module_of(in, 1 / std::sqrt(in * at));
    EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "");
    expect_same(module, {all});
  }
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 17, 1}, Shape{3, 5, 7}, Shape{2, 3, 1, 33}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, shape, 1e-4f, 0);
    expect_taken_and_same(random, g.finish(g.node(OpKind::Rsqrt, graph::NoAttrs{}, {x}, 1,
                                                  DataType::Int16, 1e-3f, 0)));
  }
  const graph::Module coarse = module_of(1e-4f, 1000.0f);
  EXPECT_EQ(refusal(coarse, coarse.entry_function(), coarse.entry_function().nodes[0]),
            "the result of the least input is 3277 steps, of 0 it is 32767");
}

// A product with a constant of few bits may be scaled up: a change of sign.
TEST(Legalise, SignOfInt16) {
  Random random(63);
  for (int i = 0; i < 6; ++i) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 8, 9, 5}, 0.0001f, 0);
    const TensorId c = g.constant(random, DataType::Int16, {1}, {{1.0f}, {0}, 0});
    const auto y =
        g.node(OpKind::Mul, graph::BinaryAttrs{}, {x, c}, 1, DataType::Int16, 0.0001f, 0);
    expect_taken_and_same(random, g.finish(y));
  }
}

// Sizes whose weights have few bits, as twice and four times: sums of int16 fit then. Of others they do not, which is said.
TEST(Legalise, BilinearOfInt16) {
  Random random(62);
  const auto resized = [&](int64_t height, int64_t width, bool corners, bool half) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {2, 5, 9, 3}, 0.001f, 0);
    return g.finish(g.node(OpKind::ResizeBilinear, graph::ResizeAttrs{height, width, corners, half},
                           {x}, 1, DataType::Int16, 0.001f, 0));
  };
  for (const bool half : {false, true})
    for (const auto& [height, width] : {std::pair{10, 18}, {20, 36}, {40, 72}, {10, 36}, {5, 18}})
      expect_taken_and_same(random, resized(height, width, false, half));
  expect_taken_and_same(random, resized(9, 17, true, false));
  const graph::Module odd = resized(7, 13, false, true);
  EXPECT_EQ(refusal(odd, odd.entry_function(), odd.entry_function().nodes[0]),
            "its weights have 10 + 10 bits, which i16 leaves 15 of in sums of 32 bits");
}

// Results of other types than the int8 that they are of, joined with nothing: the sum before keeps its clamp.
TEST(Legalise, LookupsOfAllTypes) {
  Random random(12);
  for (const DataType type : {DataType::Int8, DataType::Int16, DataType::UInt8})
    for (int i = 0; i < 4; ++i) {
      const int64_t count = int64_t{1} << bits(type),
                    least = type == DataType::UInt8 ? 0 : -count / 2;
      graph::LookupAttrs lookup;
      for (int entry = 0; entry < 256; ++entry)
        lookup.results.push_back(random.range(least, least + count - 1));
      Graph g;
      const TensorId x = g.input(DataType::Int8, {1, 5, 7, 19}, 0.05f, random.range(-90, 90));
      const auto sum =
          i % 2 == 0 ? std::vector{x} : g.like(OpKind::Add, graph::BinaryAttrs{}, {x, x});
      expect_taken_and_same(random,
                            g.finish(g.node(OpKind::Lookup, lookup, sum, 1, type, 0.01f, 0)));
    }
}

// Straight lines over an int16 are the NPU's, unless one of them is too steep for it.
TEST(Legalise, LookupsOfStraightLines) {
  Random random(14);
  for (const bool steep : {false, true}) {
    graph::LookupAttrs lookup;
    for (int point = 0; point <= 512; ++point)
      lookup.results.push_back(std::lround(12000 * std::sin(0.05 * point)) + random.range(-9, 9));
    if (steep) lookup.results[77] = -32768, lookup.results[78] = 32767;
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 5, 7, 19}, 0.05f, steep ? 0 : -3);
    const graph::Module module =
        g.finish(g.node(OpKind::Lookup, lookup, {x}, 1, DataType::Int16, 0.01f, 0));
    if (!steep)
      expect_taken_and_same(random, module);
    else
      EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]),
                "the NPU's 512 straight lines do not meet every value of the function");
  }
}

// Images of bytes without a sign become int8 or int16 at the edges of a network, and back.
TEST(Legalise, UnsignedBytesAtTheEdges) {
  Random random(13);
  for (const float scale : {1.0f / 255, 0.02f})
    for (const DataType type : kTypes) {
      Graph g;
      const TensorId x = g.input(DataType::UInt8, {1, 9, 6, 3}, 1.0f / 255, random.range(0, 255));
      const auto whole =
          g.node(OpKind::Quantize, graph::NoAttrs{}, {x}, 1, type, scale, zero_for(random, type));
      const auto sum = g.like(OpKind::Add, graph::BinaryAttrs{}, {whole[0], whole[0]});
      expect_taken_and_same(
          random, g.finish(g.node(OpKind::Quantize, graph::NoAttrs{}, sum, 1, DataType::UInt8,
                                  0.013f, random.range(0, 255))));
    }
}

// All values of 16 bits, with scales that are powers of two and such that are not, where most results are a limit, and
// where the factor has more bits than the values.
TEST(Legalise, LogisticAndTanhOfInt16) {
  graph::TensorValue all;
  for (int32_t v = 0; v < 65536; ++v)
    for (const int32_t byte : {v & 255, v >> 8}) all.push_back(static_cast<uint8_t>(byte));
  for (const OpKind kind : {OpKind::Logistic, OpKind::Tanh})
    for (const float scale : {1.0f / 4096, 1.0f / 2048, 1.0f / 8192, 1e-10f, 2.3e-5f, 0.000271f,
                              0.00077f, 0.9f, 2.6f}) {
      Random random(9);
      Graph g;
      const TensorId x = g.input(DataType::Int16, {1, 32, 32, 64}, scale, 0);
      const graph::Module module =
          g.finish(g.node(kind, graph::NoAttrs{}, {x}, 1, DataType::Int16, 1.0f / 32768, 0));
      expect_taken_and_same(random, module);
      expect_same(module, {all});
    }
}

// What the sum saturates at is not what the unit saturates at: the two are two operations.
TEST(Legalise, ASumBeforeTheUnitForTanh) {
  Random random(10);
  Graph g;
  const float scale = 1.0f / 12288;
  const TensorId x = g.input(DataType::Int16, {1, 9, 9, 20}, scale, 0);
  const auto sum = g.like(OpKind::Add, graph::BinaryAttrs{}, {x, x});
  const graph::Module module =
      g.finish(g.node(OpKind::Tanh, graph::NoAttrs{}, sum, 1, DataType::Int16, 1.0f / 32768, 0));
  expect_taken_and_same(random, module);
}

TEST(Legalise, LeakyReluOfInt16) {
  Random random(7);
  for (int i = 0; i < 30; ++i) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {2, 700}, random.real(0.001f, 0.01f), 0);
    const graph::LeakyReluAttrs alpha{i % 3 == 0 ? 1.0f - 1e-4f * static_cast<float>(i)
                                                 : random.real(0.0f, 1.5f)};
    const auto y = i % 2 == 0 ? g.like(OpKind::LeakyRelu, alpha, {x})
                              : g.node(OpKind::LeakyRelu, alpha, {x}, 1, DataType::Int16,
                                       random.real(0.001f, 0.01f), 0);
    expect_taken_and_same(random, g.finish(y));
  }
}

// The NPU has a command for it, which changes no scale of what is not negative.
TEST(Legalise, LeakyReluOfInt16IsOneOperationInTheSameScale) {
  for (const float alpha : {0.0f, 0.1f, 0.3f, 1.0f, 1.4f}) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 5, 6, 20}, 0.003f, 0);
    const graph::Module module =
        g.finish(g.like(OpKind::LeakyRelu, graph::LeakyReluAttrs{alpha}, {x}));
    EXPECT_EQ(operation_count(module), 1u) << alpha;
    Random random(9);
    expect_taken_and_same(random, module);
  }
}

TEST(Legalise, DifferencesAndExtrema) {
  Random random(8);
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{1, 3, 4, 5}, {1, 3, 4, 5}}, {{2, 3, 4, 5}, {5}},          {{1, 1, 1, 5}, {1, 3, 4, 5}},
      {{2, 3, 4, 5}, {2, 1, 1, 5}}, {{2, 3, 4, 5}, {1, 3, 1, 5}}, {{3, 7}, {1}},
  };
  for (const OpKind kind : {OpKind::Sub, OpKind::Add, OpKind::Minimum, OpKind::Maximum})
    for (const DataType type : kTypes)
      for (const auto& [a, b] : shapes) {
        Graph g;
        const bool scales = kind == OpKind::Sub || kind == OpKind::Add;
        const float scale = random.real(0.01f, 0.1f);
        const int64_t zero = zero_for(random, type);
        const TensorId x = g.input(type, a, scale, zero);
        const TensorId y = g.input(type, b, scales ? random.real(0.01f, 0.1f) : scale,
                                   scales ? zero_for(random, type) : zero);
        graph::Attributes attributes = graph::NoAttrs{};
        if (scales)
          attributes = graph::BinaryAttrs{random.chance(50) ? graph::Activation::Relu
                                                            : graph::Activation::None};
        const auto out = scales ? g.node(kind, attributes, {x, y}, 1, type,
                                         random.real(0.01f, 0.2f), zero_for(random, type))
                                : g.like(kind, attributes, {x, y});
        expect_taken_and_same(random, g.finish(out));
      }
}

TEST(Legalise, PiecesAreViews) {
  Random random(9);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 4, 6, 8}, 0.05f, 0);
    const auto pieces = g.like(OpKind::Split, graph::SplitAttrs{3, {3, 5}}, {x}, 2);
    const auto a = g.like(OpKind::Relu, graph::ReluAttrs{}, {pieces[0]});
    const auto b = g.like(OpKind::Relu, graph::ReluAttrs{graph::Activation::Relu6}, {pieces[1]});
    const auto all = g.like(OpKind::Concat, graph::AxisAttrs{2}, {a[0], a[0]});
    const auto rows = g.like(
        OpKind::Slice, graph::SliceAttrs{{0, 1, 0, 1}, {1, 2, 6, 2}, {1, 2, 2, 1}, {}}, {all[0]});
    const graph::Module module = g.finish({all[0], b[0], rows[0]});
    expect_taken_and_same(random, module);
    // Two relus write where the results belong; the second half of the concatenation and the slice
    // are copies.
    EXPECT_EQ(operation_count(module), 4u)
        << print(targets::ethos_u::legalise(module, module.entry_function()));
  }
}

TEST(Legalise, SlicesByOtherStepsThanTheNpusAreCopiesOfPlaces) {
  Random random(14);
  struct Case {
    Shape shape;
    graph::SliceAttrs slice;
    size_t copies;
  };
  const std::vector<Case> cases = {
      {{1, 16, 8}, {{0, 15, 0}, {1, 16, 8}, {1, -1, 1}, {}}, 16},          // a sequence turned
      {{1, 4, 6, 3}, {{0, 0, 0, 2}, {1, 4, 6, 3}, {1, 1, 1, -1}, {}}, 3},  // RGB of BGR
      {{1, 4, 9, 8}, {{0, 3, 6, 0}, {1, 2, 3, 8}, {1, -2, 1, 1}, {}}, 2},  // rows
      {{1, 4, 9, 8}, {{0, 0, 1, 1}, {1, 2, 4, 3}, {1, 2, 2, 3}, {}}, 3},   // channels and rows
      {{2, 3, 5, 8}, {{1, 0, 4, 0}, {1, 3, 5, 8}, {1, 1, -1, 1}, {}}, 5},  // one image's columns
      {{1, 64, 4}, {{0, 63, 0}, {1, 64, 4}, {1, -1, 1}, {}}, 64}};
  for (const DataType type : kTypes)
    for (const Case& each : cases) {
      Graph g;
      const TensorId x = g.input(type, each.shape, 0.05f, 0);
      const auto y = g.like(OpKind::Slice, each.slice, {x});
      const graph::Module module = g.finish(y);
      expect_taken_and_same(random, module);
      EXPECT_EQ(operation_count(module), each.copies);
    }
  for (const graph::SliceAttrs& slice :
       {graph::SliceAttrs{{0, 64, 0}, {1, 65, 4}, {1, -1, 1}, {}},     // more places
        graph::SliceAttrs{{0, 9, 3}, {1, 10, 4}, {1, -1, -1}, {}}}) {  // along two axes
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 65, 4}, 0.05f, 0);
    const graph::Module module = g.finish(g.like(OpKind::Slice, slice, {x}));
    EXPECT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]),
              "the NPU does not read backwards");
  }
}

TEST(Legalise, PackAndUnpack) {
  Random random(10);
  for (const int64_t axis : {0, 1, 2}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {3, 5}, 0.05f, 3),
                   y = g.input(DataType::Int8, {3, 5}, 0.05f, 3);
    const auto sum = g.like(OpKind::Minimum, graph::NoAttrs{}, {x, y});
    const auto packed = g.like(OpKind::Pack, graph::AxisAttrs{axis}, {sum[0], y});
    const auto back = g.like(OpKind::Unpack, graph::AxisAttrs{axis}, {packed[0]}, 2);
    const auto last = g.like(OpKind::Maximum, graph::NoAttrs{}, {back[0], back[1]});
    expect_taken_and_same(random, g.finish({packed[0], back[1], last[0]}));
  }
}

TEST(Legalise, Resizing) {
  Random random(11);
  for (const OpKind kind : {OpKind::ResizeNearest, OpKind::ResizeBilinear})
    for (const int64_t factor : {2, 3, 4, 8})
      for (const bool half_pixel : {false, true}) {
        Graph g;
        const int64_t h = random.range(1, 4), w = random.range(2, 4);
        const TensorId x = g.input(DataType::Int8, {2, h, w, 3}, 0.05f, 7);
        const auto y =
            g.like(kind, graph::ResizeAttrs{h * factor, w * factor, false, half_pixel}, {x});
        const graph::Module module = g.finish(y);
        const std::string reason =
            refusal(module, module.entry_function(), module.entry_function().nodes[0]);
        if (kind == OpKind::ResizeNearest || factor == 2 || (!half_pixel && factor != 3)) {
          EXPECT_EQ(reason, "");
        }
        if (reason.empty()) expect_taken_and_same(random, module);
      }
}

// One pixel everywhere, or one row or column, has nothing to be blended with, of int16 in any size.
TEST(Legalise, ResizingOneElementRepeatsIt) {
  Random random(13);
  struct Case {
    int64_t in_h, in_w, h, w;
    size_t operations;
  };
  for (const Case& c :
       {Case{1, 1, 12, 16, 2}, Case{1, 1, 31, 7, 2}, Case{1, 9, 20, 9, 1}, Case{5, 1, 5, 13, 1}})
    for (const OpKind kind : {OpKind::ResizeNearest, OpKind::ResizeBilinear})
      for (const DataType type : kTypes)
        for (const auto& [align, centres] :
             std::vector<std::pair<bool, bool>>{{false, false}, {true, false}, {false, true}}) {
          Graph g;
          const TensorId x = g.input(type, {1, c.in_h, c.in_w, 24}, 0.05f, zero_for(random, type));
          const graph::Module module =
              g.finish(g.like(kind, graph::ResizeAttrs{c.h, c.w, align, centres}, {x}));
          expect_taken_and_same(random, module);
          EXPECT_LE(operation_count(module), c.operations);
        }
}

TEST(Legalise, APadBecomesPaddingOfItsWindows) {
  Random random(12);
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 6, 6, 4}, 0.05f, -7);
  const auto padded = g.like(OpKind::Pad, graph::PadAttrs{{0, 1, 0, 0}, {0, 1, 2, 0}}, {x});
  const TensorId w = g.constant(random, DataType::Int8, {5, 3, 3, 4}, {{0.02f}, {0}, 0});
  const auto y =
      g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {padded[0], w}, 1, DataType::Int8, 0.3f, 9);
  const graph::Module module = g.finish(y);
  expect_taken_and_same(random, module);
  EXPECT_EQ(operation_count(module), 1u);
}

TEST(Legalise, Transpositions) {
  Random random(15);
  const std::vector<std::pair<Shape, Shape>> cases = {{{3, 7}, {1, 0}},
                                                      {{2, 3, 4}, {1, 0, 2}},
                                                      {{2, 3, 4}, {0, 2, 1}},
                                                      {{2, 3, 4}, {2, 0, 1}},
                                                      {{1, 5, 3, 4}, {0, 2, 1, 3}},
                                                      {{2, 3, 5, 4}, {0, 3, 1, 2}},
                                                      {{2, 1, 5, 1}, {3, 2, 1, 0}}};
  for (const DataType type : kTypes)
    for (const auto& [shape, permutation] : cases) {
      Graph g;
      const TensorId x = g.input(type, shape, 0.05f, 0);
      expect_taken_and_same(
          random, g.finish(g.like(OpKind::Transpose, graph::TransposeAttrs{permutation}, {x})));
    }
}

// A first convolution of few channels reads windows that overlap: with padding from a copy (a fill of the
// padding, a copy, the convolution), without in place.
TEST(Legalise, WindowsOfFewChannelsOverlap) {
  Random random(19);
  struct Case {
    Shape in, weights;
    int64_t stride;
    graph::Padding2d padding;
    size_t operations;
  };
  for (const Case& c : {Case{{1, 49, 10, 1}, {64, 10, 4, 1}, 2, {4, 1, 5, 1}, 3},
                        Case{{1, 32, 32, 3}, {16, 3, 3, 3}, 1, {1, 1, 1, 1}, 3},
                        Case{{1, 49, 40, 1}, {8, 10, 8, 1}, 2, {4, 3, 5, 3}, 3},
                        Case{{1, 21, 24, 2}, {16, 5, 5, 2}, 1, {0, 0, 0, 0}, 1},
                        Case{{1, 20, 23, 1}, {24, 7, 7, 1}, 2, {3, 3, 3, 3}, 3}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, c.in, 0.05f, -7);
    const TensorId weights = g.constant(random, DataType::Int8, c.weights, {{0.01f}, {0}, 0});
    const TensorId bias =
        g.constant(random, DataType::Int32, {c.weights[0]}, {{0.05f * 0.01f}, {0}, 0});
    graph::Conv2dAttrs attributes;
    attributes.stride_h = attributes.stride_w = c.stride;
    attributes.padding = c.padding;
    const graph::Module module = g.finish(
        g.node(OpKind::Conv2d, attributes, {x, weights, bias}, 1, DataType::Int8, 0.1f, 5));
    expect_taken_and_same(random, module);
    EXPECT_EQ(operation_count(module), c.operations) << c.in[2];
  }
}

// Strides that the hardware has not: the windows are copied beside each other.
TEST(Legalise, ConvolutionsOfLargeStrides) {
  Random random(23);
  struct Case {
    Shape in, weights;
    int64_t stride_y, stride_x, dilation_y;
    graph::Padding2d padding;
  };
  for (const DataType type : kTypes)
    for (const Case& c : {Case{{1, 16, 16, 3}, {8, 4, 4, 3}, 4, 4, 1, {}},
                          Case{{2, 13, 19, 2}, {5, 3, 5, 2}, 4, 5, 1, {1, 2, 1, 1}},
                          Case{{1, 27, 27, 3}, {6, 11, 11, 3}, 4, 4, 1, {2, 2, 2, 2}},
                          Case{{1, 20, 9, 4}, {7, 3, 2, 4}, 5, 1, 2, {0, 0, 0, 1}},
                          Case{{1, 9, 23, 5}, {3, 2, 3, 5}, 1, 7, 1, {1, 1, 0, 0}}}) {
      Graph g;
      const TensorId x = g.input(type, c.in, 0.05f, zero_for(random, type));
      const TensorId weights = g.constant(random, DataType::Int8, c.weights, {{0.01f}, {0}, 0});
      graph::Conv2dAttrs attributes;
      attributes.stride_h = c.stride_y;
      attributes.stride_w = c.stride_x;
      attributes.dilation_h = c.dilation_y;
      attributes.padding = c.padding;
      expect_taken_and_same(random, g.finish(g.node(OpKind::Conv2d, attributes, {x, weights}, 1,
                                                    type, 0.2f, zero_for(random, type))));
    }
}

TEST(Legalise, LargestAlongAxes) {
  Random random(16);
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{3}, {1, 2}, {0}, {0, 1, 2, 3}}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {2, 3, 4, 5}, 0.05f, 4);
    expect_taken_and_same(
        random, g.finish(g.like(OpKind::ReduceMax, graph::ReduceAttrs{axes, false}, {x})));
  }
}

TEST(Legalise, PadsWithAConstant) {
  Random random(17);
  for (const DataType type : kTypes) {
    Graph g;
    const TensorId x = g.input(type, {1, 3, 4, 5}, 0.05f, 0);
    const TensorId value = g.constant(random, type, {}, {{0.05f}, {0}, 0});
    const graph::PadAttrs pads{{0, 1, 0, 2}, {0, 0, 3, 1}};
    expect_taken_and_same(random, g.finish(g.like(OpKind::PadV2, pads, {x, value})));
  }
}

TEST(Legalise, TablesAndClampsJoinWhatMakesTheirInput) {
  Random random(13);
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 6, 6, 4}, 0.05f, -7);
  const TensorId w = g.constant(random, DataType::Int8, {5, 3, 3, 4}, {{0.02f}, {0}, 0});
  const auto y = g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, w}, 1, DataType::Int8, 0.1f, 9);
  const auto t = g.node(OpKind::Tanh, graph::NoAttrs{}, {y[0]}, 1, DataType::Int8, 1.0f / 128, 0);
  const auto z =
      g.like(OpKind::Conv2d, graph::Conv2dAttrs{},
             {t[0], g.constant(random, DataType::Int8, {3, 1, 1, 5}, {{0.002f}, {0}, 0})});
  const auto r = g.like(OpKind::Relu, graph::ReluAttrs{graph::Activation::ReluN1To1}, {z[0]});
  const graph::Module module = g.finish(r);
  expect_taken_and_same(random, module);
  EXPECT_EQ(operation_count(module), 2u);
}

// What a network that takes and gives one number computes.
TEST(Legalise, PairsOfNumbersWithoutAxes) {
  Random random(15);
  using enum OpKind;
  for (const DataType type : kTypes)
    for (const OpKind kind : {Add, Sub, Mul, Div, Minimum, Maximum, SquaredDifference})
      for (const Shape& other : {Shape{}, Shape{1, 1}}) {
        const auto zero = type == DataType::Int8 ? int64_t{-3} : int64_t{0};
        Graph g;
        const TensorId a = g.input(type, {}, 0.01f, zero), b = g.input(type, other, 0.01f, zero);
        const auto y = g.node(kind, graph::default_attributes(kind), {a, b}, 1, type, 0.01f, zero);
        expect_taken_and_same(random, g.finish(y));
      }
}

TEST(Legalise, QuantizeFromWords) {
  Random random(14);
  for (const DataType to : kTypes)
    for (const DataType from : {DataType::Int8, DataType::Int16, DataType::Int32}) {
      Graph g;
      const TensorId x = g.input(from, {1, 3, 40}, from == DataType::Int32 ? 1.3e-8f : 0.013f, 0);
      const auto y =
          g.node(OpKind::Quantize, graph::NoAttrs{}, {x}, 1, to, 0.017f, zero_for(random, to));
      expect_taken_and_same(random, g.finish(y));
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
