// The evaluator's kernels: one function per family, each of which computes a node of a verified
// module. A kernel that has no arithmetic for the operand types says so in one line.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

// A node with the memory of its operands. Values are dense and little-endian, as the host is.
struct Invocation {
  const Function& function;
  const Node& node;
  std::vector<const uint8_t*> inputs;  // null: absent
  std::vector<uint8_t*> outputs;

  bool has(size_t operand) const { return operand < inputs.size() && inputs[operand] != nullptr; }
  const Tensor& in(size_t operand = 0) const { return function.tensor(node.inputs[operand]); }
  const Tensor& out(size_t output = 0) const { return function.tensor(node.outputs[output]); }
  template <typename T>
  const T* data(size_t operand) const {
    return has(operand) ? reinterpret_cast<const T*>(inputs[operand]) : nullptr;
  }
  template <typename T>
  T* result(size_t output = 0) const {
    return reinterpret_cast<T*>(outputs[output]);
  }
  DataType type() const { return in().type; }
  int64_t in_zero_point(size_t operand = 0) const { return in(operand).quantization.zero_point[0]; }
  int64_t out_zero_point() const { return out().quantization.zero_point[0]; }
};

Result<void> unsupported_types(const Invocation& call);

Result<void> eval_conv2d(const Invocation& call);
Result<void> eval_depthwise_conv2d(const Invocation& call);
Result<void> eval_fully_connected(const Invocation& call);
Result<void> eval_pool2d(const Invocation& call);
Result<void> eval_add(const Invocation& call);
Result<void> eval_mul(const Invocation& call);
Result<void> eval_sub(const Invocation& call);
Result<void> eval_binary(const Invocation& call);  // the other binary kinds, and select
Result<void> eval_unary(const Invocation& call);
Result<void> eval_cast(const Invocation& call);
Result<void> eval_batch_matmul(const Invocation& call);
Result<void> eval_transpose_conv2d(const Invocation& call);
Result<void> eval_log_softmax(const Invocation& call);
Result<void> eval_l2_normalization(const Invocation& call);
Result<void> eval_arg(const Invocation& call);
Result<void> eval_reduce(const Invocation& call);
Result<void> eval_move(const Invocation& call);  // kinds that copy elements
Result<void> eval_resize(const Invocation& call);
Result<void> eval_svdf(const Invocation& call);
Result<void> eval_lstm(const Invocation& call);
Result<void> eval_relu(const Invocation& call);
Result<void> eval_softmax(const Invocation& call);
Result<void> eval_quantize(const Invocation& call);
Result<void> eval_dequantize(const Invocation& call);
Result<void> eval_reshape(const Invocation& call);
Result<void> eval_pad(const Invocation& call);
Result<void> eval_add_n(const Invocation& call);
Result<void> eval_cumsum(const Invocation& call);
Result<void> eval_gather_nd(const Invocation& call);
Result<void> eval_dynamic_update_slice(const Invocation& call);

// Element `index` of packed int4 values, low nibble first.
inline int8_t int4_element(const uint8_t* packed, int64_t index) {
  const uint8_t byte = packed[index / 2];
  const int nibble = index % 2 == 0 ? byte & 15 : byte >> 4;
  return static_cast<int8_t>(nibble < 8 ? nibble : nibble - 16);
}

}  // namespace intarsia::graph
