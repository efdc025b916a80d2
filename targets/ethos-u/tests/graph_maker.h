// Graphs written down in tests of what becomes of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "legalise_testing.h"
#include "support/random_operator.h"

namespace intarsia::test::ethos_u {

// A graph under construction: every node's output shapes are inferred.
class Graph {
 public:
  Graph() {
    module_.name = module_.entry = "main";
    function_.name = "main";
  }

  graph::TensorId input(DataType type, Shape shape, float scale, int64_t zero) {
    const graph::TensorId id = tensor({"x", type, std::move(shape), {{scale}, {zero}, 0}, {}});
    function_.inputs.push_back(id);
    return id;
  }
  graph::TensorId constant(testing::Random& random, DataType type, Shape shape,
                           graph::Quantization q) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < element_count(shape); ++i)
      for (int64_t v = random.range(-120, 120), b = 0; b < bits(type) / 8; ++b)
        bytes.push_back(static_cast<uint8_t>(v >> (8 * b)));
    module_.constants.push_back({fmt::format("c{}", module_.constants.size()), bytes});
    return tensor({"c", type, std::move(shape), std::move(q),
                   ConstantId{static_cast<int32_t>(module_.constants.size()) - 1}});
  }
  graph::TensorId places(const std::vector<int32_t>& values) {
    std::vector<uint8_t> bytes;
    for (const int32_t value : values)
      for (int b = 0; b < 4; ++b) bytes.push_back(static_cast<uint8_t>(value >> (8 * b)));
    module_.constants.push_back({fmt::format("c{}", module_.constants.size()), bytes});
    return tensor({"p",
                   DataType::Int32,
                   {std::ssize(values)},
                   {},
                   ConstantId{static_cast<int32_t>(module_.constants.size()) - 1}});
  }
  std::vector<graph::TensorId> node(graph::OpKind kind, graph::Attributes attributes,
                                    std::vector<graph::TensorId> inputs, size_t outputs,
                                    DataType type, float scale, int64_t zero) {
    graph::Node node{kind,
                     fmt::format("n{}", function_.nodes.size()),
                     std::move(attributes),
                     std::move(inputs),
                     {},
                     {}};
    for (size_t i = 0; i < outputs; ++i)
      node.outputs.push_back(tensor({"y", type, {}, {{scale}, {zero}, 0}, {}}));
    const Result<std::vector<Shape>> shapes = graph::infer_shapes(module_, function_, node);
    INTARSIA_CHECK(shapes.ok(), shapes.ok() ? "" : shapes.error().to_string());
    for (size_t i = 0; i < outputs; ++i)
      function_.tensors[node.outputs[i].at()].shape = (*shapes)[i];
    function_.nodes.push_back(node);
    return node.outputs;
  }
  // Of the quantisation of its first input.
  std::vector<graph::TensorId> like(graph::OpKind kind, graph::Attributes attributes,
                                    std::vector<graph::TensorId> inputs, size_t outputs = 1) {
    const graph::Tensor first = function_.tensor(inputs[0]);
    return node(kind, std::move(attributes), std::move(inputs), outputs, first.type,
                first.quantization.scale[0], first.quantization.zero_point[0]);
  }
  graph::Module finish(const std::vector<graph::TensorId>& outputs) {
    function_.outputs = outputs;
    module_.functions = {function_};
    const Result<void> verified = graph::verify(module_);
    INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
    return module_;
  }

 private:
  graph::TensorId tensor(graph::Tensor t) {
    function_.tensors.push_back(std::move(t));
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }
  graph::Module module_;
  graph::Function function_;
};

inline void expect_taken_and_same(testing::Random& random, const graph::Module& module) {
  for (const graph::Node& node : module.entry_function().nodes)
    ASSERT_EQ(refusal(module, module.entry_function(), node), "") << graph::print(module);
  for (int round = 0; round < 2; ++round)
    expect_same(module, testing::random_inputs(random, module));
}

inline size_t operation_count(const graph::Module& module) {
  return targets::ethos_u::legalise(module, module.entry_function()).operations.size();
}

// Two operands of 256 x 256 elements of int8 that meet in every pair.
inline std::pair<graph::TensorValue, graph::TensorValue> every_pair_of_bytes() {
  std::pair<graph::TensorValue, graph::TensorValue> pairs;
  for (int x = 0; x < 256; ++x)
    for (int y = 0; y < 256; ++y) {
      pairs.first.push_back(static_cast<uint8_t>(x));
      pairs.second.push_back(static_cast<uint8_t>(y));
    }
  return pairs;
}

inline constexpr DataType kTypes[] = {DataType::Int8, DataType::Int16};
inline int64_t zero_for(testing::Random& random, DataType type) {
  return type == DataType::Int8 ? random.range(-90, 90) : 0;
}

}  // namespace intarsia::test::ethos_u
