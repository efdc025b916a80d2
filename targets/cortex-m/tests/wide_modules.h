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

// HybridConv2d, HybridDepthwiseConv2d or HybridFullyConnected, of c.batches rows.
graph::Module hybrid_module(Random& random, const WideCase& c, int64_t groups = 1);

// Conv2d, DepthwiseConv2d or FullyConnected of int8 by weights of bytes around a zero point of theirs.
graph::Module shifted_module(Random& random, const WideCase& c, int64_t groups = 1);
// LogSoftmax or L2Normalization of int8 rows.
graph::Module normalized_module(Random& random, graph::OpKind kind, int64_t rows, int64_t count,
                                float scale);
// Rows of floats, each of which becomes int8.
graph::Module row_steps_module(Random& random, int64_t rows, int64_t count, bool asymmetric,
                               bool together = false);
// Add, Sub or Mul in single precision.
graph::Module float_binary_module(Random& random, graph::OpKind kind, const Shape& a,
                                  const Shape& b, graph::Activation activation);
// Concat along the axis of inputs of these shapes; Split of one into these extents; a Slice or a Transpose.
graph::Module concat_module(Random& random, DataType type, const std::vector<Shape>& inputs,
                            int64_t axis);
graph::Module moved_module(Random& random, graph::OpKind kind, DataType type, const Shape& input,
                           const graph::Attributes& attributes);

// A sum or a difference of int16 operands of these scales.
graph::Module wide_sum_module(Random& random, graph::OpKind kind, const Shape& a, const Shape& b,
                              float a_scale, float b_scale, graph::Activation activation);
// A product of int16 operands whose result is `steps` of its scale for the largest ones.
graph::Module wide_product_module(Random& random, const Shape& a, const Shape& b, float steps,
                                  graph::Activation activation);
// Squares of differences of operands of these scales.
graph::Module squared_difference_module(Random& random, DataType type, const Shape& a,
                                        const Shape& b, float a_scale, float b_scale);
// Logistic, Tanh, HardSwish, ReLU6 or Quantize of int16.
graph::Module wide_curve_module(Random& random, graph::OpKind kind, int64_t count, float scale,
                                float out_scale = 1.0f / 32768);
graph::Module wide_softmax_module(Random& random, int64_t rows, int64_t count, float scale,
                                  float beta);
// Integers from one scale and zero point to others.
graph::Module requantize_module(Random& random, DataType from, graph::Quantization in, DataType to,
                                graph::Quantization out, int64_t count);
// A product of a tensor with itself.
graph::Module square_module(Random& random, int64_t count, float scale, float out_scale);
// A function of one element in single precision, and arguments for it, some of which are far off.
graph::Module float_curve_module(Random& random, graph::OpKind kind, int64_t count,
                                 bool by_tanh = false);
graph::Module float_softmax_module(Random& random, int64_t rows, int64_t count, float beta);
graph::TensorValue floats_of_curves(Random& random, const graph::Module& module);
// Bilinear resizing of int8 or int16.
graph::Module resize_module(Random& random, DataType type, const Shape& in,
                            const graph::ResizeAttrs& attributes);
// Quantize of floats to steps of that type, or Dequantize of these.
graph::Module float_steps_module(Random& random, graph::OpKind kind, DataType type, int64_t count,
                                 float scale, int64_t zero_point);
// Floats about the middle between two steps of the module's result, and some that are none, or far off.
graph::TensorValue floats_between_steps(Random& random, const graph::Module& module);
// Logistic, Tanh, HardSwish, LeakyRelu or Quantize of int8.
graph::Module byte_function_module(Random& random, graph::OpKind kind, int64_t count);
// A sum, a difference or a product of an activation and a constant, either of which may be the first one.
graph::Module constant_operand_module(Random& random, graph::OpKind kind, DataType type,
                                      const Shape& activation, const Shape& constant,
                                      bool constant_first);
// PReLU with alphas, which are a constant or not, of that shape; `ratio`: the input's scale by the result's.
graph::Module prelu_module(Random& random, DataType type, const Shape& shape, const Shape& alpha,
                           bool constant, float ratio);
// Two operands of int8, the second of them a constant or not: a comparison, or a quotient.
graph::Module pair_module(Random& random, graph::OpKind kind, const Shape& a, const Shape& b,
                          bool constant);
// Maximum or Minimum of one scale; the second operand is a constant or not.
graph::Module extreme_module(Random& random, graph::OpKind kind, DataType type, const Shape& a,
                             const Shape& b, bool constant);
// ReLU to the input's own scale, and leaky ReLU of int16.
graph::Module limited_module(Random& random, DataType type, int64_t count);
graph::Module leaky_relu_module(Random& random, int64_t count, float alpha, float ratio);
// Mean or Sum of int16, and ReduceMax over rows and columns.
graph::Module wide_mean_module(Random& random, graph::OpKind kind, const Shape& shape,
                               const std::vector<int64_t>& axes);
graph::Module largest_module(Random& random, DataType type, const Shape& shape);
// Of int8 elements and a constant of one; comparisons too.
graph::Module looked_up_module(Random& random, graph::OpKind kind, int64_t count,
                               bool constant_first);
// A product of int16 matrices.
graph::Module wide_matmul_module(Random& random, const Shape& a, const Shape& b, bool transpose_b,
                                 bool transpose_a = false);
// The same in single precision.
graph::Module float_matmul_module(Random& random, const Shape& a, const Shape& b, bool transpose_b,
                                  bool transpose_a = false);
// A convolution of groups, dilated by columns, or transposed, of int16 activations; c.kind says which.
graph::Module staged_wide_module(Random& random, const WideCase& c, int64_t groups);
graph::Module wide_pool_module(Random& random, graph::OpKind kind, const Shape& shape,
                               const graph::Pool2dAttrs& attributes);

// One step of an LSTM layer with weights of int8; type: of its activations.
graph::Module lstm_module(Random& random, DataType type, int64_t inputs, int64_t units,
                          float input_scale = 0, int64_t steps = 1);  // a scale of 0: a fine one
// An SVDF layer of int8 with a state of `state`.
graph::Module svdf_module(Random& random, DataType state, int64_t inputs, int64_t units,
                          int64_t memory);

}  // namespace intarsia::test::cortex_m
