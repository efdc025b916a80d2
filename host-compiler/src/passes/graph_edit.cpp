#include "passes/graph_edit.h"

#include <algorithm>
#include <cstring>

namespace intarsia::passes {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::TensorId;

Uses::Uses(const Function& function)
    : producer_(function.tensors.size(), -1),
      readers_(function.tensors.size()),
      input_(function.tensors.size()),
      output_(function.tensors.size()) {
  for (const TensorId id : function.inputs) input_[id.at()] = true;
  for (const TensorId id : function.outputs) output_[id.at()] = true;
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    for (const TensorId id : function.nodes[n].outputs) producer_[id.at()] = static_cast<int>(n);
    for (const TensorId id : function.nodes[n].inputs)
      if (id.valid() && (readers_[id.at()].empty() || readers_[id.at()].back() != n))
        readers_[id.at()].push_back(n);
  }
}

bool has_programs(std::span<const Node> nodes) {
  return std::ranges::any_of(nodes,
                             [](const Node& node) { return node.kind == graph::OpKind::Compiled; });
}

TensorId add_tensor(Function& function, graph::Tensor tensor) {
  function.tensors.push_back(std::move(tensor));
  return {static_cast<int32_t>(function.tensors.size()) - 1};
}

ConstantId add_constant(Module& module, std::string name, SharedBytes bytes) {
  module.constants.push_back({std::move(name), std::move(bytes)});
  return {static_cast<int32_t>(module.constants.size()) - 1};
}

std::string free_name(const Function& function, std::string name) {
  while (std::ranges::find(function.nodes, name, &Node::name) != function.nodes.end()) name += "_";
  return name;
}

void replace_reads(Function& function, TensorId from, TensorId to) {
  for (Node& node : function.nodes)
    for (TensorId& id : node.inputs)
      if (id == from) id = to;
}

namespace {

// Numbers the marked entries of a list and moves them together.
template <typename T>
std::vector<int32_t> close_up(std::vector<T>& list, const std::vector<bool>& used) {
  std::vector<int32_t> number(list.size(), -1);
  std::vector<T> kept;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!used[i]) continue;
    number[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(list[i]));
  }
  list = std::move(kept);
  return number;
}

void drop_unused_tensors(Function& function) {
  std::vector<bool> used(function.tensors.size());
  const auto each = [&](auto&& f) {
    for (TensorId& id : function.inputs) f(id);
    for (TensorId& id : function.outputs) f(id);
    for (Node& node : function.nodes) {
      for (TensorId& id : node.inputs)
        if (id.valid()) f(id);
      for (TensorId& id : node.outputs) f(id);
    }
  };
  each([&](TensorId& id) { used[id.at()] = true; });
  const std::vector<int32_t> number = close_up(function.tensors, used);
  each([&](TensorId& id) { id.index = number[id.at()]; });
}

}  // namespace

void drop_unused(Module& module) {
  std::vector<bool> used(module.constants.size());
  for (Function& function : module.functions) {
    drop_unused_tensors(function);
    for (const graph::Tensor& tensor : function.tensors)
      for (const ConstantId id : {tensor.constant, tensor.initial})
        if (id.valid()) used[id.at()] = true;
  }
  const std::vector<int32_t> number = close_up(module.constants, used);
  for (Function& function : module.functions)
    for (graph::Tensor& tensor : function.tensors)
      for (ConstantId* id : {&tensor.constant, &tensor.initial})
        if (id->valid()) id->index = number[id->at()];
}

int64_t element_at(DataType type, const uint8_t* bytes, int64_t index) {
  const int width = bits(type);
  if (width == 4) {
    const int nibble = index % 2 == 0 ? bytes[index / 2] & 15 : bytes[index / 2] >> 4;
    return nibble < 8 ? nibble : nibble - 16;
  }
  uint64_t raw = 0;
  const int64_t size = width / 8;
  std::memcpy(&raw, bytes + index * size, static_cast<size_t>(size));
  const int unused = 64 - width;
  return is_signed(type) ? static_cast<int64_t>(raw << unused) >> unused
                         : static_cast<int64_t>(raw);
}

void put_element(DataType type, uint8_t* bytes, int64_t index, int64_t value) {
  if (bits(type) == 4) {
    const auto nibble = static_cast<unsigned>(value & 15);
    bytes[index / 2] =
        static_cast<uint8_t>(bytes[index / 2] | (index % 2 == 0 ? nibble : nibble << 4));
    return;
  }
  const int64_t size = bits(type) / 8;
  std::memcpy(bytes + index * size, &value, static_cast<size_t>(size));
}

}  // namespace intarsia::passes
