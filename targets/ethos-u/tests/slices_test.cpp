// Operations whose weights come in slices of the output's depth, as many as the fast memory asks for.
#include <gtest/gtest.h>

#include "compiled_testing.h"
#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

// Of a convolution with 72 KB of weights, of which blocks of its plane would read each several times.
size_t slices_of(const CompileRequest& request) {
  testing::Random random{91};
  Graph graph;
  const TensorId x = graph.input(DataType::Int8, {1, 16, 16, 64}, 0.05f, 3);
  const TensorId w = graph.constant(random, DataType::Int8, {128, 3, 3, 64}, {{0.01f}, {0}, 0});
  const TensorId b = graph.constant(random, DataType::Int32, {128}, {{0.0005f}, {0}, 0});
  graph::Conv2dAttrs window;
  window.padding = {1, 1, 1, 1};
  const graph::Module module =
      graph.finish(graph.node(OpKind::Conv2d, window, {x, w, b}, 1, DataType::Int8, 0.05f, -4));
  const std::string commands = commands_that_run(random, module, request);
  size_t found = 0;
  for (size_t at = commands.find("OP_CONV"); at != std::string::npos;
       at = commands.find("OP_CONV", at + 1))
    ++found;
  return found;
}

// Maps of 48 KB, and room for two slices of 10 KB.
TEST(Slices, AsManyAsTheMemoryAsksFor) {
  EXPECT_EQ(slices_of({.target = "ethos-u55-256", .sram_limit = 70000}), 8u);
}

// DRAM's first byte takes as long to come as such a slice.
TEST(Slices, AreLongBesideTheLatencyOfTheirMemory) {
  EXPECT_LE(
      slices_of({.target = "ethos-u65-256", .memory_mode = "shared-sram", .sram_limit = 70000}),
      6u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
