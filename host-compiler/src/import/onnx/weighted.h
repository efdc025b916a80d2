// What operators with weights and a bias share: convolutions and matrix products.
#pragma once

#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Integer weights with all zero points 0, which the IR's arithmetic wants: the same real values, of int8 where these hold
// them (those of int4 too), of int16 where they are differences of two bytes; else no tensor.
graph::TensorId symmetric_weights(Reader& in, graph::TensorId weights);

// The bias as integers in steps of input scale times weight scale (of each channel), from the operand as
// integers (Real, or plain int32 of a QLinear operator) or as floats. `factor` is the operator's own factor
// of the bias (Gemm's beta). No tensor when it is not constant.
graph::TensorId integer_bias(Reader& in, size_t operand, graph::TensorId input,
                             graph::TensorId weights, int64_t channels, float factor = 1);

// The real values of a bias that is constant and counts no steps of its operator, one of each channel.
std::optional<std::vector<double>> reals_of_bias(Reader& in, size_t operand, int64_t channels);

// These reals, one of each channel, so. No tensor where one has more than 32 bits.
graph::TensorId bias_in_steps(Reader& in, const std::vector<double>& reals, graph::TensorId input,
                              graph::TensorId weights);

// The bias as floats; plain int32 counts in steps of input scale times weight scale.
graph::TensorId real_bias(Reader& in, size_t operand, graph::TensorId input,
                          graph::TensorId weights);

// Both are integers with scales, the weights known.
bool in_integers(Reader& in, size_t input, size_t weights);

// What operators of bytes that give floats take beside the values: a scale and a zero point for each row, or image.
struct RowsOfBytes {
  graph::TensorId values, weights, scales, zero_points;
};

// The operands 0 and 1 so, where nothing quantises the result: known weights stay bytes, and sums are exact. Nothing where they are no bytes,
// or where a sum of `terms` products may have more than 32 bits.
std::optional<RowsOfBytes> bytes_for_floats(Reader& in, int64_t rows, int64_t terms);

// A convolution of floats with the attributes of the operator being read, which has operands of these shapes.
graph::TensorId float_convolution(Reader& in, graph::TensorId input, graph::TensorId weights);

// The same of int8 values less zero points, one for each image, with weights [O,I/groups,KH,KW] of int8: sums as floats, times a
// scale for each image. No tensor for volumes.
graph::TensorId integer_convolution(Reader& in, graph::TensorId input, graph::TensorId weights,
                                    graph::TensorId scales, graph::TensorId zero_points);

// numpy's product: vectors become matrices of one row or column, which the result loses again.
graph::TensorId matrix_product(Reader& in, graph::TensorId a, graph::TensorId b, DataType type,
                               const graph::Quantization& q);

// Where quantising a result again, which its operator gives on scale `natural`, stays within one step of
// the result: half a step of each.
bool within_a_step(float natural, const QuantizedAs& wanted);

}  // namespace intarsia::onnx
