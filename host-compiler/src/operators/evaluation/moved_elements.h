// Elements that the reference evaluator moves.
#pragma once

#include <cstring>

#include "operators/evaluation/invocation.h"

namespace intarsia::operators {

// The same bytes.
inline Result<void> eval_reshape(const Invocation& call) {
  std::memcpy(call.outputs[0], call.inputs[0], static_cast<size_t>(call.in().bytes()));
  return {};
}

// The index along every axis of element `at` of a dense shape.
inline Shape indices_of(int64_t at, const Shape& shape) {
  Shape indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) indices[axis] = at % shape[axis];
  return indices;
}

inline int64_t place_of(const Shape& indices, const Shape& shape) {
  int64_t place = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + indices[axis];
  return place;
}

// Output element i is element source(indices of i) of an input, or `fill` when that is -1.
template <typename F>
void gather_elements(const Invocation& call, size_t input, size_t output, F&& source,
                     const uint8_t* fill = nullptr) {
  const auto size = static_cast<size_t>(bits(call.out(output).type) / 8);
  const Shape& out = call.out(output).shape;
  for (int64_t i = 0; i < element_count(out); ++i) {
    const int64_t from = source(indices_of(i, out));
    const uint8_t* element =
        from < 0 ? fill : call.inputs[input] + static_cast<size_t>(from) * size;
    std::memcpy(call.outputs[output] + static_cast<size_t>(i) * size, element, size);
  }
}

}  // namespace intarsia::operators
