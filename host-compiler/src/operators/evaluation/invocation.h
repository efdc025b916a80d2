// What the reference evaluator hands to an operator: a node of a verified module, and the values of its operands.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::operators {

// A node with the memory of its operands. Values are dense and little-endian, as the host is.
struct Invocation {
  const graph::Function& function;
  const graph::Node& node;
  std::vector<const uint8_t*> inputs;  // null: absent
  std::vector<uint8_t*> outputs;

  bool has(size_t operand) const { return operand < inputs.size() && inputs[operand] != nullptr; }
  const graph::Tensor& in(size_t operand = 0) const {
    return function.tensor(node.inputs[operand]);
  }
  const graph::Tensor& out(size_t output = 0) const {
    return function.tensor(node.outputs[output]);
  }
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

// What an operator answers that has no arithmetic for the operand types.
Result<void> unsupported_types(const Invocation& call);

// Element `index` of packed int4 values, low nibble first.
inline int8_t int4_element(const uint8_t* packed, int64_t index) {
  const uint8_t byte = packed[index / 2];
  const int nibble = index % 2 == 0 ? byte & 15 : byte >> 4;
  return static_cast<int8_t>(nibble < 8 ? nibble : nibble - 16);
}

}  // namespace intarsia::operators
