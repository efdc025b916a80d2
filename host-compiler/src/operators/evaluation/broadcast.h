// numpy's broadcasting for the evaluator's kernels.
#pragma once

#include <vector>

#include "operators/evaluation/invocation.h"

namespace intarsia::operators {

// For every element of the output the element of an operand of the given shape.
inline std::vector<int64_t> broadcast_places(const Shape& shape, const Shape& out) {
  std::vector<int64_t> strides(out.size(), 0);  // 0 where repeated
  int64_t next = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = shape.size() - 1 - i;
    if (shape[axis] != 1) strides[out.size() - 1 - i] = next;
    next *= shape[axis];
  }
  std::vector<int64_t> places(static_cast<size_t>(element_count(out)));
  std::vector<int64_t> index(out.size(), 0);
  int64_t at = 0;
  for (int64_t& place : places) {
    place = at;
    for (size_t axis = out.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < out[axis]) break;
      at -= strides[axis] * out[axis];
      index[axis] = 0;
    }
  }
  return places;
}

// result[i] = f(a, b).
template <typename A, typename B, typename R, typename F>
void broadcast_types(const Invocation& call, F&& f) {
  const Shape& out = call.out().shape;
  const std::vector<int64_t> at_a = broadcast_places(call.in(0).shape, out);
  const std::vector<int64_t> at_b = broadcast_places(call.in(1).shape, out);
  const A* a = call.data<A>(0);
  const B* b = call.data<B>(1);
  R* result = call.result<R>();
  for (size_t i = 0; i < at_a.size(); ++i) result[i] = static_cast<R>(f(a[at_a[i]], b[at_b[i]]));
}

template <typename T, typename F>
void broadcast(const Invocation& call, F&& f) {
  broadcast_types<T, T, T>(call, std::forward<F>(f));
}

}  // namespace intarsia::operators
