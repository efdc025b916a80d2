// Modules of one operator on int16 activations, and recurrent layers, with shapes that a test chooses.
#pragma once

#include "intarsia/graph.h"
#include "support/random_operator.h"

namespace intarsia::test::cortex_m {

using testing::Random;

struct WideCase {
  graph::OpKind kind =
      graph::OpKind::Conv2d;  // or DepthwiseConv2d, or FullyConnected of channels to out_channels
  int64_t height = 1, width = 1, channels = 1, out_channels = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride = 1, dilation = 1;
  graph::Padding2d padding;
  DataType bias = DataType::Int64;
  bool extreme = false;  // all weights -128 or 127
  int64_t batches = 1;
  graph::Activation activation = graph::Activation::None;
};
graph::Module wide_module(Random& random, const WideCase& c);

// A depthwise convolution in single precision; out_channels == channels.
graph::Module float_depthwise_module(Random& random, const WideCase& c);

// A sum or a difference of int16 operands of these scales.
graph::Module wide_sum_module(Random& random, graph::OpKind kind, const Shape& a, const Shape& b,
                              float a_scale, float b_scale, graph::Activation activation);
graph::Module wide_pool_module(Random& random, graph::OpKind kind, const Shape& shape,
                               const graph::Pool2dAttrs& attributes);

// One step of an LSTM layer with weights of int8; type: of its activations.
graph::Module lstm_module(Random& random, DataType type, int64_t inputs, int64_t units,
                          float input_scale = 0);  // 0: a fine one
// An SVDF layer of int8 with a state of `state`.
graph::Module svdf_module(Random& random, DataType state, int64_t inputs, int64_t units,
                          int64_t memory);

}  // namespace intarsia::test::cortex_m
