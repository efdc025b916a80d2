// Rules of operators on single elements or rows whose arithmetic is particular.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {

using enum DataType;

namespace {

bool quantized(OpCheck& check, bool symmetric = false) {
  bool fine = true;
  for (size_t i = 0; i < check.node.inputs.size(); ++i)
    if (check.in(i).type != Float32)
      fine &= check.per_tensor(check.in(i), fmt::format("operand {}", i), symmetric);
  if (check.out().type != Float32) fine &= check.per_tensor(check.out(), "output", symmetric);
  return fine;
}

Shape both(OpCheck& check) {
  return broadcast_shape(check, check.in(0).shape, check.in(1).shape);
}

}  // namespace

Shapes infer_minimum_maximum(OpCheck& check) {
  check.types({{Int8, Int8, Int8},
               {Int16, Int16, Int16},
               {Int32, Int32, Int32},
               {Int64, Int64, Int64},
               {Float32, Float32, Float32}});
  return {both(check)};
}

Shapes infer_squared_difference(OpCheck& check) {
  check.types({{Int8, Int8, Int8},
               {Int16, Int16, Int16},
               {Int32, Int32, Int32},
               {Float32, Float32, Float32}});
  const DataType type = check.out().type;
  if (check.ok() && type != Float32 && type != Int32 && quantized(check, type == Int16))
    check.factor(squared_difference_factors(check.in(0), check.in(1), check.out()).output,
                 kMostExponent32);
  return {both(check)};
}

Shapes infer_comparison(OpCheck& check) {
  const bool equality = check.node.kind == OpKind::Equal || check.node.kind == OpKind::NotEqual;
  if (equality)
    check.types({{Int8, Int8, Bool},
                 {Int32, Int32, Bool},
                 {Int64, Int64, Bool},
                 {Float32, Float32, Bool},
                 {Bool, Bool, Bool}});
  else
    check.types(
        {{Int8, Int8, Bool}, {Int32, Int32, Bool}, {Int64, Int64, Bool}, {Float32, Float32, Bool}});
  if (check.ok() && check.in(0).type == Int8) {
    check.per_tensor(check.in(0), "first operand");
    check.per_tensor(check.in(1), "second operand");
    // TFLite represents the scales themselves as factors below one.
    if (check.ok()) check.factor(scale_of(check.in(0)), 0);
    if (check.ok()) check.factor(scale_of(check.in(1)), 0);
  }
  return {both(check)};
}

Shapes infer_logical(OpCheck& check) {
  check.types({{Bool, Bool, Bool}});
  return {both(check)};
}

Shapes infer_select(OpCheck& check) {
  check.types({{Bool, Int8, Int8, Int8},
               {Bool, Int16, Int16, Int16},
               {Bool, Int32, Int32, Int32},
               {Bool, Float32, Float32, Float32}});
  const Shape values = broadcast_shape(check, check.in(1).shape, check.in(2).shape);
  if (!check.ok()) return {};
  return {broadcast_shape(check, check.in(0).shape, values)};
}

Shapes infer_leaky_relu(OpCheck& check) {
  const float alpha = check.node.attrs<LeakyReluAttrs>().alpha;
  check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  check.require(std::isfinite(alpha), "alpha is not a finite number");
  if (check.ok() && check.in(0).type != Float32 && quantized(check)) {
    const LeakyReluFactors factors = leaky_relu_factors(check.in(0), check.out(), alpha);
    check.factor(factors.positive, kMostExponent32);
    if (alpha != 0) check.factor(std::abs(factors.negative), kMostExponent32);
  }
  return {check.in(0).shape};
}

Shapes infer_prelu(OpCheck& check) {
  check.types({{Int8, Int8, Int8}, {Int16, Int8, Int16}, {Float32, Float32, Float32}});
  if (check.ok() && check.in(0).type != Float32 && quantized(check)) {
    const PreluFactors factors = prelu_factors(check.in(0), check.in(1), check.out());
    check.factor(factors.positive, kMostExponent32);
    check.factor(factors.negative, kMostExponent32);
  }
  const Shape shape = both(check);
  if (check.ok())
    check.require(shape == check.in(0).shape, "alpha has axes that the input has not");
  return {check.in(0).shape};
}

Shapes infer_sigmoid(OpCheck& check) {
  check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  const Tensor &input = check.in(0), &output = check.out();
  if (!check.ok() || input.type == Float32) return {input.shape};
  const bool wide = input.type == Int16, is_tanh = check.node.kind == OpKind::Tanh;
  if (!check.per_tensor(input, "input", wide) || !check.per_tensor(output, "output", wide))
    return {input.shape};
  const double scale = wide ? 1.0 / 32768 : is_tanh ? 1.0 / 128 : 1.0 / 256;
  const int64_t zero_point = wide || is_tanh ? 0 : -128;
  check.require(
      std::abs(scale_of(output) - scale) <= 0.001 * scale &&
          output.quantization.zero_point[0] == zero_point,
      fmt::format("the output has to have the scale {} and the zero point {}", scale, zero_point));
  if (wide)
    check.require(scale_of(input) * 3 * 4096 <= 32767, "the input's scale is too large");
  else
    check.factor(scale_of(input) * (1 << 27), kMostExponent32);
  return {input.shape};
}

Shapes infer_unary(OpCheck& check) {
  switch (check.node.kind) {
    case OpKind::LogicalNot:
      check.types({{Bool, Bool}});
      break;
    case OpKind::HardSwish:
    case OpKind::Elu:
      check.types({{Int8, Int8}, {Float32, Float32}});
      break;
    case OpKind::Exp:
      check.types({{Int8, Int8}, {Float32, Float32}});
      break;
    case OpKind::Abs:
      check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
      break;
    case OpKind::Rsqrt:
      check.types({{Int8, Int8}, {Float32, Float32}});
      break;
    default:
      check.types({{Float32, Float32}});
  }
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && is_integer(input.type) && quantized(check)) {
    if (check.node.kind == OpKind::Abs) check.factor(relu_factor(input, output), kMostExponent32);
    if (check.node.kind == OpKind::HardSwish) {
      check.factor(hard_swish_factors(input, output).output, 0);
      check.factor(hard_swish_factors(input, output).gate, 15);
    }
    if (check.node.kind == OpKind::Rsqrt) check.factor(rsqrt_factor(input, output), 50);
  }
  return {input.shape};
}

Shapes infer_cast(OpCheck& check) {
  const auto castable = [](DataType type) {
    return type == Bool || type == Int8 || type == UInt8 || type == Int16 || type == Int32 ||
           type == UInt32 || type == Int64 || type == Float32;
  };
  check.require(castable(check.in(0).type) && castable(check.out().type),
                fmt::format("cannot convert {}", check.types_text()));
  return {check.in(0).shape};
}

Shapes infer_log_softmax(OpCheck& check) {
  check.types({{Float32, Float32}});
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  return {check.in(0).shape};
}

Shapes infer_l2_normalization(OpCheck& check) {
  check.types({{Int8, Int8}, {Float32, Float32}});
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (check.ok() && check.in(0).type == Int8 && quantized(check)) {
    check.require(check.out().quantization.zero_point[0] == 0 && scale_of(check.out()) == 1.0 / 128,
                  "the output has to have the scale 1/128 and the zero point 0");
    check.require(check.in(0).shape.back() <= 33025, "rows are longer than 33025 elements");
  }
  return {check.in(0).shape};
}

Shapes infer_arg(OpCheck& check) {
  check.types({{Int8, Int32}, {Float32, Int32}});
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape shape = check.in(0).shape;
  if (!check.require(axis >= 0 && axis < static_cast<int64_t>(shape.size()),
                     fmt::format("has the axis {} for rank {}", axis, shape.size())))
    return {};
  shape.erase(shape.begin() + axis);
  return {shape};
}

Shapes infer_batch_matmul(OpCheck& check) {
  const auto& attrs = check.node.attrs<BatchMatmulAttrs>();
  check.types({{Int8, Int8, Int8}, {Int16, Int16, Int16}, {Float32, Float32, Float32}});
  const Tensor &a = check.in(0), &b = check.in(1);
  if (!check.require(a.shape.size() >= 2 && b.shape.size() >= 2, "operands need two axes or more"))
    return {};
  if (check.ok() && a.type != Float32 && quantized(check, a.type == Int16))
    check.factor(product_factor(a, b, check.out()),
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

}  // namespace intarsia::graph
