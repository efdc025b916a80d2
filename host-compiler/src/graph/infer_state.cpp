// Rules of the operators that keep state: SVDF and LSTM.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

bool has_shape(OpCheck& check, size_t operand, const Shape& shape, std::string_view name) {
  const Shape& actual = check.in(operand).shape;
  return check.require(actual == shape, fmt::format("the {} has the shape [{}], needs [{}]", name,
                                                    fmt::join(actual, ","), fmt::join(shape, ",")));
}

bool is_state(OpCheck& check, size_t operand, size_t output, int64_t elements,
              std::string_view name) {
  const Tensor& tensor = check.in(operand);
  bool fine = check.require(tensor.variable, fmt::format("the {} is no variable", name));
  fine &= check.require(check.node.inputs[operand] == check.node.outputs[output],
                        fmt::format("the {} is not written back", name));
  fine &= check.require(
      element_count(tensor.shape) == elements,
      fmt::format("the {} has {} elements, needs {}", name, element_count(tensor.shape), elements));
  return fine;
}

bool one_zero_scale(OpCheck& check, size_t operand, std::string_view name) {
  return check.per_tensor(check.in(operand), name, /*symmetric=*/true);
}

}  // namespace

Shapes infer_svdf(OpCheck& check) {
  const auto& a = check.node.attrs<SvdfAttrs>();
  // The output's type is the last of a combination: here that of output 0; the state is operand 4.
  check.types({{Int8, Int8, Int16, Int32, Int16, Int8},
               {Int8, Int8, Int8, Int32, Int8, Int8},
               {Float32, Float32, Float32, Float32, Float32, Float32}});
  check.rank(0, 2, "input"), check.rank(1, 2, "feature weights"), check.rank(2, 2, "time weights");
  if (!check.ok() || !check.in_range("rank", a.rank, 1)) return {};
  const int64_t batches = check.in(0).shape[0], inputs = check.in(0).shape[1];
  const int64_t filters = check.in(1).shape[0], memory = check.in(2).shape[1];
  has_shape(check, 1, {filters, inputs}, "feature weights");
  has_shape(check, 2, {filters, memory}, "time weights");
  if (!check.require(filters % a.rank == 0,
                     fmt::format("{} filters cannot be divided by the rank {}", filters, a.rank)))
    return {};
  const int64_t units = filters / a.rank;
  if (check.has(3)) has_shape(check, 3, {units}, "bias");
  is_state(check, 4, 1, batches * filters * memory, "activation state");
  if (check.ok() && check.in(0).type == Int8) {
    check.per_tensor(check.in(0), "input"), check.per_tensor(check.out(), "output");
    check.per_tensor(check.in(4), "activation state");
    one_zero_scale(check, 1, "feature weights"), one_zero_scale(check, 2, "time weights");
    if (check.ok()) {
      const SvdfFactors factors =
          svdf_factors(check.in(0), check.in(1), check.in(2), check.in(4), check.out());
      check.factor(factors.feature, kMostExponent32), check.factor(factors.time, kMostExponent32);
    }
    check.require(a.activation == Activation::Relu || a.activation == Activation::None,
                  "an integer SVDF has no fused activation but relu");
  }
  return {{batches, units}, check.in(4).shape};
}

Shapes infer_lstm(OpCheck& check) {
  const auto& a = check.node.attrs<LstmAttrs>();
  const auto gates = [&](DataType x, DataType weights, DataType bias, DataType cell) {
    const DataType w = weights;
    return TypeCombination{x, w, w, w, w, w, w, w, w, bias, bias, bias, bias, x, cell, x};
  };
  check.types({gates(Int8, Int8, Int32, Int16), gates(Int16, Int8, Int64, Int16),
               gates(Float32, Float32, Float32, Float32)});
  check.rank(0, 3, "input"), check.rank(1, 2, "input weights");
  check.require(std::isfinite(a.cell_clip) && a.cell_clip >= 0, "the cell clip is no limit");
  if (!check.ok()) return {};
  const Shape& input = check.in(0).shape;
  const int64_t batches = input[a.time_major ? 1 : 0], units = check.in(1).shape[0];
  for (size_t gate = 0; gate < 4; ++gate) {
    has_shape(check, 1 + gate, {units, input[2]}, "input weights of a gate");
    has_shape(check, 5 + gate, {units, units}, "recurrent weights of a gate");
    has_shape(check, 9 + gate, {units}, "bias of a gate");
  }
  is_state(check, 13, 1, batches * units, "hidden state");
  is_state(check, 14, 2, batches * units, "cell state");
  const Tensor &hidden = check.in(13), &cell = check.in(14);
  if (check.ok() && check.in(0).type != Float32) {
    const bool symmetric = check.in(0).type == Int16;
    check.per_tensor(check.in(0), "input", symmetric);
    check.per_tensor(hidden, "hidden state", symmetric);
    check.per_tensor(cell, "cell state", true);
    check.per_tensor(check.out(), "output", symmetric);
    for (size_t i = 1; i < 9; ++i) one_zero_scale(check, i, "weights of a gate");
    if (check.ok()) {
      const int most = symmetric ? kMostExponent64 : kMostExponent32;
      for (size_t gate = 0; gate < 4; ++gate) {
        check.factor(lstm_gate_factor(check.in(0), check.in(1 + gate)), most);
        check.factor(lstm_gate_factor(hidden, check.in(5 + gate)), most);
      }
      const int exponent = lstm_cell_exponent(cell);
      check.require(
          exponent >= -20 && exponent <= 1,
          fmt::format("the cell state's scale is near 2^{}, needs 2^-20 to 2^1", exponent));
    }
  }
  Shape output = input;
  output[2] = units;
  return {output, hidden.shape, cell.shape};
}

}  // namespace intarsia::graph
