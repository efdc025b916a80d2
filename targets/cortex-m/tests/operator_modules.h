// Modules of one int8 operator with shapes that a test chooses; weights, bias and scales are random.
#pragma once

#include "intarsia/graph.h"
#include "support/random_operator.h"

namespace intarsia::test::cortex_m {

using testing::Random;

struct WindowCase {
  graph::OpKind kind = graph::OpKind::Conv2d;  // or DepthwiseConv2d, TransposeConv2d
  int64_t batches = 1, height = 1, width = 1, channels = 1, out_channels = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride = 1, dilation_h = 1, dilation_w = 1;
  int64_t stride_w = 0;  // 0: as `stride`
  int64_t groups = 1;    // of a Conv2d
  graph::Padding2d padding;
  graph::Activation activation = graph::Activation::None;
  // Multipliers below one half, as trained networks have them; otherwise anything up to two.
  bool small_multipliers = true;
  bool has_bias = true;
  int64_t most_weight = 127;  // in magnitude; 128: all are -128 or 127 where they are saturated
};
graph::Module window_module(Random& random, const WindowCase& c);

graph::Module fully_connected_module(Random& random, int64_t rows, int64_t inputs, int64_t outputs);

// Of operands of one shape without weights: pooling, mean, softmax, sums and products.
graph::Module plain_module(Random& random, graph::OpKind kind, graph::Attributes attributes,
                           const Shape& shape, int operands = 1);

// Of two operands whose last two axes are matrices.
graph::Module matmul_module(Random& random, const Shape& a, const Shape& b,
                            bool transpose_b = false, bool transpose_a = false);

// Of two operands, an output scale at random; numpy's broadcasting.
graph::Module binary_module(Random& random, graph::OpKind kind, const Shape& a, const Shape& b,
                            graph::Activation activation = graph::Activation::None);

}  // namespace intarsia::test::cortex_m
