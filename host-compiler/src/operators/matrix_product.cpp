// Products of batches of matrices.
#include <fmt/format.h>

#include <type_traits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/common_types.h"
#include "operators/evaluation/broadcast.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_batch_matmul(OpCheck& check) {
  const auto& attrs = check.node.attrs<BatchMatmulAttrs>();
  const Tensor &a = check.in(0), &b = check.in(1);
  if (!check.require(a.shape.size() >= 2 && b.shape.size() >= 2, "operands need two axes or more"))
    return {};
  if (check.ok() && a.type != Float32 && quantized(check, a.type == Int16))
    check.factor(mul_factor(a, b, check.out()),
                 a.type == Int16 ? kMostExponent64 : kMostExponent32);
  const auto matrix = [](const Shape& shape, bool transposed) {
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  const auto [rows, depth] = matrix(a.shape, attrs.transpose_a);
  const auto [b_depth, columns] = matrix(b.shape, attrs.transpose_b);
  check.require(depth == b_depth,
                fmt::format("multiplies {} columns with {} rows", depth, b_depth));
  Shape shape = broadcast_shape(check, Shape(a.shape.begin(), a.shape.end() - 2),
                                Shape(b.shape.begin(), b.shape.end() - 2));
  shape.push_back(rows), shape.push_back(columns);
  return {shape};
}

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
  const FixedFactor factor = fixed_factor(mul_factor(call.in(0), call.in(1), call.out()));
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  multiply_batches<T, Sum>(
      call, [&](T x, size_t operand) { return x - call.in_zero_point(operand); },
      [&](Sum sum) {
        return requantized<T>(multiply(static_cast<std::make_signed_t<Sum>>(sum), factor),
                              call.out_zero_point(), range);
      });
}

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

Multiplier product_multiplier(const OpView& v) {
  return conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization)[0];
}

Stmt lower_batch_matmul(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<BatchMatmulAttrs>();
  const Shape& out = v.out().shape;
  const size_t batch_axes = out.size() - 2;
  const auto extended = [&](Shape shape) {
    shape.insert(shape.begin(), out.size() - shape.size(), 1);
    return shape;
  };
  const Shape a_shape = extended(v.in(0).shape), b_shape = extended(v.in(1).shape);
  const int64_t rows = out[batch_axes], columns = out[batch_axes + 1];
  const int64_t depth = attrs.transpose_a ? a_shape[batch_axes] : a_shape[batch_axes + 1];
  op.declare({a_shape, b_shape}, out);

  const DataType type = v.out().type;
  const bool wide = type == Int16;
  const BufferId acc = b.register_("acc", type == Float32 ? Float32 : wide ? Int64 : Int32);
  const auto element = [&](size_t input, const Shape& shape, std::vector<Expr> place, Expr first,
                           Expr second) {
    for (size_t axis = 0; axis < batch_axes; ++axis)
      if (shape[axis] == 1) place[axis] = tir::int_imm(0);
    place.push_back(std::move(first)), place.push_back(std::move(second));
    const Expr value = b.load(op.in(input), place);
    if (type == Float32) return value;
    return to_i32(value) - v.in(input).quantization.zero_point[0];
  };
  const auto result = [&]() -> Expr {
    const Expr sum = b.load(acc);
    if (type == Float32) return sum;
    const Multiplier m = product_multiplier(v);
    const Expr scaled = wide ? requantize_wide(sum, m) : requantize(sum, m);
    return clamp(scaled + v.out().quantization.zero_point[0], type_range(type), type);
  };
  const Expr start = type == Float32 ? tir::float_imm(0) : tir::int_imm(0, wide ? Int64 : Int32);
  return nested_loops(b, Shape(out.begin(), out.end() - 2), [&](const std::vector<Expr>& batch) {
    return b.loop("row", rows, [&](const Expr& row) {
      return b.loop("column", columns, [&](const Expr& column) {
        const Stmt sum = b.loop("k", depth, [&](const Expr& k) {
          const Expr x = attrs.transpose_a ? element(0, a_shape, batch, k, row)
                                           : element(0, a_shape, batch, row, k);
          const Expr y = attrs.transpose_b ? element(1, b_shape, batch, column, k)
                                           : element(1, b_shape, batch, k, column);
          const Expr product = x * y;
          return accumulate(b, acc, wide ? tir::cast(Int64, product) : product);
        });
        std::vector<Expr> place = batch;
        place.push_back(row), place.push_back(column);
        return tir::seq({b.store(acc, {}, start), sum, b.store(op.out(), place, result())});
      });
    });
  });
}

int64_t batch_matmul_macs(const Function& function, const Node& node) {
  const Shape& a = function.tensor(node.inputs[0]).shape;
  const bool transposed = node.attrs<BatchMatmulAttrs>().transpose_a;
  return element_count(function.tensor(node.outputs[0]).shape) *
         (transposed ? a[a.size() - 2] : a.back());
}

constexpr Operator kMatrixProductOperators[] = {
    {.kind = OpKind::BatchMatmul,
     .types = kTwoNumbers,
     .infer = infer_batch_matmul,
     .evaluate = eval_batch_matmul,
     .lower = lower_batch_matmul,
     .refuses = refuses_quantization,
     .mac_count = batch_matmul_macs},
};

}  // namespace

std::span<const Operator> matrix_product_operators() {
  return kMatrixProductOperators;
}

}  // namespace intarsia::operators
