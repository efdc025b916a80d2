// Short operations that do the same to neighbouring channels, which become one.
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

// Parts of `whole` along its last axis, of `count` channels each.
std::vector<TensorId> parts_of(Graph& g, TensorId whole, const Shape& shape, int64_t count) {
  std::vector<TensorId> parts;
  for (int64_t begin = 0; begin < shape.back(); begin += count) {
    graph::SliceAttrs attributes;
    attributes.begin.assign(shape.size(), 0);
    attributes.begin.back() = begin;
    attributes.size = shape;
    attributes.size.back() = count;
    attributes.stride.assign(shape.size(), 1);
    parts.push_back(g.like(OpKind::Slice, attributes, {whole})[0]);
  }
  return parts;
}

// The gates of a recurrent layer: parts of the products with its input and with what it remembers, added up. The last gate's sum
// has a scale of its own.
graph::Module gates(DataType type, int64_t width, int64_t channels, size_t order) {
  Graph g;
  const Shape whole = {1, width, 3 * channels};
  const TensorId x = g.input(type, whole, 0.0011f, 0), h = g.input(type, whole, 0.0043f, 0);
  const std::vector<TensorId> of_x = parts_of(g, x, whole, channels),
                              of_h = parts_of(g, h, whole, channels);
  std::vector<TensorId> outputs;
  for (size_t k = 0; k < 3; ++k) {
    const size_t gate = (k * order) % 3;
    const TensorId sum = g.node(OpKind::Add, graph::BinaryAttrs{}, {of_x[gate], of_h[gate]}, 1,
                                type, gate == 2 ? 0.0041f : 0.0037f, 0)[0];
    outputs.push_back(g.node(OpKind::Logistic, {}, {sum}, 1, type, 1.0f / 32768, 0)[0]);
  }
  return g.finish(outputs);
}

TEST(Beside, GatesOfARecurrentLayer) {
  Random random(61);
  for (const size_t order : {size_t{1}, size_t{2}}) {
    const graph::Module module = gates(DataType::Int16, 1, 16, order);
    expect_taken_and_same(random, module);
    // Three gates at once: both operands widened, and their sum. Two at once: that sum scaled. Each by itself: what goes out.
    EXPECT_EQ(operation_count(module), 3u + 2u + 3u) << order;
  }
}

// Operations that take longer than what beginning them costs stay apart: their results would take memory together.
TEST(Beside, LongOperationsStayApart) {
  Random random(67);
  const graph::Module module = gates(DataType::Int16, 64, 16, 1);
  expect_taken_and_same(random, module);
  const auto program = legalise(module, module.entry_function());
  for (const auto& operation : program.operations) EXPECT_LE(operation.ofm.extent.depth, 16);
}

// What reads one of the results as other extents finds it where it was.
TEST(Beside, ResultsThatAreReshaped) {
  Random random(71);
  Graph g;
  const Shape whole = {1, 1, 48};
  const TensorId x = g.input(DataType::Int16, whole, 0.0011f, 0);
  std::vector<TensorId> outputs;
  for (const TensorId part : parts_of(g, x, whole, 16)) {
    const TensorId positive = g.like(OpKind::Abs, {}, {part})[0];
    const TensorId square =
        g.like(OpKind::Reshape, graph::ReshapeAttrs{.shape = {1, 4, 4}}, {positive})[0];
    outputs.push_back(g.like(OpKind::Abs, {}, {square})[0]);
  }
  expect_taken_and_same(random, g.finish(outputs));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
