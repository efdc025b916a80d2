// Operators along one axis: log-softmax, l2 normalisation, index of the extreme.
#include <algorithm>
#include <cmath>

#include "graph/fixed_functions.h"
#include "graph/fixed_point.h"
#include "graph/kernels.h"

namespace intarsia::graph {
namespace {

using enum DataType;

template <typename T>
void arg(const Invocation& call) {
  const auto axis = static_cast<size_t>(call.node.attrs<AxisAttrs>().axis);
  const Shape& in = call.in().shape;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < in.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= in[i];
  const bool largest = call.node.kind == OpKind::ArgMax;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const T* column = call.data<T>(0) + o * in[axis] * inner + i;
      int32_t best = 0;
      for (int64_t k = 1; k < in[axis]; ++k) {
        const T value = column[k * inner], known = column[best * inner];
        if (largest ? value > known : value < known) best = static_cast<int32_t>(k);
      }
      call.result<int32_t>()[o * inner + i] = best;
    }
}

}  // namespace

Result<void> eval_arg(const Invocation& call) {
  if (call.type() == Int8)
    arg<int8_t>(call);
  else if (call.type() == Float32)
    arg<float>(call);
  else
    return unsupported_types(call);
  return {};
}

Result<void> eval_log_softmax(const Invocation& call) {
  const int64_t depth = call.in().shape.back();
  for (int64_t row = 0; row < element_count(call.in().shape); row += depth) {
    const float* x = call.data<float>(0) + row;
    const float largest = *std::max_element(x, x + depth);
    float sum = 0;
    for (int64_t i = 0; i < depth; ++i) sum += std::exp(x[i] - largest);
    const float log_sum = std::log(sum);
    for (int64_t i = 0; i < depth; ++i) call.result<float>()[row + i] = x[i] - largest - log_sum;
  }
  return {};
}

Result<void> eval_l2_normalization(const Invocation& call) {
  const int64_t depth = call.in().shape.back();
  for (int64_t row = 0; row < element_count(call.in().shape); row += depth) {
    if (call.type() == Float32) {
      const float* x = call.data<float>(0) + row;
      float squares = 0;
      for (int64_t i = 0; i < depth; ++i) squares += x[i] * x[i];
      const float norm = std::max(std::sqrt(squares), 1e-6f);
      for (int64_t i = 0; i < depth; ++i) call.result<float>()[row + i] = x[i] / norm;
    } else {
      const int8_t* x = call.data<int8_t>(0) + row;
      const auto zero = static_cast<int32_t>(call.in_zero_point());
      int32_t squares = 0;
      for (int64_t i = 0; i < depth; ++i)
        squares = wrapping_add(squares, (x[i] - zero) * (x[i] - zero));
      FixedFactor factor = inverse_square_root(squares);
      factor.shift += 7;
      for (int64_t i = 0; i < depth; ++i)
        call.result<int8_t>()[row + i] =
            static_cast<int8_t>(std::clamp(multiply(x[i] - zero, factor), -128, 127));
    }
  }
  return {};
}

}  // namespace intarsia::graph
