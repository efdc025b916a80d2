#include <algorithm>
#include <bit>
#include <set>

#include "intarsia/layers/layer.h"
#include "intarsia/plugin/check.h"
#include "unary_function.h"

namespace intarsia::layers {
namespace {

using graph::NodeId;
using graph::TensorId;

class LayerFuser {
 public:
  LayerFuser(const Library& library, const graph::Function& function)
      : library_(library), function_(function), readers_(function.tensors.size()) {
    for (size_t n = 0; n < function.nodes.size(); ++n)
      for (const TensorId id : function.nodes[n].inputs)
        if (id.valid()) readers_[id.at()].push_back({static_cast<int32_t>(n)});
    for (const TensorId id : function.outputs) outputs_.insert(id);
  }

  std::vector<LayerOfNodes> run() {
    std::vector<LayerOfNodes> layers;
    for (size_t n = 0; n < function_.nodes.size(); ++n) {
      const NodeId id{static_cast<int32_t>(n)};
      if (taken_.contains(id)) continue;
      LayerOfNodes layer;
      const Reason reason = make_layer(function_, id, layer);
      INTARSIA_CHECK(!reason, "the partitioner hands over what the patterns took: " + *reason);
      while (extend(layer)) {
      }
      layers.push_back(std::move(layer));
    }
    // A layer runs where its last operator stood: all that it reads is there then.
    std::stable_sort(layers.begin(), layers.end(),
                     [](const LayerOfNodes& a, const LayerOfNodes& b) {
                       return a.nodes.back() < b.nodes.back();
                     });
    return layers;
  }

 private:
  // Takes in the only reader of the result, if the library computes both at once.
  bool extend(LayerOfNodes& layer) {
    const TensorId result = layer.operand(Operand::result);
    if (outputs_.contains(result) || readers_[result.at()].size() != 1) return false;
    const NodeId reader = readers_[result.at()].front();
    if (taken_.contains(reader)) return false;
    LayerOfNodes longer = layer;
    const graph::Node& node = function_.nodes[reader.at()];
    const std::optional<UnaryFunction> unary = function_of(node);
    const bool fits = unary ? add_function(longer.layer, *unary) : add_addend(longer, node, result);
    if (!fits) return false;
    longer.operand(Operand::result) = node.outputs[0];
    longer.nodes.push_back(reader);
    if (library_.refuses(longer.layer)) return false;
    taken_.insert(reader);
    layer = std::move(longer);
    return true;
  }

  static void set_second(Layer& layer, const UnaryFunction& unary) {
    layer.second_function = static_cast<int32_t>(unary.function);
    layer.second_alpha = std::bit_cast<int32_t>(unary.alpha);
    layer.second_beta = std::bit_cast<int32_t>(unary.beta);
  }

  static bool add_function(Layer& layer, const UnaryFunction& unary) {
    if (layer.second_function != 0) return false;
    if (layer.function != 0 || layer.has(Operand::addend)) {
      set_second(layer, unary);
      return true;
    }
    layer.function = static_cast<int32_t>(unary.function);
    layer.alpha = std::bit_cast<int32_t>(unary.alpha);
    layer.beta = std::bit_cast<int32_t>(unary.beta);
    return true;
  }

  // The sum with a tensor of the result's shape.
  bool add_addend(LayerOfNodes& layer, const graph::Node& node, TensorId result) const {
    if (node.kind != graph::OpKind::Add || !layer.layer.is_weighted()) return false;
    if (layer.layer.has(Operand::addend) || layer.layer.second_function != 0) return false;
    const TensorId other = node.inputs[0] == result ? node.inputs[1] : node.inputs[0];
    if (other == result || function_.tensor(other).shape != function_.tensor(result).shape)
      return false;
    layer.operand(Operand::addend) = other;
    Layer& fields = layer.layer;
    fields.operands |= 1u << static_cast<int32_t>(Operand::addend);
    fields.b_batch = fields.batch, fields.b_h = fields.out_h, fields.b_w = fields.out_w;
    fields.b_c = fields.out_c;
    set_second(fields, function_of(node.attrs<graph::BinaryAttrs>().activation));
    return true;
  }

  const Library& library_;
  const graph::Function& function_;
  std::vector<std::vector<NodeId>> readers_;  // by tensor, one for each mention
  std::set<TensorId> outputs_;
  std::set<NodeId> taken_;
};

}  // namespace

std::vector<LayerOfNodes> fused_layers(const Library& library, const graph::Function& function) {
  return LayerFuser(library, function).run();
}

}  // namespace intarsia::layers
