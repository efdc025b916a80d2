// Of which operators the samples of costs are made that no kernel computes.
#pragma once

#include "intarsia/graph.h"
#include "operator_modules.h"

namespace intarsia::test::cortex_m {

inline constexpr graph::OpKind kLoops[] = {
    graph::OpKind::Conv2d,
    graph::OpKind::DepthwiseConv2d,
    graph::OpKind::FullyConnected,
    graph::OpKind::TransposeConv2d,
    graph::OpKind::AveragePool2d,
    graph::OpKind::MaxPool2d,
    graph::OpKind::Add,
    graph::OpKind::Sub,
    graph::OpKind::Mul,
    graph::OpKind::Minimum,
    graph::OpKind::Maximum,
    graph::OpKind::Relu,
    graph::OpKind::LeakyRelu,
    graph::OpKind::HardSwish,
    graph::OpKind::Logistic,
    graph::OpKind::Tanh,
    graph::OpKind::Softmax,
    graph::OpKind::L2Normalization,
    graph::OpKind::Mean,
    graph::OpKind::Sum,
    graph::OpKind::ReduceMax,
    graph::OpKind::ArgMax,
    graph::OpKind::Pad,
    graph::OpKind::Concat,
    graph::OpKind::Transpose,
    graph::OpKind::Slice,
    graph::OpKind::ResizeNearest,
    graph::OpKind::ResizeBilinear,
    graph::OpKind::Quantize,
    graph::OpKind::Dequantize,
    graph::OpKind::SpaceToDepth,
    graph::OpKind::BatchMatmul,
};

inline constexpr graph::OpKind kRealLoops[] = {
    graph::OpKind::Exp, graph::OpKind::Sqrt, graph::OpKind::Rsqrt, graph::OpKind::Square,
    graph::OpKind::Abs, graph::OpKind::Neg,  graph::OpKind::Div,   graph::OpKind::LogSoftmax,
    graph::OpKind::Log, graph::OpKind::Sin,  graph::OpKind::Pow,   graph::OpKind::Floor};
inline constexpr graph::OpKind kFloatCurves[] = {graph::OpKind::Exp, graph::OpKind::Logistic,
                                                 graph::OpKind::Tanh, graph::OpKind::HardSwish};

// ELU or GELU of floats, or a depthwise convolution along a line.
graph::Module curve_or_line(Random& random, int which);
// Functions of one element, of long rows.
graph::Module function_of_long_row(Random& random, int which);
// A convolution of int16 with any activation.
graph::Module rectified_wide(Random& random);

}  // namespace intarsia::test::cortex_m
