// Functions of one int16 whose result is int16, in integers: what quantisers of 16 bits leave between an operator that the IR has in floats
// alone, or on scales that are too coarse, and its QuantizeLinear.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Of one element, and no line: lines and corners of lines have operators of their own (passes/integer_forms.h), which are exact.
bool is_curve(graph::OpKind kind);

// A curve as 512 straight lines, where none of its 65,536 results is further than two steps from the function: half a step is of the
// points, half of the rounding between them, half of a second rounding where the curve leaves the result's range and is drawn on a wider
// scale, and the rest for the curve itself. No tensor where the reals are no such function.
graph::TensorId straight_lines(Reader& in, graph::TensorId reals, const QuantizedAs& as);

// The operand of a HardSigmoid, alpha * x + beta from 0 to 1, in words: a product, whose end is where the line's is, and a sum. No tensor
// for others.
graph::TensorId hard_sigmoid_of_words(Reader& in, float alpha, float beta, const Tail& tail);

}  // namespace intarsia::onnx
