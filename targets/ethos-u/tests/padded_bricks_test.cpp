// Maps whose channels do not fill the last brick of 16: they lie in bricks where that saves more time than the padding takes memory.
#include <iterator>

#include <gtest/gtest.h>

#include "compiled_testing.h"
#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr int64_t kSide = 14, kWidths[] = {72, 40, 120, 40, 120, 72};

// A chain of 1 x 1 convolutions of int8, whose bytes cross the port of SRAM for as long as it multiplies, or longer.
graph::Module chain() {
  testing::Random random{117};
  Graph graph;
  TensorId x = graph.input(DataType::Int8, {1, kSide, kSide, kWidths[0]}, 0.05f, 3);
  for (size_t i = 1; i < std::size(kWidths); ++i) {
    const int64_t from = kWidths[i - 1], to = kWidths[i];
    const TensorId w = graph.constant(random, DataType::Int8, {to, 1, 1, from}, {{0.01f}, {0}, 0});
    const TensorId b = graph.constant(random, DataType::Int32, {to}, {{0.0005f}, {0}, 0});
    x = graph.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, w, b}, 1, DataType::Int8, 0.05f,
                   -4)[0];
  }
  return graph.finish({x});
}

// Whether maps between the convolutions lie in bricks. What runs as the evaluator says.
bool pads_bricks(const CompileRequest& request) {
  const graph::Module module = chain();
  testing::Random random{118};
  return commands_that_run(random, module, request).find("14x14x40 S8 NHCWB16") !=
         std::string::npos;
}

TEST(PaddedBricks, WherePortsSetThePace) {
  EXPECT_TRUE(pads_bricks({.target = "ethos-u55-256", .memory_mode = "shared-sram"}));
  EXPECT_TRUE(pads_bricks({.target = "ethos-u55-256",
                           .memory_mode = "shared-sram",
                           .optimise = LoweringOptions::Optimise::Balanced}));
  EXPECT_TRUE(
      pads_bricks({.target = "ethos-u55-256", .memory_mode = "shared-sram", .sram_limit = 60000}));
}

TEST(PaddedBricks, NotWhereTheArrayDoes) {
  EXPECT_FALSE(pads_bricks({.target = "ethos-u55-32", .memory_mode = "sram-only"}));
}

TEST(PaddedBricks, NotForSize) {
  EXPECT_FALSE(pads_bricks({.target = "ethos-u55-256",
                            .memory_mode = "shared-sram",
                            .optimise = LoweringOptions::Optimise::Size}));
}

TEST(PaddedBricks, NotWhereThereIsNoRoom) {
  EXPECT_FALSE(pads_bricks({.target = "ethos-u55-256",
                            .memory_mode = "shared-sram",
                            .sram_limit = (40 + 120) * kSide * kSide + 64}));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
