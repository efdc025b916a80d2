// Products of batches of matrices.
#include <type_traits>

#include "graph/broadcast.h"
#include "graph/fixed_point.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

struct MatmulShape {
  int64_t rows, depth, columns;
  // Elements from one row or column of the product to the next, and along the sum.
  int64_t a_row, a_step, b_column, b_step;
  std::vector<int64_t> a_batch, b_batch;  // first elements, per batch of the output

  explicit MatmulShape(const Invocation& call) {
    const auto& attrs = call.node.attrs<BatchMatmulAttrs>();
    const Shape &a = call.in(0).shape, &b = call.in(1).shape, &out = call.out().shape;
    rows = out[out.size() - 2], columns = out.back();
    depth = attrs.transpose_a ? a[a.size() - 2] : a.back();
    a_row = attrs.transpose_a ? 1 : depth, a_step = attrs.transpose_a ? rows : 1;
    b_column = attrs.transpose_b ? depth : 1, b_step = attrs.transpose_b ? 1 : columns;
    const Shape batches(out.begin(), out.end() - 2);
    a_batch = broadcast_places(Shape(a.begin(), a.end() - 2), batches);
    b_batch = broadcast_places(Shape(b.begin(), b.end() - 2), batches);
    for (int64_t& at : a_batch) at *= rows * depth;
    for (int64_t& at : b_batch) at *= depth * columns;
  }
};

// Sum: unsigned, so that integers wrap around.
template <typename T, typename Sum, typename Value, typename Finish>
void multiply_batches(const Invocation& call, Value&& value, Finish&& finish) {
  const MatmulShape s(call);
  T* result = call.result<T>();
  for (size_t batch = 0; batch < s.a_batch.size(); ++batch)
    for (int64_t row = 0; row < s.rows; ++row)
      for (int64_t column = 0; column < s.columns; ++column) {
        const T* a = call.data<T>(0) + s.a_batch[batch] + row * s.a_row;
        const T* b = call.data<T>(1) + s.b_batch[batch] + column * s.b_column;
        Sum sum{};
        for (int64_t k = 0; k < s.depth; ++k)
          sum += static_cast<Sum>(value(a[k * s.a_step], 0)) *
                 static_cast<Sum>(value(b[k * s.b_step], 1));
        *result++ = finish(sum);
      }
}

template <typename T, typename Sum>
void multiply_integers(const Invocation& call) {
  const FixedFactor factor = fixed_factor(product_factor(call.in(0), call.in(1), call.out()));
  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  multiply_batches<T, Sum>(
      call, [&](T x, size_t operand) { return x - call.in_zero_point(operand); },
      [&](Sum sum) {
        return requantized<T>(multiply(static_cast<std::make_signed_t<Sum>>(sum), factor),
                              call.out_zero_point(), range);
      });
}

}  // namespace

Result<void> eval_batch_matmul(const Invocation& call) {
  if (call.type() == Int8)
    multiply_integers<int8_t, uint32_t>(call);
  else if (call.type() == Int16)
    multiply_integers<int16_t, uint64_t>(call);
  else if (call.type() == Float32)
    multiply_batches<float, float>(
        call, [](float x, size_t) { return x; }, [](float sum) { return sum; });
  else
    return unsupported_types(call);
  return {};
}

}  // namespace intarsia::graph
