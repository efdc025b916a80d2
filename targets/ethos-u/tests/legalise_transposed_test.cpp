// Transposed convolutions, and what they are made of.
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

TEST(Legalise, TransposeConvolution) {
  Random random(5);
  for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    const DataType type = kTypes[random.range(0, 1)];
    const bool narrow = type == DataType::Int8;
    const int64_t channels = random.range(1, 3), filters = random.range(1, 3);
    const int64_t h = random.range(1, 5), w = random.range(1, 5);
    const Shape kernel = {filters, random.range(1, 5), random.range(1, 5), channels};
    graph::TransposeConv2dAttrs a;
    a.stride_h = random.range(1, 5), a.stride_w = random.range(1, 3);
    // Shapes of VALID and SAME, as TFLite has them.
    const auto extent = [&](int64_t in, int64_t stride, int64_t size, int64_t& pad) {
      const int64_t beyond = std::max<int64_t>(size - stride, 0);
      const bool valid = random.chance(50);
      pad = valid ? 0 : beyond / 2;
      return in * stride + (valid ? beyond : 0);
    };
    a.out_h = extent(h, a.stride_h, kernel[1], a.pad_top);
    a.out_w = extent(w, a.stride_w, kernel[2], a.pad_left);
    Graph g;
    const TensorId x =
        g.input(type, {random.range(1, 2), h, w, channels}, 0.05f, zero_for(random, type));
    const TensorId weights = g.constant(random, DataType::Int8, kernel, {{0.03f}, {0}, 0});
    const TensorId bias = g.constant(random, narrow ? DataType::Int32 : DataType::Int64, {filters},
                                     {{0.0015f}, {0}, 0});
    const auto y = g.node(OpKind::TransposeConv2d, a, {x, weights, bias}, 1, type,
                          narrow ? 0.3f : 0.02f, zero_for(random, type));
    expect_taken_and_same(random, g.finish(y));
  }
}

// Outputs before and behind all windows, where nothing but the bias arrives.
TEST(Legalise, TransposeConvolutionBeyondItsWindows) {
  Random random(24);
  for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    const Shape kernel = {2, random.range(1, 4), random.range(1, 4), 3};
    graph::TransposeConv2dAttrs a;
    a.stride_h = random.range(1, 4), a.stride_w = random.range(1, 3);
    a.out_h = random.range(1, 7), a.out_w = random.range(1, 8);
    a.pad_top = random.range(0, 6), a.pad_left = random.range(0, 6);
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, random.range(1, 3), random.range(1, 3), 3},
                               0.05f, random.range(-90, 90));
    const TensorId weights = g.constant(random, DataType::Int8, kernel, {{0.03f}, {0}, 0});
    const TensorId bias = g.constant(random, DataType::Int32, {2}, {{0.0015f}, {0}, 0});
    expect_taken_and_same(random, g.finish(g.node(OpKind::TransposeConv2d, a, {x, weights, bias}, 1,
                                                  DataType::Int8, 0.3f, random.range(-90, 90))));
  }
}

// A stride of two by an input with zeros between its elements: where multiplying these takes less time than beginning an operation
// for each phase. One row has no other between itself and the next; where there are two, the phases are joined.
TEST(Legalise, TransposeConvolutionOfFewElements) {
  Random random(25);
  struct Case {
    int64_t height, width, kernel_height;
    size_t operations;
  };
  for (const DataType type : kTypes)
    for (const Case& c : {Case{1, 16, 1, 1}, Case{1, 1024, 1, 2}, Case{3, 3, 3, 1},
                          Case{48, 48, 3, 4}, Case{2, 16, 1, 1}, Case{2, 1024, 1, 2}}) {
      const bool narrow = type == DataType::Int8;
      graph::TransposeConv2dAttrs a;
      a.stride_h = c.kernel_height > 1 ? 2 : 1;
      a.stride_w = 2;
      a.out_h = a.stride_h * c.height;
      a.out_w = a.stride_w * c.width;
      a.pad_left = 3;
      Graph g;
      const TensorId x = g.input(type, {1, c.height, c.width, 8}, 0.05f, zero_for(random, type));
      const TensorId weights =
          g.constant(random, DataType::Int8, {8, c.kernel_height, 8, 8}, {{0.03f}, {0}, 0});
      const TensorId bias =
          g.constant(random, narrow ? DataType::Int32 : DataType::Int64, {8}, {{0.0015f}, {0}, 0});
      const auto y = g.node(OpKind::TransposeConv2d, a, {x, weights, bias}, 1, type,
                            narrow ? 0.3f : 0.02f, zero_for(random, type));
      const graph::Module module = g.finish(y);
      expect_taken_and_same(random, module);
      EXPECT_EQ(operation_count(module), c.operations) << c.height << " " << c.width;
    }
}

// All phases of a row at once where their filters have room in a micro-block of eight, or their windows are the same; an output
// inside of another map has pixels in between.
TEST(Legalise, TransposeConvolutionOfFewFilters) {
  Random random(26);
  struct Case {
    int64_t filters, kernel, stride, out_width;
    bool is_part;
    size_t operations;
  };
  for (const DataType type : kTypes)
    for (const Case& c :
         {Case{3, 2, 2, 48, false, 2}, Case{1, 9, 2, 48, false, 2}, Case{2, 4, 4, 96, false, 4},
          Case{8, 2, 2, 48, false, 2}, Case{8, 3, 2, 48, false, 4}, Case{3, 2, 2, 47, false, 4},
          Case{3, 2, 2, 48, true, 4}}) {
      const bool narrow = type == DataType::Int8;
      graph::TransposeConv2dAttrs a;
      a.stride_h = a.stride_w = c.stride;
      a.out_h = 24 * c.stride;
      a.out_w = c.out_width;
      a.pad_top = a.pad_left = (c.kernel - c.stride) / 2;
      Graph g;
      const TensorId x = g.input(type, {2, 24, 24, 16}, 0.05f, zero_for(random, type));
      const TensorId weights = g.constant(random, DataType::Int8,
                                          {c.filters, c.kernel, c.kernel, 16}, {{0.03f}, {0}, 0});
      const TensorId bias = g.constant(random, narrow ? DataType::Int32 : DataType::Int64,
                                       {c.filters}, {{0.0015f}, {0}, 0});
      const int64_t zero = zero_for(random, type);
      const float scale = narrow ? 0.3f : 0.02f;
      auto y = g.node(OpKind::TransposeConv2d, a, {x, weights, bias}, 1, type, scale, zero);
      if (c.is_part) {
        const TensorId z = g.input(type, {2, a.out_h, a.out_w, 1}, scale, zero);
        y = g.node(OpKind::Concat, graph::AxisAttrs{3}, {y[0], z}, 1, type, scale, zero);
      }
      const graph::Module module = g.finish(y);
      expect_taken_and_same(random, module);
      // Of two images each, and one that brings what it is joined with.
      EXPECT_EQ(operation_count(module), 2 * c.operations + (c.is_part ? 1 : 0))
          << c.filters << " " << c.kernel << " " << c.out_width;
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
