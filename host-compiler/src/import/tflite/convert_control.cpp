// Branches and loops: nodes that run other subgraphs' functions.
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

void SubgraphReader::convert_control(const OperatorInfo& op) {
  const bool is_loop = op.code == kWHILE;
  const std::vector<int64_t> callees = subgraphs_run_by(op);
  const size_t first = is_loop ? 0 : 1;
  if (op.inputs.size() < first) return problem(op, "has no condition");
  bool good = true;
  std::vector<std::optional<VariableId>> passed;
  Draft draft;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int32_t id = op.inputs[i];
    if (id < 0) return problem(op, fmt::format("lacks its input {}", i));
    const bool is_handle = i >= first && tensors_.is_resource(id);
    if (is_handle) {
      const auto variable = handle(op, id);
      if (!variable) return;
      passed.push_back(*variable);
      continue;
    }
    if (i >= first) passed.emplace_back();
    good &= tensors_.get_values(id, "read by " + op.label()) != nullptr;
    draft.inputs.push_back(current(id));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (tensors_.is_resource(op.outputs[i])) {
      if (!handles_.contains(op.outputs[i]))
        return problem(op, fmt::format("makes a handle, its output {}", i));
      continue;
    }
    good &= tensors_.get(op.outputs[i], "written by " + op.label()) != nullptr;
    draft.outputs.push_back(op.outputs[i]);
    if (is_loop && good && tensors_.is_dynamic(op.outputs[i]) && i < op.inputs.size())
      tensors_.set_shape(op.outputs[i], tensor(current(op.inputs[i])).shape);
  }
  if (!good) return;

  std::set<VariableId> used, assigned;
  for (const int64_t callee : callees) {
    used.merge(model_.uses(static_cast<size_t>(callee), passed, false));
    assigned.merge(model_.uses(static_cast<size_t>(callee), passed, true));
  }
  for (const VariableId id : used)
    if (!model_.variable(id).tensor)
      return problem(op, "works on a variable whose type is not known");
  Signature signature{0, passed, {used.begin(), used.end()}, {assigned.begin(), assigned.end()}};
  if (is_loop) signature.gives = signature.takes;  // what a loop carries it takes and gives
  for (const VariableId id : signature.takes) draft.inputs.push_back(value_of(id));
  std::vector<std::string> functions;
  for (size_t i = 0; i < callees.size(); ++i) {
    Signature own = signature;
    own.subgraph = static_cast<size_t>(callees[i]);
    if (is_loop && i == 0) own.gives.clear();
    const std::span<const int32_t> expected = values(model_.subgraph(own.subgraph).raw->inputs());
    if (expected.size() != passed.size()) {
      return problem(op, fmt::format("hands {} values to subgraph {}, which takes {}",
                                     passed.size(), own.subgraph, expected.size()));
    }
    hand_shapes(op, first, own.subgraph);
    functions.push_back(model_.function_for(own));
    if (functions.back().empty()) return;  // reported
  }
  for (const VariableId id : signature.gives) {
    graph::Tensor value = *model_.variable(id).tensor;
    value.name = fmt::format("{}_after_{}", printable(value.name), op.name);
    draft.outputs.push_back(make({std::move(value), {}}));
    values_[id] = draft.outputs.back();
  }
  if (draft.outputs.empty()) return;  // nothing comes of it
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  if (is_loop) {
    draft.node.attributes = graph::WhileAttrs{functions[0], functions[1]};
  } else {
    draft.node.attributes = graph::IfAttrs{functions[0], functions[1]};
  }
  drafts_.push_back(std::move(draft));
}

}  // namespace intarsia::tflite
