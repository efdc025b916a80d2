// Editing a function in place, for passes that own their copy of the module.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::passes {

// Who makes and who reads each tensor of a function.
class Uses {
 public:
  explicit Uses(const graph::Function& function);

  // Index of the node that makes the tensor, or -1.
  int producer(graph::TensorId id) const { return producer_[id.at()]; }
  const std::vector<size_t>& readers(graph::TensorId id) const { return readers_[id.at()]; }
  bool is_input(graph::TensorId id) const { return input_[id.at()]; }
  bool is_output(graph::TensorId id) const { return output_[id.at()]; }

 private:
  std::vector<int> producer_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> input_, output_;
};

// Whether programs of another compiler are among the nodes. Their tensors lie in an arena, at places that follow from when
// each of the nodes reads and writes: what moves a read to a later node would find the place taken.
bool has_programs(std::span<const graph::Node> nodes);

graph::TensorId add_tensor(graph::Function& function, graph::Tensor tensor);
ConstantId add_constant(graph::Module& module, std::string name, SharedBytes bytes);

// `name`, or one that begins with it, which no operator of the function has.
std::string free_name(const graph::Function& function, std::string name);

// Every operand `from` of every node becomes `to`.
void replace_reads(graph::Function& function, graph::TensorId from, graph::TensorId to);

// Tensors that no node and no signature names, and constants that no tensor is, go; numbers close up.
void drop_unused(graph::Module& module);

// Element `index` of dense values, sign or zero extended. Integers only.
int64_t element_at(DataType type, const uint8_t* bytes, int64_t index);
// The reverse; `bytes` is long enough and, for i4, zero before the first write.
void put_element(DataType type, uint8_t* bytes, int64_t index, int64_t value);

}  // namespace intarsia::passes
