// What the rules of one operator look at, and where they put their findings. Rules collect every
// violation they can see safely; infer.cpp picks the rules by OpKind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

// "function 'main': operator 'conv_1' (conv2d)"
std::string place_of(const Function& function, const Node& node);

// Why the tensor's shape cannot be (rank, extents, size), or an empty string.
std::string shape_problem(DataType type, const Shape& shape);

// One combination of operand types, in operand order, the output last. An absent operand fits any.
using TypeCombination = std::vector<DataType>;

class OpCheck {
 public:
  OpCheck(const Module& module, const Function& function, const Node& node)
      : module(module), function(function), node(node) {}

  const Module& module;
  const Function& function;
  const Node& node;

  // Operand counts, attribute kind, tensor numbers, sane shapes: what all rules take for granted.
  bool well_formed();

  bool has(size_t operand) const {
    return operand < node.inputs.size() && node.inputs[operand].valid();
  }
  const Tensor& in(size_t operand) const { return function.tensor(node.inputs[operand]); }
  const Tensor& out(size_t result = 0) const { return function.tensor(node.outputs[result]); }

  void fail(std::string what, std::string hint = {});
  // fail() unless the condition holds; returns it.
  bool require(bool condition, std::string what, std::string hint = {});
  bool rank(size_t operand, size_t expected, std::string_view name);
  bool in_range(std::string_view attribute, int64_t value, int64_t least);
  bool types(const std::vector<TypeCombination>& allowed);
  std::string types_text() const;  // "i8, i8, i32 -> i8"

  // Quantised with one scale; a zero point of 0 where `symmetric`.
  bool per_tensor(const Tensor& tensor, std::string_view name, bool symmetric = false);
  // The factor that TFLite's fixed-point arithmetic is to represent: 0 < factor < 2^most_exponent.
  bool factor(double value, int most_exponent);

  bool ok() const { return problems_.empty(); }
  Diagnostics take() { return std::move(problems_); }

 private:
  Diagnostics problems_;
};

// Largest exponents that the fixed-point arithmetic takes: a left shift of an int32, and of the
// 64-bit accumulators of int16 operators.
inline constexpr int kMostExponent32 = 30;
inline constexpr int kMostExponent64 = 7;
// Strides, dilations, windows and padding; keeps all products of them inside int64.
inline constexpr int64_t kMostWindow = 1 << 24;

using Shapes = std::vector<Shape>;

// numpy's broadcasting; a finding when the shapes do not fit.
Shape broadcast_shape(OpCheck& check, const Shape& a, const Shape& b);

// Each is called with a well-formed check, and returns the output shapes when check.ok().
Shapes infer_conv2d(OpCheck& check);
Shapes infer_depthwise_conv2d(OpCheck& check);
Shapes infer_fully_connected(OpCheck& check);
Shapes infer_pool2d(OpCheck& check);
Shapes infer_binary(OpCheck& check);
Shapes infer_relu(OpCheck& check);
Shapes infer_softmax(OpCheck& check);
Shapes infer_reshape(OpCheck& check);
Shapes infer_pad(OpCheck& check);
Shapes infer_pad_extents(OpCheck& check);  // what pad and pad_v2 share
Shapes infer_reduce(OpCheck& check);
Shapes infer_transpose_conv2d(OpCheck& check);
Shapes infer_batch_matmul(OpCheck& check);
Shapes infer_minimum_maximum(OpCheck& check);
Shapes infer_squared_difference(OpCheck& check);
Shapes infer_comparison(OpCheck& check);
Shapes infer_logical(OpCheck& check);
Shapes infer_select(OpCheck& check);
Shapes infer_leaky_relu(OpCheck& check);
Shapes infer_prelu(OpCheck& check);
Shapes infer_sigmoid(OpCheck& check);  // logistic, tanh
Shapes infer_unary(OpCheck& check);
Shapes infer_cast(OpCheck& check);
Shapes infer_log_softmax(OpCheck& check);
Shapes infer_l2_normalization(OpCheck& check);
Shapes infer_arg(OpCheck& check);
Shapes infer_pad_v2(OpCheck& check);
Shapes infer_mirror_pad(OpCheck& check);
Shapes infer_concat(OpCheck& check);
Shapes infer_pack(OpCheck& check);
Shapes infer_split(OpCheck& check);
Shapes infer_unpack(OpCheck& check);
Shapes infer_slice(OpCheck& check);
Shapes infer_transpose(OpCheck& check);
Shapes infer_space_depth(OpCheck& check);
Shapes infer_batch_space(OpCheck& check);
Shapes infer_gather(OpCheck& check);
Shapes infer_resize(OpCheck& check);
Shapes infer_svdf(OpCheck& check);
Shapes infer_lstm(OpCheck& check);
Shapes infer_quantize(OpCheck& check);
Shapes infer_dequantize(OpCheck& check);
Shapes infer_call(OpCheck& check);
Shapes infer_if(OpCheck& check);
Shapes infer_while(OpCheck& check);
Shapes infer_variable(OpCheck& check);    // read_variable, assign_variable
Shapes infer_float_pair(OpCheck& check);  // pow, floor_div, floor_mod
Shapes infer_add_n(OpCheck& check);
Shapes infer_broadcast_to(OpCheck& check);
Shapes infer_tile(OpCheck& check);
Shapes infer_cumsum(OpCheck& check);
Shapes infer_gather_nd(OpCheck& check);
Shapes infer_dynamic_update_slice(OpCheck& check);
Shapes infer_compiled(OpCheck& check);

}  // namespace intarsia::graph
