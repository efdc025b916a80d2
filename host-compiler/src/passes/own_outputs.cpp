#include <set>
#include <utility>

#include "intarsia/plugin/unique_names.h"
#include "passes/graph_edit.h"
#include "passes/passes.h"

namespace intarsia::passes {

using graph::Function;
using graph::Node;
using graph::TensorId;

graph::Module own_outputs(const graph::Module& module, const std::string& pin) {
  graph::Module result = module;
  for (Function& function : result.functions) {
    if (function.name != module.entry) continue;
    const Uses uses(function);
    UniqueNames names;
    for (const Node& node : function.nodes) names.reserve(node.name);
    std::set<int32_t> given;
    for (TensorId& output : function.outputs) {
      const TensorId source = output;
      graph::Tensor tensor = function.tensor(source);
      const bool is_state = std::exchange(tensor.variable, false);
      if (!is_state && uses.producer(source) >= 0 && given.insert(source.index).second) continue;
      tensor.constant = tensor.initial = {};
      Node copy;
      copy.name = names.take("copy_" + (tensor.name.empty() ? "output" : tensor.name));
      if (is_state) {
        copy.kind = graph::OpKind::ReadVariable;
        copy.attributes = graph::NoAttrs{};
      } else {
        copy.kind = graph::OpKind::Reshape;
        copy.attributes = graph::ReshapeAttrs{tensor.shape};
      }
      copy.pin = pin;
      output = add_tensor(function, std::move(tensor));
      copy.inputs = {source};
      copy.outputs = {output};
      function.nodes.push_back(std::move(copy));
    }
  }
  return result;
}

}  // namespace intarsia::passes
