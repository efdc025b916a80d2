#include "legalise/legalise.h"

#include <algorithm>

#include "legalise/layer_maker.h"
#include "support/support.h"

namespace intarsia::targets::ethos_n {

Legaliser::Legaliser(const Variant& variant, const graph::Module& module,
                     const graph::Function& function, const std::vector<graph::TensorId>& inputs,
                     const std::vector<graph::TensorId>& outputs)
    : variant_(variant), module_(module), function_(function) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Tensor& tensor = function.tensor(inputs[i]);
    if (tensor.constant.valid()) continue;
    FeatureMap map;
    map.storage = static_cast<int32_t>(program_.storages.size());
    maps_[inputs[i].index] = map;
    program_.storages.push_back(
        {Storage::Kind::Input, static_cast<int32_t>(i), tensor.bytes(), tensor.name});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    output_parameters_[outputs[i].index] = static_cast<int32_t>(i);
}

Reason Legaliser::add_as_it_is(const graph::Node& node) {
  const size_t storages = program_.storages.size(), layers = program_.layers.size();
  Reason reason = LayerMaker(*this, node).run();
  if (reason) restore(storages, layers);
  return reason;
}

void Legaliser::restore(size_t storages, size_t layers) {
  program_.storages.resize(storages);
  program_.layers.resize(layers);
}

Reason Legaliser::add(const graph::Node& node) {
  Reason reason = add_as_it_is(node);
  return reason && rewritings_left_ > 0 && add_rewritten(node) ? std::nullopt : reason;
}

bool Legaliser::add_rewritten(const graph::Node& node) {
  for (const Way& way : ways_to_rewrite(module_, function_, node))
    if (const std::optional<Rewriting> rewriting = way(); rewriting && add_way(*rewriting))
      return true;
  const size_t storages = program_.storages.size(), layers = program_.layers.size();
  if (LayerMaker(*this, node).run_as_relu()) return true;
  restore(storages, layers);
  return false;
}

// The rewriting's own operands and results are where the operator's are.
bool Legaliser::add_way(const Rewriting& way) {
  const graph::Function& function = way.function();
  Legaliser inner(variant_, way.module, function, {}, {});
  for (size_t i = 0; i < way.operands.size(); ++i) {
    const auto map = maps_.find(way.operands[i].index);
    if (map == maps_.end()) return false;
    inner.maps_[function.inputs[i].index] = map->second;
  }
  for (size_t i = 0; i < way.results.size(); ++i)
    if (const auto parameter = output_parameters_.find(way.results[i].index);
        parameter != output_parameters_.end())
      inner.output_parameters_[function.outputs[i].index] = parameter->second;
  inner.rewritings_left_ = way.may_go_on ? rewritings_left_ - 1 : 0;
  const size_t storages = program_.storages.size(), layers = program_.layers.size();
  inner.program_ = std::move(program_);
  const bool done =
      std::none_of(function.nodes.begin(), function.nodes.end(),
                   [&](const graph::Node& node) { return inner.add(node).has_value(); });
  program_ = std::move(inner.program_);
  if (!done) {
    restore(storages, layers);
    return false;
  }
  for (size_t i = 0; i < way.results.size(); ++i)
    maps_[way.results[i].index] = inner.maps_.at(function.outputs[i].index);
  return true;
}

namespace {

Legaliser alone(const Variant& variant, const graph::Module& module,
                const graph::Function& function, const graph::Node& node) {
  std::vector<graph::TensorId> inputs;
  for (const graph::TensorId id : node.inputs)
    if (id.valid()) inputs.push_back(id);
  return {variant, module, function, inputs, node.outputs};
}

}  // namespace

Reason refuses_operator(const Variant& variant, const graph::Module& module,
                        const graph::Function& function, const graph::Node& node) {
  return alone(variant, module, function, node).add_as_it_is(node);
}

Reason refuses_rewritten(const Variant& variant, const graph::Module& module,
                         const graph::Function& function, const graph::Node& node,
                         bool beyond_the_stack) {
  const Reason as_it_is = refuses_operator(variant, module, function, node);
  if (!as_it_is) return "it is taken as it is";
  if (!beyond_the_stack && refuses_by_support(variant, module, function, node)) return as_it_is;
  return alone(variant, module, function, node).add(node);
}

}  // namespace intarsia::targets::ethos_n
