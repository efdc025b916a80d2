#include <algorithm>
#include <set>

#include "intarsia/layers/layer.h"
#include "intarsia/plugin/check.h"

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
    LayerOfNodes longer = layer, next;
    if (make_layer(function_, reader, next)) return false;
    const graph::Node& node = function_.nodes[reader.at()];
    const bool fits = next.layer.what() == Kind::eltwise ? add_function(longer.layer, next.layer)
                                                         : add_addend(longer, next, result);
    if (!fits) return false;
    longer.operand(Operand::result) = node.outputs[0];
    longer.nodes.push_back(reader);
    if (library_.refuses(longer.layer)) return false;
    taken_.insert(reader);
    layer = std::move(longer);
    return true;
  }

  static bool add_function(Layer& layer, const Layer& next) {
    if (layer.second_function != 0 || layer.type != next.type) return false;
    // What is rounded between the two has to be what the result is rounded to.
    const auto which = static_cast<Function>(next.function);
    if (layer.is_int8() && (which != Function::of_clip && which != Function::of_none)) return false;
    if (next.source_scale != next.result_scale || next.source_zero_point != next.result_zero_point)
      return false;
    if (layer.function != 0 || layer.has(Operand::addend)) {
      layer.second_function = next.function;
      layer.second_alpha = next.alpha, layer.second_beta = next.beta;
      return true;
    }
    layer.function = next.function;
    layer.alpha = next.alpha, layer.beta = next.beta;
    return true;
  }

  // The sum with a tensor of the result's shape.
  bool add_addend(LayerOfNodes& layer, const LayerOfNodes& next, TensorId result) const {
    if (next.layer.what() != Kind::add || !layer.layer.is_weighted()) return false;
    if (layer.layer.has(Operand::addend) || layer.layer.second_function != 0) return false;
    TensorId other = next.operand(Operand::addend);
    if (other == result && !layer.layer.is_int8()) other = next.operand(Operand::source);
    if (other == result || function_.tensor(other).shape != function_.tensor(result).shape)
      return false;
    layer.operand(Operand::addend) = other;
    Layer& fields = layer.layer;
    const Layer& sum = next.layer;
    fields.operands |= 1u << static_cast<int32_t>(Operand::addend);
    fields.b_batch = fields.batch, fields.b_h = fields.out_h, fields.b_w = fields.out_w;
    fields.b_c = fields.out_c;
    fields.second_function = sum.second_function;
    fields.second_alpha = sum.second_alpha, fields.second_beta = sum.second_beta;
    fields.middle_scale = fields.result_scale, fields.middle_zero_point = fields.result_zero_point;
    fields.addend_scale = sum.addend_scale, fields.addend_zero_point = sum.addend_zero_point;
    fields.result_scale = sum.result_scale, fields.result_zero_point = sum.result_zero_point;
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
