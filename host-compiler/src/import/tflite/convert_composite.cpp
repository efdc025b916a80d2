// Operators that come with a subgraph of simpler ones, which is what LiteRT runs where nothing else knows the name: their operators
// take their place.
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

void SubgraphReader::run_composite(const OperatorInfo& op) {
  const auto callee = static_cast<size_t>(subgraphs_run_by(op)[0]);
  const format::Subgraph& raw = *model_.subgraph(callee).raw;
  const std::span<const int32_t> taken = values(raw.inputs()), made = values(raw.outputs());
  if (taken.size() != op.inputs.size() || made.size() != op.outputs.size())
    return problem(
        op, fmt::format("hands {} values to subgraph {} for {}, which takes {} for {}",
                        op.inputs.size(), callee, op.outputs.size(), taken.size(), made.size()));
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int32_t id = op.inputs[i];
    if (id < 0) return problem(op, fmt::format("lacks its input {}", i));
    if (tensors_.get_values(id, "read by " + op.label()) == nullptr) return;
    inputs.push_back(current(id));
  }
  for (const int32_t id : op.outputs)
    if (tensors_.get(id, "written by " + op.label()) == nullptr) return;
  Signature signature{callee, std::vector<std::optional<VariableId>>(inputs.size()), {}, {}};
  const std::set<VariableId> used = model_.uses(callee, signature.handles, false);
  if (!used.empty()) return problem(op, "works on variables, which a composite has none of");
  hand_shapes(op, 0, callee);
  const std::string name = model_.function_for(signature);
  if (name.empty()) return;  // reported
  const graph::Module& module = model_.module();
  const graph::Function* function = module.find(name);
  INTARSIA_CHECK(function != nullptr, "a function that was converted is one of the module");
  constexpr size_t kMostOperators = 100'000;  // composites may be of composites
  if (drafts_.size() + function->nodes.size() > kMostOperators)
    return problem(op,
                   fmt::format("brings the function to more than {} operators", kMostOperators));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Tensor& given = tensor(inputs[i]);
    const graph::Tensor& expected = function->tensor(function->inputs[i]);
    if (given.type != expected.type || given.shape != expected.shape ||
        given.quantization != expected.quantization)
      return problem(op, fmt::format("hands {} to subgraph {}, whose input {} is another type",
                                     tensors_.label(op.inputs[i]), callee, i));
  }
  const std::vector<int32_t> results = written_out(op, module, *function, inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (tensors_.is_dynamic(op.outputs[i]))
      tensors_.set_shape(op.outputs[i], tensor(results[i]).shape);
    const graph::Tensor &is = tensor(results[i]), &said = tensor(op.outputs[i]);
    if (is.type != said.type || is.shape != said.shape)
      return problem(op,
                     fmt::format("makes {}, which is another type than output {} of subgraph {}",
                                 tensors_.label(op.outputs[i]), i, callee));
    if (const std::span<const uint8_t> known = bytes(results[i]);
        !known.empty() && !is_result(op.outputs[i])) {
      tensors_.set_data(op.outputs[i], {known.begin(), known.end()});
      continue;
    }
    Draft draft;
    draft.node.kind = graph::OpKind::Reshape;
    draft.node.name = unique_name(op.name + "_result");
    draft.node.attributes = graph::ReshapeAttrs{said.shape};
    draft.inputs = {results[i]}, draft.outputs = {op.outputs[i]};
    drafts_.push_back(std::move(draft));
  }
  model_.written_out(name);
}

}  // namespace intarsia::tflite
