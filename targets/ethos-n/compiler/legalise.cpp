#include "legalise.h"

#include "layer_maker.h"

namespace intarsia::targets::ethos_n {

Legaliser::Legaliser(const Variant& variant, const graph::Module& module, const graph::Function& function,
                     const std::vector<graph::TensorId>& inputs, const std::vector<graph::TensorId>& outputs)
    : variant_(variant), module_(module), function_(function) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Tensor& tensor = function.tensor(inputs[i]);
    if (tensor.constant.valid()) continue;
    FeatureMap map;
    map.storage = static_cast<int32_t>(program_.storages.size());
    maps_[inputs[i].index] = map;
    program_.storages.push_back({Storage::Kind::Input, static_cast<int32_t>(i), tensor.bytes(), tensor.name});
  }
  for (size_t i = 0; i < outputs.size(); ++i) output_parameters_[outputs[i].index] = static_cast<int32_t>(i);
}

Reason Legaliser::add(const graph::Node& node) { return LayerMaker(*this, node).run(); }

Reason refuses_operator(const Variant& variant, const graph::Module& module, const graph::Function& function,
                        const graph::Node& node) {
  std::vector<graph::TensorId> inputs;
  for (const graph::TensorId id : node.inputs)
    if (id.valid()) inputs.push_back(id);
  return Legaliser(variant, module, function, inputs, node.outputs).add(node);
}

}  // namespace intarsia::targets::ethos_n
