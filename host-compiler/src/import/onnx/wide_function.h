// Reals that are a function of one tensor of int8, as integers of 16 bits: what a quantiser leaves in floats between an activation that it
// does not know and the average of it.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Words of 16 bits whose sum has 32.
inline constexpr int64_t kMostSummedWords = 65535;

// As int16 on a scale on which each of the function's 256 results has its place; no tensor for other reals.
graph::TensorId as_words(Reader& in, graph::TensorId reals);

// The average of words along the axes; no tensor where their sum has more than 32 bits.
graph::TensorId mean_of_words(Reader& in, const graph::ReduceAttrs& attrs, graph::TensorId words);

// The same of int8, which keeps seven more bits; no tensor of other types.
graph::TensorId mean_of_bytes_in_words(Reader& in, const graph::ReduceAttrs& attrs,
                                       graph::TensorId bytes);

// A sum or difference that is quantised, of operands that are int8 or, one of them at least, averages of int8 which are not quantised
// themselves: on 16 bits, of which an average keeps seven more. No tensor for others.
graph::TensorId sum_of_averages(Reader& in, graph::OpKind kind, const Tail& tail);

// What `make` gives of operand 0 as integers of 16 bits, on the scale that follows; nothing where the operand is no such function, or
// nothing is quantised behind it.
template <typename Make>
bool made_of_words(Reader& in, const Tail& tail, Make&& make) {
  if (!tail.as || in.value(0).form != Form::Plain) return false;
  const graph::TensorId made = in.attempt([&]() -> graph::TensorId {
    const graph::TensorId words = as_words(in, in.value(0).tensor);
    if (!words.valid()) return {};
    const graph::TensorId result = make(words);
    return result.valid() ? in.requantize(result, *tail.as) : result;
  });
  if (made.valid()) in.result(0, {made, Form::Real, {}});
  return made.valid();
}

}  // namespace intarsia::onnx
