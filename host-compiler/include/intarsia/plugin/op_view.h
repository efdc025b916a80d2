// A node of the graph with its operands at hand.
#pragma once

#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::operators {

// It refers to the module, which has to outlive it. Operands are numbered from 0.
struct OpView {
  const graph::Module& module;
  const graph::Function& function;
  const graph::Node& node;

  // Whether an operand is there that may be absent.
  bool has(size_t input) const { return input < node.inputs.size() && node.inputs[input].valid(); }
  // An operand that is there.
  const graph::Tensor& in(size_t input) const { return function.tensor(node.inputs.at(input)); }
  const graph::Tensor& out(size_t output = 0) const {
    return function.tensor(node.outputs.at(output));
  }
  // Whether it is there and its values are known.
  bool is_constant(size_t input) const { return has(input) && in(input).constant.valid(); }

  // Constants of i4 are stored as i8: how a constant lies in the emitted program.
  DataType stored_type(size_t input) const;
  // Of a constant operand, in its stored type.
  std::vector<uint8_t> stored_bytes(size_t input) const;
  // The elements of a constant integer operand.
  std::vector<int64_t> values(size_t input) const;
  // "conv2d i8[1,49,10,1] -> i8[1,25,5,64]": the operator and the operands that are no constants.
  std::string signature() const;
};

// One byte for each element of packed i4.
std::vector<uint8_t> unpacked_int4(const std::vector<uint8_t>& packed, int64_t count);

std::string describe(const graph::Tensor& tensor);  // "i8[1,25,5,64]"

}  // namespace intarsia::operators
