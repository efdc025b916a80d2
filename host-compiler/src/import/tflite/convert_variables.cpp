// Variables: reads and assignments become values; the model reads and assigns each once.
#include "import/tflite/subgraph_reader.h"
#include "support/c_identifier.h"

namespace intarsia::tflite {

std::string SubgraphReader::unique_name(const std::string& hint) {
  std::string name = hint;
  for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", hint, i);
  return name;
}

// The model reads a variable before its first use; other functions have been given its value.
int32_t SubgraphReader::value_of(VariableId id) {
  if (const auto found = values_.find(id); found != values_.end()) return found->second;
  const Variable& variable = model_.variable(id);
  graph::Tensor value = *variable.tensor;
  value.name = printable(variable.name) + "_value";
  graph::Tensor kept = *variable.tensor;
  kept.variable = true;
  variables_[id] = make({kept, {}});
  const int32_t made = make({value, {}});
  Draft draft;
  draft.node.kind = graph::OpKind::ReadVariable;
  draft.node.name = unique_name("read_" + c_identifier(variable.name, "variable"));
  draft.inputs = {variables_[id]}, draft.outputs = {made};
  drafts_.push_back(std::move(draft));
  return values_[id] = made;
}

void SubgraphReader::read_variable(const OperatorInfo& op) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1) {
    return problem(op, fmt::format("has {} inputs and {} outputs, but takes 1 and makes 1",
                                   op.inputs.size(), op.outputs.size()));
  }
  const auto id = handle(op, op.inputs[0]);
  if (!id) return;
  const int32_t value = value_of(*id);
  if (is_result(op.outputs[0]) &&
      tensors_.get(op.outputs[0], "written by " + op.label()) != nullptr)
    hand_on(op, value);
  else
    same_as_[op.outputs[0]] = value;
}

void SubgraphReader::assign_variable(const OperatorInfo& op) {
  if (op.inputs.size() != 2 || !op.outputs.empty()) {
    return problem(op, fmt::format("has {} inputs and {} outputs, but takes 2 and makes none",
                                   op.inputs.size(), op.outputs.size()));
  }
  const auto id = handle(op, op.inputs[0]);
  if (!id || op.inputs[1] < 0 ||
      tensors_.get_values(op.inputs[1], "read by " + op.label()) == nullptr)
    return;
  if (is_model_ && !variables_.contains(*id)) {
    graph::Tensor kept = *model_.variable(*id).tensor;
    kept.variable = true;
    variables_[*id] = make({kept, {}});
  }
  values_[*id] = current(op.inputs[1]);
}

void SubgraphReader::call_once(const OperatorInfo& op) {
  const auto number = static_cast<size_t>(subgraphs_run_by(op).at(0));
  if (!is_model_) {
    return problem(op, "initialises inside of a branch or a loop",
                   "initialise at the beginning of the model");
  }
  for (const VariableId id : model_.uses(number, {}, false)) {
    if (values_.contains(id)) {
      return problem(op,
                     fmt::format("initialises the variable '{}' after it has been used",
                                 printable(model_.variable(id).name)),
                     "initialise at the beginning of the model");
    }
  }
  model_.initialise(op, number);
}

void SubgraphReader::assign_at_end() {
  for (const auto& [id, kept] : variables_) {
    const int32_t value = values_.at(id);
    const bool untouched = std::ranges::any_of(drafts_, [&, kept = kept](const Draft& draft) {
      return draft.node.kind == graph::OpKind::ReadVariable && draft.inputs[0] == kept &&
             draft.outputs[0] == value;
    });
    if (untouched) continue;
    Draft draft;
    draft.node.kind = graph::OpKind::AssignVariable;
    draft.node.name = unique_name("assign_" + c_identifier(model_.variable(id).name, "variable"));
    draft.inputs = {value}, draft.outputs = {kept};
    drafts_.push_back(std::move(draft));
  }
}

}  // namespace intarsia::tflite
