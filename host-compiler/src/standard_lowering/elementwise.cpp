// Operators on elements of equal place: add, mul (with broadcasting), relu, changes of
// quantisation.
#include <functional>

#include "standard_lowering/dims.h"
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

Stmt map_elements(OpLowering& op, const std::function<Expr(Expr)>& function) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    return op.b.store(op.out(), {i}, function(op.b.load(op.in(0), {i})));
  });
}

// value of the input's quantisation in the output's, limited to `range`.
Expr requantized(const OpView& v, Expr value, double factor, Range range) {
  value = requantize(to_i32(std::move(value)) - zero_point(v.in(0)), quantize_multiplier(factor));
  return clamp(std::move(value) + zero_point(v.out()), range, v.out().type);
}

// ---- two operands -------------------------------------------------------------------------------

struct Broadcast {
  Shape a, b, out;  // of one rank; extents of 1 are repeated
};

Broadcast broadcast(const OpView& v) {
  const Shape& out = v.out().shape;
  const auto extended = [&](Shape shape) {
    shape.insert(shape.begin(), out.size() - shape.size(), 1);
    return shape;
  };
  const Shape a = extended(v.in(0).shape), b = extended(v.in(1).shape);
  const auto repeats = [&](const Shape& s, size_t axis) { return s[axis] != out[axis]; };
  // An axis of extent 1 repeats nothing and may join any run; it is dropped by multiplication.
  Broadcast result;
  std::optional<std::pair<bool, bool>> run;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (out[axis] == 1) continue;
    const std::pair<bool, bool> here{repeats(a, axis), repeats(b, axis)};
    if (run != here) {
      result.a.push_back(1), result.b.push_back(1), result.out.push_back(1);
      run = here;
    }
    result.a.back() *= a[axis], result.b.back() *= b[axis], result.out.back() *= out[axis];
  }
  if (result.out.empty()) result = {{1}, {1}, {1}};
  return result;
}

Stmt combine_elements(OpLowering& op, const std::function<Expr(Expr, Expr)>& function) {
  const Broadcast shapes = broadcast(op.view);
  op.declare({shapes.a, shapes.b}, shapes.out);
  op.allow_in_place();
  const auto element = [&](size_t input, const Shape& shape, std::vector<Expr> indices) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) indices[axis] = tir::int_imm(0);
    }
    return op.b.load(op.in(input), std::move(indices));
  };
  return nested_loops(op.b, shapes.out, [&](const std::vector<Expr>& indices) {
    return op.b.store(op.out(), indices,
                      function(element(0, shapes.a, indices), element(1, shapes.b, indices)));
  });
}

std::optional<AddRescaling> add_rescaling(const OpView& v) {
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
  const TypeList allowed{{{Int8, Int8}, Int8}, {{Float32, Float32}, Float32}};
  if (Refusal types = refuses_types(view, allowed)) return types;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  if (view.node.kind == graph::OpKind::Add && is_integer(view.out().type) && !add_rescaling(view)) {
    return "the scales of operands and output are too far apart";
  }
  return std::nullopt;
}

Stmt lower_add(OpLowering& op) {
  const OpView& v = op.view;
  const graph::Activation activation = v.node.attrs<graph::BinaryAttrs>().activation;
  if (!is_integer(v.out().type)) {
    return combine_elements(
        op, [&](Expr a, Expr b) { return clamp(a + b, activation_range(activation)); });
  }
  const AddRescaling rescaling = *add_rescaling(v);
  const Range range = output_range(v, activation);
  return combine_elements(op, [&](Expr a, Expr b) {
    const Expr sum = widened(std::move(a), v.in(0), rescaling.left_shift, rescaling.a) +
                     widened(std::move(b), v.in(1), rescaling.left_shift, rescaling.b);
    return clamp(requantize(sum, rescaling.output) + zero_point(v.out()), range, v.out().type);
  });
}

Stmt lower_mul(OpLowering& op) {
  const OpView& v = op.view;
  const graph::Activation activation = v.node.attrs<graph::BinaryAttrs>().activation;
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
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Float32}, Float32}})) return types;
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
  const TypeList allowed{{{Float32}, Int8}, {{Float32}, Int16}, {{Float32}, UInt8}, {{Int8}, Int8},
                         {{Int8}, Int16},   {{Int8}, Int32},    {{Int8}, UInt8},    {{UInt8}, Int8},
                         {{Int16}, Int8},   {{Int16}, Int16},   {{Int16}, Int32}};
  if (Refusal types = refuses_types(view, allowed)) return types;
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
  const TypeList allowed{{{Int8}, Float32}, {{UInt8}, Float32}, {{Int16}, Float32}};
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
