// Puts a rewriting together.
#pragma once

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "legalise/rewrite.h"

namespace intarsia::targets::ethos_n {

class RewritingBuilder {
 public:
  RewritingBuilder(const graph::Function& function, const graph::Node& node)
      : from_(function), node_(node) {
    result_.module.name = result_.module.entry = "rewritten";
    result_.module.functions.emplace_back().name = "rewritten";
  }

  // An operand of the operator, of as many bytes.
  graph::TensorId operand(size_t index, Shape shape) {
    const graph::TensorId id = add(from_.tensor(node_.inputs.at(index)), std::move(shape));
    main().inputs.push_back(id);
    result_.operands.push_back(node_.inputs[index]);
    return id;
  }
  graph::TensorId result(size_t index, Shape shape) {
    const graph::TensorId id = add(from_.tensor(node_.outputs.at(index)), std::move(shape));
    main().outputs.push_back(id);
    result_.results.push_back(node_.outputs[index]);
    return id;
  }
  // The result is that tensor's bytes.
  void result_is(size_t index, graph::TensorId made) {
    const bool is_operand =
        std::find(main().inputs.begin(), main().inputs.end(), made) != main().inputs.end();
    if (is_operand) {
      const Shape shape = main().tensor(made).shape;
      node(graph::OpKind::Reshape, graph::ReshapeAttrs{shape}, {made}, {result(index, shape)});
      return;
    }
    main().outputs.push_back(made);
    result_.results.push_back(node_.outputs[index]);
  }
  graph::TensorId between(const graph::Tensor& like, Shape shape) {
    return add(like, std::move(shape));
  }
  graph::TensorId between(graph::TensorId like, Shape shape) {
    return add(graph::Tensor(main().tensor(like)), std::move(shape));
  }
  graph::TensorId constant(DataType type, Shape shape, graph::Quantization quantization,
                           std::vector<uint8_t> bytes) {
    graph::Tensor tensor;
    tensor.type = type;
    tensor.quantization = std::move(quantization);
    const graph::TensorId id = add(tensor, std::move(shape));
    main().tensors.back().constant = {static_cast<int32_t>(result_.module.constants.size())};
    result_.module.constants.push_back({"constant", std::move(bytes)});
    return id;
  }

  graph::TensorId copy_constant(const graph::Module& module, const graph::Tensor& tensor) {
    return constant(tensor.type, tensor.shape, tensor.quantization,
                    module.constant(tensor.constant).bytes);
  }

  void node(graph::OpKind kind, graph::Attributes attributes, std::vector<graph::TensorId> inputs,
            std::vector<graph::TensorId> outputs) {
    main().nodes.push_back({kind, fmt::format("{}_{}", node_.name, main().nodes.size()),
                            std::move(attributes), std::move(inputs), std::move(outputs), ""});
  }
  const graph::Tensor& tensor(graph::TensorId id) { return main().tensor(id); }
  Rewriting finish(bool may_go_on = false) {
    result_.may_go_on = may_go_on;
    return std::move(result_);
  }

 private:
  graph::Function& main() { return result_.module.functions[0]; }
  graph::TensorId add(graph::Tensor tensor, Shape shape) {
    tensor.name = fmt::format("{}_{}", node_.name, main().tensors.size());
    tensor.shape = std::move(shape);
    tensor.constant = {};
    main().tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(main().tensors.size() - 1)};
  }

  const graph::Function& from_;
  const graph::Node& node_;
  Rewriting result_;
};

}  // namespace intarsia::targets::ethos_n
