// Cascades without any limit on memory: where they take no longer and the maps around the peak are large beside their weights.
#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

class Layers {
 public:
  TensorId input(const Shape& shape) { return graph_.input(DataType::Int8, shape, 0.05f, 3); }
  TensorId pointwise(TensorId x, int32_t from, int32_t to) {
    return layer(OpKind::Conv2d, graph::Conv2dAttrs{}, x, {to, 1, 1, from}, to);
  }
  TensorId depthwise(TensorId x, int32_t channels, int32_t stride) {
    graph::DepthwiseConv2dAttrs a;
    a.stride_h = a.stride_w = stride;
    const int64_t before = stride == 1 ? 1 : 0;
    a.padding = {before, before, 1, 1};
    return layer(OpKind::DepthwiseConv2d, a, x, {1, 3, 3, channels}, channels);
  }
  // Every second place of one channel through 10 x 8, as what finds words in a spectrum begins.
  TensorId spectrum(TensorId x, int32_t channels) {
    graph::Conv2dAttrs a;
    a.stride_h = a.stride_w = 2;
    a.padding = {4, 3, 5, 3};
    return layer(OpKind::Conv2d, a, x, {channels, 10, 8, 1}, channels);
  }
  TensorId whole_window(TensorId x, int32_t height, int32_t width, int32_t from, int32_t to) {
    return layer(OpKind::Conv2d, graph::Conv2dAttrs{}, x, {to, height, width, from}, to);
  }
  graph::Module finish(TensorId y) { return graph_.finish({y}); }

 private:
  TensorId layer(OpKind kind, const graph::Attributes& attributes, TensorId x, const Shape& weights,
                 int32_t channels) {
    const TensorId w = graph_.constant(random_, DataType::Int8, weights, {{0.01f}, {0}, 0});
    const TensorId b = graph_.constant(random_, DataType::Int32, {channels}, {{0.0005f}, {0}, 0});
    return graph_.node(kind, attributes, {x, w, b}, 1, DataType::Int8, 0.05f, -4)[0];
  }
  testing::Random random_{71};
  Graph graph_;
};

int64_t sram_of(const graph::Module& module, const CompileRequest& request) {
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return 0;
  testing::Random random(72);
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs));
  return sram_bytes(*model);
}

// Six times as many channels between the halves of a block, as mobile networks have them at the beginning, and most of the
// work behind it.
TEST(FreeCascades, WhatIsWidestIsThereInPart) {
  Layers layers;
  const TensorId x = layers.input({1, 48, 48, 16});
  const TensorId wide = layers.pointwise(x, 16, 96);
  TensorId y = layers.pointwise(layers.depthwise(wide, 96, 2), 96, 24);
  y = layers.pointwise(layers.depthwise(y, 24, 2), 24, 384);
  for (int i = 0; i < 3; ++i) y = layers.pointwise(y, 384, 384);
  const graph::Module module = layers.finish(y);
  const int64_t widest = int64_t{48} * 48 * 96, beside = int64_t{24} * 24 * 96;
  for (const char* target : {"ethos-u55-128", "ethos-u55-256", "ethos-u65-256"}) {
    SCOPED_TRACE(target);
    EXPECT_LT(sram_of(module, {.target = target, .memory_mode = "sram-only"}), widest);
  }
  EXPECT_LT(sram_of(module, {.memory_mode = "shared-sram"}), widest + beside);
}

// With one memory, for size on NPUs of all kinds.
void expect_less_for_size(const graph::Module& module, int64_t bytes) {
  for (const char* target :
       {"ethos-u55-32", "ethos-u55-64", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"}) {
    SCOPED_TRACE(target);
    EXPECT_LT(sram_of(module, {.target = target,
                               .memory_mode = "sram-only",
                               .optimise = LoweringOptions::Optimise::Size}),
              bytes);
  }
}

int64_t balanced_sram_of(const graph::Module& module) {
  return sram_of(module, {.target = "ethos-u55-64", .memory_mode = "sram-only"});
}

void expect_less_sram(const graph::Module& module, int64_t bytes) {
  expect_less_for_size(module, bytes);
  EXPECT_LT(balanced_sram_of(module), bytes);
}

// What reads one map and makes another one of its size, in its place, takes turns with the layers before and behind it.
TEST(FreeCascades, WhatIsMadeInPlaceIsThereInPart) {
  Graph graph;
  testing::Random random(73);
  constexpr float kScale = 0.0002f;
  const auto layer = [&](TensorId x, int32_t from, int32_t to) {
    graph::Conv2dAttrs a;
    a.padding = {1, 1, 1, 1};
    const TensorId w = graph.constant(random, DataType::Int8, {to, 3, 3, from}, {{0.01f}, {0}, 0});
    const TensorId y =
        graph.node(OpKind::Conv2d, a, {x, w, TensorId{}}, 1, DataType::Int16, kScale, 0)[0];
    const TensorId leaky = graph.like(OpKind::LeakyRelu, graph::LeakyReluAttrs{0.1f}, {y})[0];
    graph::Pool2dAttrs pool;
    pool.filter_h = pool.filter_w = pool.stride_h = pool.stride_w = 2;
    return graph.like(OpKind::MaxPool2d, pool, {leaky})[0];
  };
  const TensorId x = graph.input(DataType::Int16, {1, 48, 40, 3}, kScale, 0);
  const graph::Module module = graph.finish({layer(layer(x, 3, 16), 16, 24)});
  const int64_t widest = int64_t{48} * 40 * 16 * 2;
  expect_less_sram(module, widest);
}

// Windows that reach neither the last row nor the last column, as a pool without padding over an even number of both.
TEST(FreeCascades, WhatIsNotReadToItsEndIsThereInPart) {
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    Graph graph;
    testing::Random random(75);
    const float scale = type == DataType::Int8 ? 0.05f : 0.0002f;
    const auto layer = [&](TensorId x, const Shape& weights, const graph::Conv2dAttrs& a) {
      const TensorId w = graph.constant(random, DataType::Int8, weights, {{0.01f}, {0}, 0});
      return graph.node(OpKind::Conv2d, a, {x, w, TensorId{}}, 1, type, scale, 0)[0];
    };
    graph::Conv2dAttrs halves;
    halves.stride_h = halves.stride_w = 2;
    halves.padding = {0, 0, 1, 1};
    graph::Pool2dAttrs pool;
    pool.filter_h = pool.filter_w = 3;
    pool.stride_h = pool.stride_w = 2;
    const TensorId x = graph.input(type, {1, 48, 48, 3}, scale, 0);
    const TensorId y = graph.like(OpKind::MaxPool2d, pool, {layer(x, {32, 3, 3, 3}, halves)})[0];
    const graph::Module module = graph.finish({layer(y, {16, 1, 1, 32}, {})});
    const int64_t bytes = bits(type) / 8, widest = int64_t{24} * 24 * 32 * bytes;
    expect_less_for_size(module, widest);
    // Of 16 bits that takes more time than it is worth.
    if (type == DataType::Int16) continue;
    EXPECT_LT(balanced_sram_of(module), 48 * 48 * 3 * bytes + widest);
  }
}

// A network over time has maps of one row: their columns roll. Windows that reach beyond both ends, strides, and both layouts.
TEST(FreeCascades, OfASingleRowColumnsAreThereInPart) {
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const int32_t channels : {32, 24}) {
      Graph graph;
      testing::Random random(76);
      const float scale = type == DataType::Int8 ? 0.05f : 0.0002f;
      const auto layer = [&](TensorId x, int32_t from, int32_t to, int32_t taps, int32_t stride) {
        graph::Conv2dAttrs a;
        a.padding = {0, (taps - 1) / 2, 0, taps / 2};
        a.stride_w = stride;
        const TensorId w =
            graph.constant(random, DataType::Int8, {to, 1, taps, from}, {{0.01f}, {0}, 0});
        return graph.node(OpKind::Conv2d, a, {x, w, TensorId{}}, 1, type, scale, 0)[0];
      };
      graph::Pool2dAttrs pool;
      pool.filter_w = pool.stride_w = 2;
      const TensorId x = graph.input(type, {1, 1, 256, 16}, scale, 0);
      TensorId y = graph.like(OpKind::MaxPool2d, pool, {layer(x, 16, channels, 9, 1)})[0];
      y = layer(layer(y, channels, channels, 4, 1), channels, 8, 3, 2);
      const graph::Module module = graph.finish({y});
      expect_less_for_size(module, int64_t{256} * (16 + channels) * bits(type) / 8);
    }
}

// Windows with long strides, as a transformer's patches, are convolutions row by row where a copy of all of them takes much memory.
TEST(FreeCascades, LongStridesNeedNoCopy) {
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    Graph graph;
    testing::Random random(74);
    const float scale = type == DataType::Int8 ? 0.05f : 0.0002f;
    graph::Conv2dAttrs a;
    a.stride_h = a.stride_w = 8;
    const TensorId x = graph.input(type, {1, 48, 40, 3}, scale, type == DataType::Int8 ? 3 : 0);
    const TensorId w = graph.constant(random, DataType::Int8, {24, 8, 8, 3}, {{0.01f}, {0}, 0});
    const graph::Module module =
        graph.finish(graph.node(OpKind::Conv2d, a, {x, w, TensorId{}}, 1, type, 4 * scale, 0));
    const int64_t input = int64_t{48} * 40 * 3 * bits(type) / 8;
    expect_less_sram(module, input * 3 / 2);
  }
}

// A copy of the input with its border, whose windows overlap in memory, makes half of the time shorter by a tenth of all, and is more
// than the input.
TEST(PaddedCopies, TakeNoMemoryForATenthOfTheTime) {
  Layers layers;
  const TensorId heard = layers.spectrum(layers.input({1, 49, 40, 1}), 8);
  const graph::Module module = layers.finish(layers.whole_window(heard, 25, 20, 8, 8));
  EXPECT_LE(sram_of(module, {.target = "ethos-u55-128", .memory_mode = "shared-sram"}),
            49 * 40 + 25 * 20 * 8 + 16);
}

// Blocks of a mobile network with most of its weights at the end: half a percent of time is less than the estimate leaves open, and
// the widest map is half of all memory.
TEST(FreeCascades, WhatTakesALittleLongerIsWeighed) {
  Layers l;
  const auto block = [&](TensorId x, int32_t from, int32_t to, int32_t stride) {
    return l.pointwise(l.depthwise(l.pointwise(x, from, 6 * from), 6 * from, stride), 6 * from, to);
  };
  TensorId y = block(l.input({1, 32, 32, 16}), 16, 16, 2);
  y = block(y, 16, 32, 2);
  y = block(y, 32, 32, 1);
  y = block(y, 32, 256, 2);
  for (int i = 0; i < 2; ++i)
    y = l.pointwise(l.depthwise(l.pointwise(y, 256, 1024), 1024, 1), 1024, 256);
  const int64_t widest = int64_t{32} * 32 * 96, beside = int64_t{16} * 16 * 96;
  EXPECT_LT(sram_of(l.finish(y), {.target = "ethos-u65-256"}), (widest + beside) * 3 / 4);
}

// Of maps of a few pixels the weights would have to stay for all turns.
TEST(FreeCascades, WhatHasManyWeightsIsWhole) {
  Layers layers;
  const TensorId x = layers.input({1, 6, 6, 64});
  const TensorId wide = layers.pointwise(x, 64, 512);
  const graph::Module module =
      layers.finish(layers.pointwise(layers.depthwise(wide, 512, 1), 512, 64));
  EXPECT_GE(sram_of(module, {.target = "ethos-u55-128"}), int64_t{2} * 6 * 6 * 512);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
