// Matrix products, and products of integers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// input[..,K] times weights[N,K], one row of weights per output channel.
TensorId fully_connected(Reader& in, TensorId input, TensorId weights, TensorId bias,
                         graph::Activation activation, DataType type,
                         const graph::Quantization& q) {
  const graph::FullyConnectedAttrs attrs{in.shape(input).size() > 2, activation};
  return in.emit(OpKind::FullyConnected, attrs, {input, weights, bias}, type, q);
}

// The scales of known weights times `factor`; plain floats are multiplied.
TensorId scaled(Reader& in, TensorId weights, float factor) {
  if (factor == 1) return weights;
  graph::Quantization q = in.tensor(weights).quantization;
  if (!q.present())
    return in.emit(OpKind::Mul, BinaryAttrs{}, {weights, in.number(factor)}, kFloat, {}, "alpha");
  for (float& scale : q.scale) scale *= factor;
  return in.make_constant(in.values_of(weights), q);
}

}  // namespace

void read_gemm(Reader& in) {
  const bool a_turned = in.integer("transA", 0) != 0, b_turned = in.integer("transB", 0) != 0;
  const float alpha = in.real("alpha", 1), beta = in.real("beta", 1);
  if (!in.require(in.shape_of(0).size() == 2 && in.shape_of(1).size() == 2,
                  fmt::format("multiplies [{}] by [{}]; both have to be matrices",
                              fmt::join(in.shape_of(0), ","), fmt::join(in.shape_of(1), ","))))
    return;
  const int64_t columns = in.shape_of(1)[b_turned ? 0 : 1];
  const Tail tail = in.tail(true);
  const auto rows = [&](TensorId b) { return b_turned ? b : in.transpose(b, {1, 0}); };
  const auto upright = [&](TensorId a) { return a_turned ? in.transpose(a, {1, 0}) : a; };
  if (in_integers(in, 0, 1) && tail.as && alpha > 0) {
    const TensorId made = in.attempt([&]() -> TensorId {
      TensorId w = symmetric_weights(in, in.value(1).tensor);
      if (!w.valid()) return {};
      w = scaled(in, rows(w), alpha);
      const TensorId x = upright(in.value(0).tensor);
      const TensorId bias = in.has(2) ? integer_bias(in, 2, x, w, columns, beta) : TensorId{};
      if (in.has(2) && !bias.valid()) return {};
      return fully_connected(in, x, w, bias, tail.activation, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
  const TensorId a = upright(in.operand(0)), b = in.operand(1);
  TensorId bias;
  bool is_row = false;
  if (in.has(2)) {
    bias = scaled(in, real_bias(in, 2, in.value(0).tensor, in.value(1).tensor), beta);
    const Shape shape = in.shape(bias);
    is_row = in.is_constant(bias) && element_count(shape) == columns &&
             (shape.empty() || shape.back() == columns);
    if (is_row) bias = in.reshape(bias, {columns});
  }
  const bool fused = !bias.valid() || is_row;
  const graph::Activation activation = fused ? tail.activation : graph::Activation::None;
  TensorId y;
  if (in.is_constant(b)) {
    y = fully_connected(in, a, scaled(in, rows(b), alpha), is_row ? bias : TensorId{}, activation,
                        kFloat, {});
  } else {
    y = in.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{false, b_turned},
                {scaled(in, a, alpha), b}, kFloat);
    if (is_row) y = in.emit(OpKind::Add, BinaryAttrs{activation}, {y, bias}, kFloat, {}, "bias");
    if (!bias.valid() && activation != graph::Activation::None)
      y = in.emit(OpKind::Relu, graph::ReluAttrs{activation}, {y}, kFloat, {}, "activation");
  }
  if (!fused) y = in.emit(OpKind::Add, BinaryAttrs{tail.activation}, {y, bias}, kFloat, {}, "bias");
  in.finish(tail, {y, Form::Plain, {}});
}

TensorId matrix_product(Reader& in, TensorId a, TensorId b, DataType type,
                        const graph::Quantization& q) {
  const bool row = in.shape(a).size() == 1, column = in.shape(b).size() == 1;
  if (row) a = in.reshape(a, {1, in.shape(a)[0]});
  if (column) b = in.reshape(b, {in.shape(b)[0], 1});
  if (in.shape(a).size() < 2 || in.shape(b).size() < 2) {
    in.problem("multiplies a scalar");
    return {};
  }
  TensorId y;
  if (in.is_constant(b) && in.shape(b).size() == 2) {
    if (!in.require(in.shape(a).back() == in.shape(b)[0],
                    fmt::format("multiplies [{}] by [{}]", fmt::join(in.shape(a), ","),
                                fmt::join(in.shape(b), ","))))
      return {};
    y = fully_connected(in, a, in.transpose(b, {1, 0}), {}, graph::Activation::None, type, q);
  } else {
    y = in.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {a, b}, type, q);
  }
  if (!y.valid()) return {};
  Shape shape = in.shape(y);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return in.reshape(y, shape);
}

void read_matmul(Reader& in) {
  const Tail tail = in.tail(false);
  if (in.is_real(0) && in.is_real(1) && tail.as) {
    const TensorId made = in.attempt([&]() -> TensorId {
      TensorId b = in.value(1).tensor;
      if (in.is_constant(b)) b = symmetric_weights(in, b);
      if (!b.valid()) return {};
      return matrix_product(in, in.value(0).tensor, b, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  in.result(matrix_product(in, in.operand(0), in.operand(1), kFloat, {}));
}

namespace {

// Floats hold whole numbers up to 2^24: sums of `products` products of the operands' largest values stay
// below, or a problem.
bool sums_exactly(Reader& in, int64_t products) {
  const auto largest = [&](size_t operand) {
    const graph::Tensor& tensor = in.tensor(in.operand(operand));
    int64_t value = 255;
    if (tensor.constant.valid()) {
      value = 1;
      for (const int64_t number : as_integers(in.values_of(in.operand(operand))))
        value = std::max(value, std::abs(number));
      value += in.has(operand + 2) ? 255 : 0;
    }
    return value;
  };
  return in.require(
      products <= (int64_t{1} << 24) / (largest(0) * largest(1)),
      fmt::format("sums {} products in int32, more than floats hold exactly", products),
      "quantise the model statically (QDQ), so that scales are known");
}

TensorId less_zero(Reader& in, size_t operand, bool per_row) {
  TensorId x = in.cast(in.operand(operand), kFloat);
  if (!in.has(operand + 2)) return x;
  TensorId zero = in.cast(in.operand(operand + 2), kFloat);
  const Shape shape = in.shape(zero);
  if (shape.size() == 1 && shape[0] > 1 && per_row) {
    Shape column(in.shape(x).size(), 1);
    const size_t at = operand == 0 ? column.size() - 2 : 0;
    column[in.is("MatMulInteger") && operand == 1 ? column.size() - 1 : at] = shape[0];
    zero = in.reshape(zero, column);
  }
  return in.emit(OpKind::Sub, BinaryAttrs{}, {x, zero}, kFloat, {}, "zero");
}

}  // namespace

void read_matmul_integer(Reader& in) {
  if (in.shape_of(0).empty() || !sums_exactly(in, in.shape_of(0).back())) return;
  in.result(in.cast(matrix_product(in, less_zero(in, 0, true), less_zero(in, 1, true), kFloat, {}),
                    DataType::Int32));
}

void read_conv_integer(Reader& in) {
  const Shape weights = in.shape_of(1);
  if (weights.size() != 4) return in.problem("has weights that are not of rank 4");
  if (!sums_exactly(in, element_count(weights) / weights[0])) return;
  in.result(in.cast(float_convolution(in, less_zero(in, 0, false), less_zero(in, 1, true)),
                    DataType::Int32));
}

}  // namespace intarsia::onnx
