// The functions of a loop that stands for an operator, node by node, and the constants that they need.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "import/made_constant.h"
#include "intarsia/graph.h"

namespace intarsia::import {

template <typename T>
MadeConstant known(std::string name, DataType type, Shape shape, const std::vector<T>& values) {
  return {{.name = std::move(name), .type = type, .shape = std::move(shape)},
          little_endian(values)};
}

inline MadeConstant known_real(std::string name, float value) {
  return real_constant(std::move(name), {}, {value});
}

inline MadeConstant zeros(std::string name, DataType type, Shape shape) {
  const auto count = static_cast<size_t>(element_count(shape));
  return known<int32_t>(std::move(name), type, std::move(shape), std::vector<int32_t>(count));
}

inline graph::Tensor real_of(Shape shape) {
  return {.type = DataType::Float32, .shape = std::move(shape)};
}
inline graph::Tensor whole_of(Shape shape) {
  return {.type = DataType::Int32, .shape = std::move(shape)};
}
inline graph::Tensor truth_of(Shape shape) {
  return {.type = DataType::Bool, .shape = std::move(shape)};
}

// A function of the loop while it is made.
class LoopFunction {
  using OpKind = graph::OpKind;
  using TensorId = graph::TensorId;

 public:
  LoopFunction(graph::Module& module, std::string name) : module_(module) {
    function_.name = std::move(name);
  }

  TensorId input(std::string name, graph::Tensor tensor) {
    tensor.name = std::move(name);
    function_.inputs.push_back(add(std::move(tensor)));
    return function_.inputs.back();
  }
  TensorId constant(MadeConstant made) {
    made.tensor.constant.index = static_cast<int32_t>(module_.constants.size());
    module_.constants.push_back({made.tensor.name, std::move(made.bytes)});
    return add(std::move(made.tensor));
  }
  std::vector<TensorId> put_all(OpKind kind, graph::Attributes attributes,
                                std::vector<TensorId> inputs, std::vector<graph::Tensor> results) {
    graph::Node node;
    node.kind = kind;
    node.name = fmt::format("{}_{}", graph::to_string(kind), function_.nodes.size());
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    for (graph::Tensor& result : results) {
      result.name = node.name;
      node.outputs.push_back(add(std::move(result)));
    }
    function_.nodes.push_back(std::move(node));
    return function_.nodes.back().outputs;
  }
  TensorId put(OpKind kind, graph::Attributes attributes, std::vector<TensorId> inputs,
               graph::Tensor result) {
    return put_all(kind, std::move(attributes), std::move(inputs), {std::move(result)})[0];
  }
  // By element, of operands that are broadcast to the result's shape.
  TensorId arithmetic(OpKind kind, TensorId a, TensorId b, graph::Tensor result) {
    return put(kind, graph::BinaryAttrs{}, {a, b}, std::move(result));
  }
  TensorId plain(OpKind kind, std::vector<TensorId> inputs, graph::Tensor result) {
    return put(kind, graph::NoAttrs{}, std::move(inputs), std::move(result));
  }

  graph::Function finish(std::vector<TensorId> outputs) {
    function_.outputs = std::move(outputs);
    return std::move(function_);
  }

 private:
  TensorId add(graph::Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(function_.tensors.size() - 1)};
  }

  graph::Module& module_;
  graph::Function function_;
};

}  // namespace intarsia::import
