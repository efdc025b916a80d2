// Products of batches of matrices.
#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

Multiplier product_multiplier(const OpView& v) {
  const float product = v.in(0).quantization.scale[0] * v.in(1).quantization.scale[0];
  return quantize_multiplier(static_cast<double>(product) /
                             static_cast<double>(v.out().quantization.scale[0]));
}

}  // namespace

Refusal refuses_batch_matmul(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(
          view, {{{Int8, Int8}, Int8}, {{Int16, Int16}, Int16}, {{Float32, Float32}, Float32}}))
    return types;
  return refuses_quantization(view);
}

Stmt lower_batch_matmul(OpLowering& op) {
  using enum DataType;
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::BatchMatmulAttrs>();
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

}  // namespace intarsia::standard_lowering
