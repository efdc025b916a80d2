#include <map>
#include <set>

#include "intarsia/plugin/unique_names.h"
#include "passes/passes.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::TensorId;

// Appends nodes to one function, calls replaced by their callees' nodes.
class Inliner {
 public:
  Inliner(const Module& module, Function& into) : module_(module), into_(into) {}

  // `tensors` maps the body's tensors to those of the function being built; `pin` is what the call
  // asked for, `prefix` keeps names apart.
  void append(const Function& body, std::map<int32_t, TensorId> tensors, const std::string& pin,
              const std::string& prefix) {
    for (const Node& original : body.nodes) {
      Node node = original;
      for (TensorId& id : node.inputs) id = translate(body, id, tensors);
      for (TensorId& id : node.outputs) id = translate(body, id, tensors);
      if (node.pin.empty()) node.pin = pin;
      node.name = names_.take(prefix + node.name);
      if (node.kind != graph::OpKind::Call) {
        into_.nodes.push_back(std::move(node));
        continue;
      }
      const Function* callee = module_.find(node.attrs<graph::CallAttrs>().callee);
      INTARSIA_CHECK(callee != nullptr, "a verified module has every callee");
      std::map<int32_t, TensorId> bound;
      for (size_t i = 0; i < callee->inputs.size(); ++i)
        bound[callee->inputs[i].index] = node.inputs[i];
      for (size_t i = 0; i < callee->outputs.size(); ++i)
        bound[callee->outputs[i].index] = node.outputs[i];
      append(*callee, std::move(bound), node.pin.empty() ? callee->pin : node.pin, node.name + "_");
    }
  }

 private:
  TensorId translate(const Function& body, TensorId id, std::map<int32_t, TensorId>& tensors) {
    if (!id.valid()) return id;
    const auto [place, fresh] = tensors.try_emplace(id.index, TensorId{});
    if (fresh) {
      place->second = TensorId{static_cast<int32_t>(into_.tensors.size())};
      into_.tensors.push_back(body.tensor(id));
    }
    return place->second;
  }

  const Module& module_;
  Function& into_;
  UniqueNames names_;
};

}  // namespace

namespace {

Function inlined(const Module& module, const Function& function) {
  Function flat = function;
  flat.nodes.clear();
  std::map<int32_t, TensorId> same;
  for (size_t i = 0; i < function.tensors.size(); ++i)
    same[static_cast<int32_t>(i)] = TensorId{static_cast<int32_t>(i)};
  Inliner(module, flat).append(function, std::move(same), function.pin, "");
  return flat;
}

}  // namespace

Module inline_calls(const Module& module) {
  Module result;
  result.name = module.name;
  result.constants = module.constants;
  result.entry = module.entry;
  result.functions.push_back(inlined(module, module.entry_function()));
  // What branches and loops run stays functions.
  std::set<std::string> kept{module.entry};
  for (size_t i = 0; i < result.functions.size(); ++i)
    for (const Node& node : std::vector<Node>(result.functions[i].nodes))
      for (const std::string& name : graph::functions_run_by(node))
        if (kept.insert(name).second)
          result.functions.push_back(inlined(module, *module.find(name)));
  return result;
}

}  // namespace intarsia::passes
