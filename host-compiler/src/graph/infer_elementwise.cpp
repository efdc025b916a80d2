// Rules of the operators that compute each element on its own, and of softmax.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {

using enum DataType;

Shape broadcast_shape(OpCheck& check, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {  // from the last axis
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      check.fail(fmt::format("shapes [{}] and [{}] cannot be broadcast together", fmt::join(a, ","),
                             fmt::join(b, ",")),
                 "counted from the last axis, extents have to be the same or 1");
      return result;
    }
    result[result.size() - 1 - i] = std::max(x, y);
  }
  return result;
}

Shapes infer_binary(OpCheck& check) {
  const auto& attributes = check.node.attrs<BinaryAttrs>();
  const OpKind kind = check.node.kind;
  const bool is_add = kind == OpKind::Add || kind == OpKind::Sub;
  if (kind == OpKind::Div)
    check.types({{Float32, Float32, Float32}});
  else
    check.types({{Int8, Int8, Int8},
                 {Int16, Int16, Int16},
                 {Int32, Int32, Int32},
                 {Float32, Float32, Float32}});
  const Tensor &a = check.in(0), &b = check.in(1), &output = check.out();
  if (check.ok() && output.type == Int32) {
    check.require(!a.quantization.present() && !b.quantization.present(),
                  "i32 operands have to be plain numbers, without quantisation");
    check.require(attributes.activation == Activation::None, "i32 takes no fused activation");
  } else if (check.ok() && output.type != Float32) {
    const bool symmetric = !is_add && output.type == Int16;
    check.per_tensor(a, "first operand", symmetric);
    check.per_tensor(b, "second operand", symmetric);
    check.per_tensor(output, "output", symmetric);
    // TFLite represents the output's factor of an addition by a right shift only.
    if (check.ok() && is_add) check.factor(add_factors(a, b, output).output, 0);
    if (check.ok() && !is_add) check.factor(mul_factor(a, b, output), kMostExponent32);
  }
  return {broadcast_shape(check, a.shape, b.shape)};
}

Shapes infer_relu(OpCheck& check) {
  check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  const Tensor &input = check.in(0), &output = check.out();
  if (check.ok() && input.type != Float32) {
    const bool symmetric = input.type == Int16;
    if (check.per_tensor(input, "input", symmetric) &&
        check.per_tensor(output, "output", symmetric))
      check.factor(relu_factor(input, output), kMostExponent32);
  }
  return {input.shape};
}

Shapes infer_softmax(OpCheck& check) {
  const auto& attributes = check.node.attrs<SoftmaxAttrs>();
  check.types({{Int8, Int8}, {Int8, Int16}, {Int16, Int16}, {Float32, Float32}});
  const Tensor &input = check.in(0), &output = check.out();
  check.require(!input.shape.empty(), "the input is a scalar");
  check.require(std::isfinite(attributes.beta), "beta is not a finite number");
  if (!check.ok() || input.type == Float32) return {input.shape};

  if (!check.per_tensor(input, "input", input.type == Int16) || !check.per_tensor(output, "output"))
    return {input.shape};
  const auto output_is = [&](double scale, double tolerance, int64_t zero_point) {
    check.require(std::abs(scale_of(output) - scale) <= tolerance * scale &&
                      output.quantization.zero_point[0] == zero_point,
                  fmt::format("the output has to have the scale {} and the zero point {}", scale,
                              zero_point));
  };
  if (output.type == Int8) {
    output_is(1.0 / 256, 0, -128);
  } else if (input.type == Int8) {
    output_is(1.0 / 65536, 0.001, -32768);
  } else {
    output_is(1.0 / 32768, 0.001, 0);
  }
  // The sum of that many exponentials still fits into the accumulator.
  const int64_t most = input.type == Int16 ? 65535 : 4095;
  check.require(input.shape.back() <= most,
                fmt::format("the last extent is {}, fixed-point arithmetic sums at most {}",
                            input.shape.back(), most));
  const double factor = softmax_factor(input, attributes.beta);
  if (input.type == Int16) {
    check.factor(factor, kMostExponent32);
  } else {
    check.require(factor > 1,
                  "beta times the input's scale is too small for fixed-point arithmetic");
  }
  return {input.shape};
}

Shapes infer_quantize(OpCheck& check) {
  check.types({{Float32, Int8},
               {Float32, UInt8},
               {Float32, Int16},
               {Float32, Int32},
               {Int8, Int8},
               {Int8, UInt8},
               {Int8, Int16},
               {Int8, Int32},
               {UInt8, Int8},
               {UInt8, UInt8},
               {UInt8, Int16},
               {Int16, Int8},
               {Int16, UInt8},
               {Int16, Int16},
               {Int16, Int32},
               {Int32, Int8},
               {Int32, Int16},
               {Int32, Int32}});
  const Tensor &input = check.in(0), &output = check.out();
  check.per_tensor(output, "output");
  if (input.type != Float32 && check.per_tensor(input, "input") && check.ok())
    check.factor(rescale_factor(input, output), kMostExponent32);
  return {input.shape};
}

Shapes infer_dequantize(OpCheck& check) {
  check.types({{Int8, Float32}, {UInt8, Float32}, {Int16, Float32}, {Int32, Float32}});
  check.per_tensor(check.in(0), "input");
  return {check.in(0).shape};
}

}  // namespace intarsia::graph
