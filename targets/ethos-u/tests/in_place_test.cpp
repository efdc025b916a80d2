// Results that take the place of their operand, which every block of them has read before it is written.
#include <vector>

#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr int64_t kFew = 4, kMany = 32, kBytes = 2;
constexpr float kScale = 0.00037f;

TensorId pointwise(Graph& g, testing::Random& random, TensorId x, int64_t from, int64_t to) {
  const TensorId w = g.constant(random, DataType::Int8, {to, 1, 1, from}, {{kScale}, {0}, 0});
  const TensorId b = g.constant(random, DataType::Int64, {to}, {{kScale * kScale}, {0}, 0});
  return g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, w, b}, 1, DataType::Int16, kScale, 0)[0];
}

// What runs as the evaluator says.
int64_t sram_of(const graph::Module& module, const std::string& target, testing::Random& random) {
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, {.target = target});
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return 0;
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "") << target;
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs)) << target;
  return sram_bytes(*model);
}

// Of a convolution to more channels and one back, with three functions of 16 bits between, which are windows of one element. Where it
// is kept, the second one's result is added to the third one's.
int64_t sram_of_functions(const std::string& target, const Shape& shape, bool is_kept) {
  testing::Random random(83);
  Graph g;
  const TensorId x = g.input(DataType::Int16, shape, kScale, 0);
  TensorId y = pointwise(g, random, x, kFew, kMany);
  TensorId kept = y;
  for (int i = 0; i < 3; ++i) {
    y = g.node(i % 2 == 0 ? OpKind::Tanh : OpKind::Logistic, {}, {y}, 1, DataType::Int16,
               1.0f / 32768, 0)[0];
    if (i == 1) kept = y;
  }
  if (is_kept)
    y = g.node(OpKind::Add, graph::BinaryAttrs{}, {y, kept}, 1, DataType::Int16, 1.0f / 16384,
               0)[0];
  return sram_of(g.finish({pointwise(g, random, y, kMany, kFew)}), target, random);
}

TEST(InPlace, FunctionsOfOneElement) {
  for (const char* target :
       {"ethos-u55-32 -memory-mode=sram-only", "ethos-u55-256 -memory-mode=sram-only",
        "ethos-u65-256 -memory-mode=sram-only"})
    for (const int64_t width : {1, 75, 600}) {
      const int64_t map = width * kMany * kBytes, edge = width * kFew * kBytes;
      EXPECT_LE(sram_of_functions(target, {1, 1, width, kFew}, false), map + 2 * edge + 64)
          << target << " " << width;
      EXPECT_GE(sram_of_functions(target, {1, 1, width, kFew}, true), 2 * map)
          << target << " " << width << ": read again, it has to stay";
    }
}

// Of a function of what two convolutions have put beside each other, and of a convolution of its rows.
int64_t sram_of_parts(const std::string& target, const Shape& shape, int64_t kernel) {
  testing::Random random(84);
  Graph g;
  const TensorId x = g.input(DataType::Int16, shape, kScale, 0);
  const TensorId parts[] = {pointwise(g, random, x, kFew, kMany / 2),
                            pointwise(g, random, x, kFew, kMany / 2)};
  TensorId y = g.node(OpKind::Concat, graph::AxisAttrs{3}, {parts[0], parts[1]}, 1, DataType::Int16,
                      kScale, 0)[0];
  y = g.node(OpKind::Tanh, {}, {y}, 1, DataType::Int16, 1.0f / 32768, 0)[0];
  const TensorId w =
      g.constant(random, DataType::Int8, {kFew, kernel, kernel, kMany}, {{kScale}, {0}, 0});
  const TensorId b = g.constant(random, DataType::Int64, {kFew}, {{kScale / 32768}, {0}, 0});
  y = g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {y, w, b}, 1, DataType::Int16, kScale, 0)[0];
  return sram_of(g.finish({y}), target, random);
}

// All parts are there before the function begins.
TEST(InPlace, FunctionsOfParts) {
  for (const char* target :
       {"ethos-u55-32 -memory-mode=sram-only", "ethos-u55-256 -memory-mode=sram-only",
        "ethos-u65-256 -memory-mode=sram-only"})
    for (const int64_t kernel : {1, 3}) {
      constexpr int64_t kRows = 12, kColumns = 20;
      const int64_t map = kRows * kColumns * kMany * kBytes,
                    edge = kRows * kColumns * kFew * kBytes;
      EXPECT_LE(sram_of_parts(target, {1, kRows, kColumns, kFew}, kernel), map + 2 * edge + 64)
          << target << " " << kernel;
    }
}

// Sums of 16 bits between layers that see tokens of a transformer or a mixer in another shape, as converters write them: one map
// beside the one in whose place the sum is made, and as much as one for bands of both on 32 bits.
TEST(InPlace, SumsBetweenReshapes) {
  constexpr int64_t kSide = 16, kTokens = kSide * kSide, kChannels = 24;
  for (const char* target :
       {"ethos-u55-32 -memory-mode=sram-only", "ethos-u55-128 -memory-mode=sram-only",
        "ethos-u65-256 -memory-mode=sram-only"}) {
    testing::Random random(85);
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, kSide, kSide, kFew}, kScale, 0);
    const auto tokens = [&](float scale) {
      const TensorId w =
          g.constant(random, DataType::Int8, {kChannels, 1, 1, kFew}, {{kScale}, {0}, 0});
      const TensorId y = g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, w, TensorId{}}, 1,
                                DataType::Int16, scale, 0)[0];
      return g.like(OpKind::Reshape, graph::ReshapeAttrs{{1, kTokens, kChannels}}, {y})[0];
    };
    const TensorId kept = tokens(kScale), other = tokens(0.7f * kScale);
    TensorId y = g.node(OpKind::Add, graph::BinaryAttrs{}, {kept, other}, 1, DataType::Int16,
                        2.3f * kScale, 0)[0];
    y = g.like(OpKind::Reshape, graph::ReshapeAttrs{{1, kSide, kSide, kChannels}}, {y})[0];
    y = pointwise(g, random, y, kChannels, kFew);
    EXPECT_LE(sram_of(g.finish({y}), target, random), 3 * kTokens * kChannels * kBytes) << target;
  }
}

// A chain whose maps are joined behind it at the last one's scale, as one-shot aggregation has them: the whole and two maps of the chain,
// since each is copied as soon as the next one is made.
TEST(Parts, AreCopiedBeforeTheChainGoesOn) {
  constexpr int64_t kRows = 20, kColumns = 24, kChannels = 16, kMaps = 5;
  constexpr int64_t kMap = kRows * kColumns * kChannels * kBytes;
  constexpr float kWhole = 1.3f * kScale;
  for (const char* target :
       {"ethos-u55-32 -memory-mode=sram-only", "ethos-u55-256 -memory-mode=sram-only"}) {
    testing::Random random(86);
    Graph g;
    TensorId x = g.input(DataType::Int16, {1, kRows, kColumns, kFew}, kScale, 0);
    std::vector<TensorId> parts;
    int64_t from = kFew;
    for (int64_t i = 0; i < kMaps; ++i) {
      const TensorId w =
          g.constant(random, DataType::Int8, {kChannels, 3, 3, from}, {{kScale}, {0}, 0});
      const TensorId b =
          g.constant(random, DataType::Int64, {kChannels}, {{kScale * kScale}, {0}, 0});
      x = g.node(OpKind::Conv2d, graph::Conv2dAttrs{.padding = {1, 1, 1, 1}}, {x, w, b}, 1,
                 DataType::Int16, i + 1 < kMaps ? kScale : kWhole, 0)[0];
      parts.push_back(x);
      from = kChannels;
    }
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      parts[i] = g.node(OpKind::Quantize, {}, {parts[i]}, 1, DataType::Int16, kWhole, 0)[0];
    const TensorId joined = g.like(OpKind::Concat, graph::AxisAttrs{3}, parts)[0];
    const TensorId y = pointwise(g, random, joined, kMaps * kChannels, kFew);
    EXPECT_LE(sram_of(g.finish({y}), target, random), (kMaps + 2) * kMap + 64) << target;
  }
}

// Rows may come and go, through buffers of their own.
TEST(InPlace, FunctionsBetweenRows) {
  sram_of_functions("ethos-u55-128", {1, 24, 40, kFew}, false);
  sram_of_functions("ethos-u65-256", {1, 24, 40, kFew}, true);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
