// Operators on elements of equal place: add, mul (with broadcasting), relu, changes of
// quantisation.
#include <functional>

#include "standard_lowering/broadcast.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

using TypeList = std::vector<TypeCombination>;

int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}
double scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}

Range output_range(const OpView& v, graph::Activation activation) {
  return activation_range(activation, v.out().type, scale(v.out()), zero_point(v.out()));
}

// ---- one operand --------------------------------------------------------------------------------

// value of the input's quantisation in the output's, limited to `range`.
Expr requantized(const OpView& v, Expr value, double factor, Range range) {
  value = requantize(to_i32(std::move(value)) - zero_point(v.in(0)), quantize_multiplier(factor));
  return clamp(std::move(value) + zero_point(v.out()), range, v.out().type);
}

// ---- two operands -------------------------------------------------------------------------------

Stmt combine_elements(OpLowering& op, const std::function<Expr(Expr, Expr)>& function) {
  return combine_operands(op, [&](const std::vector<Expr>& x) { return function(x[0], x[1]); });
}

std::optional<AddRescaling> rescaling_of(const OpView& v) {
  return standard_lowering::add_rescaling(v.out().type, scale(v.in(0)), scale(v.in(1)),
                                          scale(v.out()));
}

// (value - zero point) * 2^left_shift, rescaled to the common scale of both operands. A factor that
// is a power of two above 2^-left_shift joins the shift: nothing is rounded then.
Expr widened(Expr value, const graph::Tensor& tensor, int32_t left_shift, Multiplier m) {
  value = to_i32(std::move(value)) - zero_point(tensor);
  const int32_t exact = left_shift - 1 + m.shift;
  if (m.value == 1 << 30 && exact >= 0) return std::move(value) * (int64_t{1} << exact);
  return requantize(std::move(value) * (int64_t{1} << left_shift), m);
}

}  // namespace

Refusal refuses_binary(const OpView& view) {
  using enum DataType;
  const bool is_div = view.node.kind == graph::OpKind::Div;
  const TypeList allowed{{{Int8, Int8}, Int8},
                         {{Int16, Int16}, Int16},
                         {{Int32, Int32}, Int32},
                         {{Float32, Float32}, Float32}};
  if (Refusal types = refuses_types(view, is_div ? TypeList{allowed.back()} : allowed))
    return types;
  if (view.out().type == Int32) return std::nullopt;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  const bool is_sum = view.node.kind == graph::OpKind::Add || view.node.kind == graph::OpKind::Sub;
  if (is_sum && is_integer(view.out().type) && !rescaling_of(view)) {
    return "the scales of operands and output are too far apart";
  }
  return std::nullopt;
}

namespace {

// Plain numbers wrap around.
Stmt combine_plain(OpLowering& op, tir::BinaryOp operation) {
  return combine_elements(op, [&](Expr a, Expr b) {
    const DataType wide = DataType::UInt32;
    return tir::cast(DataType::Int32, tir::binary(operation, tir::cast(wide, std::move(a)),
                                                  tir::cast(wide, std::move(b))));
  });
}

}  // namespace

Stmt lower_sum(OpLowering& op) {
  const OpView& v = op.view;
  const bool is_sub = v.node.kind == graph::OpKind::Sub;
  const graph::Activation activation = v.node.attrs<graph::BinaryAttrs>().activation;
  if (v.out().type == DataType::Int32)
    return combine_plain(op, is_sub ? tir::BinaryOp::Sub : tir::BinaryOp::Add);
  if (!is_integer(v.out().type)) {
    return combine_elements(op, [&](Expr a, Expr b) {
      return clamp(is_sub ? a - b : a + b, activation_range(activation));
    });
  }
  const AddRescaling rescaling = *rescaling_of(v);
  const Range range = output_range(v, activation);
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr x = widened(std::move(a), v.in(0), rescaling.left_shift, rescaling.a);
    const Expr y = widened(std::move(b), v.in(1), rescaling.left_shift, rescaling.b);
    const Expr sum = is_sub ? x - y : x + y;
    return clamp(requantize(sum, rescaling.output) + zero_point(v.out()), range, v.out().type);
  });
}

Stmt lower_div(OpLowering& op) {
  const graph::Activation activation = op.view.node.attrs<graph::BinaryAttrs>().activation;
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr quotient =
        tir::call(DataType::Float32, "intarsia_divide_f32", {std::move(a), std::move(b)});
    return clamp(quotient, activation_range(activation));
  });
}

Stmt lower_mul(OpLowering& op) {
  const OpView& v = op.view;
  const graph::Activation activation = v.node.attrs<graph::BinaryAttrs>().activation;
  if (v.out().type == DataType::Int32) return combine_plain(op, tir::BinaryOp::Mul);
  if (!is_integer(v.out().type)) {
    return combine_elements(
        op, [&](Expr a, Expr b) { return clamp(a * b, activation_range(activation)); });
  }
  const Multiplier m = quantize_multiplier(scale(v.in(0)) * scale(v.in(1)) / scale(v.out()));
  const Range range = output_range(v, activation);
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr product =
        (to_i32(std::move(a)) - zero_point(v.in(0))) * (to_i32(std::move(b)) - zero_point(v.in(1)));
    return clamp(requantize(product, m) + zero_point(v.out()), range, v.out().type);
  });
}

Refusal refuses_relu(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Int16}, Int16}, {{Float32}, Float32}}))
    return types;
  return refuses_quantization(view);
}

Stmt lower_relu(OpLowering& op) {
  const OpView& v = op.view;
  const graph::Activation activation = v.node.attrs<graph::ReluAttrs>().activation;
  if (!is_integer(v.out().type)) {
    return map_elements(op, [&](Expr x) { return clamp(x, activation_range(activation)); });
  }
  // TFLite divides the two scales in single precision here.
  const float factor = v.in(0).quantization.scale[0] / v.out().quantization.scale[0];
  return map_elements(op, [&](Expr x) {
    return requantized(v, std::move(x), factor, output_range(v, activation));
  });
}

Refusal refuses_quantize(const OpView& view) {
  using enum DataType;
  const TypeList allowed{
      {{Float32}, Int8}, {{Float32}, Int16}, {{Float32}, UInt8}, {{Int8}, Int8},   {{Int8}, Int16},
      {{Int8}, Int32},   {{Int8}, UInt8},    {{UInt8}, Int8},    {{Int16}, Int8},  {{Int16}, Int16},
      {{Int16}, Int32},  {{UInt8}, UInt8},   {{UInt8}, Int16},   {{Int16}, UInt8}, {{Int32}, Int8},
      {{Int32}, Int16},  {{Int32}, Int32}};
  if (Refusal types = refuses_types(view, allowed)) return types;
  if (view.in(0).type == Int32 && view.in(0).quantization.present() && zero_point(view.in(0)) != 0)
    return "the input's zero point is not 0";
  return refuses_quantization(view);
}

Stmt lower_quantize(OpLowering& op) {
  const OpView& v = op.view;
  const Range range = type_range(v.out().type);
  if (is_integer(v.in(0).type)) {
    return map_elements(op, [&](Expr x) {
      return requantized(v, std::move(x), scale(v.in(0)) / scale(v.out()), range);
    });
  }
  return map_elements(op, [&](Expr x) {
    const Expr quantized = tir::call(
        DataType::Int32, "intarsia_quantize_f32",
        {std::move(x), tir::float_imm(v.out().quantization.scale[0]),
         tir::int_imm(zero_point(v.out())), tir::int_imm(range.low), tir::int_imm(range.high)});
    return tir::cast(v.out().type, quantized);
  });
}

Refusal refuses_dequantize(const OpView& view) {
  using enum DataType;
  const TypeList allowed{
      {{Int8}, Float32}, {{UInt8}, Float32}, {{Int16}, Float32}, {{Int32}, Float32}};
  if (Refusal types = refuses_types(view, allowed)) return types;
  return refuses_quantization(view);
}

Stmt lower_dequantize(OpLowering& op) {
  const OpView& v = op.view;
  return map_elements(op, [&](Expr x) {
    const Expr steps = to_i32(std::move(x)) - zero_point(v.in(0));
    return tir::cast(DataType::Float32, steps) * tir::float_imm(v.in(0).quantization.scale[0]);
  });
}

}  // namespace intarsia::standard_lowering
