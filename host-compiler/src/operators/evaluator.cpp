// The reference evaluator: functions node by node, and the functions that calls, branches and loops run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "graph/op_check.h"
#include "intarsia/graph.h"
#include "operators/operator.h"
#include "support/watched.h"

namespace intarsia::operators {

Result<void> unsupported_types(const Invocation& call) {
  std::string types;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    types += i == 0 ? "" : ", ";
    types += call.has(i) ? to_string(call.in(i).type) : "_";
  }
  return Diagnostics(graph::place_of(call.function, call.node),
                     fmt::format("the reference evaluator has no arithmetic for the types {} -> {}",
                                 types, to_string(call.out().type)));
}

}  // namespace intarsia::operators

namespace intarsia::graph {
namespace {

// What a variable without an initial value holds before the first invocation.
TensorValue zero_points(const Tensor& tensor) {
  TensorValue value(static_cast<size_t>(tensor.bytes()), 0);
  const std::vector<int64_t>& zero_point = tensor.quantization.zero_point;
  if (zero_point.size() != 1 || zero_point[0] == 0) return value;
  if (tensor.type == DataType::Int4) {
    const auto nibble = static_cast<uint8_t>(zero_point[0] & 15);
    std::fill(value.begin(), value.end(), static_cast<uint8_t>(nibble | nibble << 4));
    return value;
  }
  const auto size = static_cast<size_t>(bits(tensor.type) / 8);
  for (size_t at = 0; at < value.size(); at += size)
    std::memcpy(value.data() + at, &zero_point[0], size);  // little-endian: the low bytes
  return value;
}

}  // namespace

Evaluator::Evaluator(const Module& module) : module_(module) {
  for (const Function& function : module.functions) {
    std::vector<TensorValue>& values = variables_.emplace_back(function.tensors.size());
    for (size_t i = 0; i < function.tensors.size(); ++i)
      if (const Tensor& tensor = function.tensors[i]; tensor.variable)
        values[i] = tensor.initial.valid() ? module.constant(tensor.initial).bytes.vector()
                                           : zero_points(tensor);
  }
}

Result<std::vector<TensorValue>> Evaluator::run(const std::vector<TensorValue>& inputs,
                                                Observer on_result, void* context) {
  const Function& entry = module_.entry_function();
  if (inputs.size() != entry.inputs.size())
    return Diagnostics(fmt::format("function '{}'", entry.name),
                       fmt::format("got {} inputs, takes {}", inputs.size(), entry.inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = entry.tensor(entry.inputs[i]);
    if (static_cast<int64_t>(inputs[i].size()) != tensor.bytes())
      return Diagnostics(fmt::format("function '{}': input {} '{}'", entry.name, i, tensor.name),
                         fmt::format("got {} bytes, takes {}", inputs[i].size(), tensor.bytes()));
  }
  return run_function(entry, inputs, on_result, context);
}

Result<void> Evaluator::take_steps(const Function& function, const Node& node, int64_t steps) {
  INTARSIA_TRY_VOID(watched::goes_on());
  steps_left_ -= steps;
  if (steps_left_ >= 0) return {};
  return Diagnostics(
      place_of(function, node),
      fmt::format("is not run: more than {} steps are needed until here, and no more "
                  "are allowed",
                  most_steps_),
      "give the loops around it fewer iterations");
}

// A call, a branch or a loop.
Result<std::vector<TensorValue>> Evaluator::run_functions_of(const Function& function,
                                                             const Node& node,
                                                             std::vector<TensorValue> arguments,
                                                             Observer on_result, void* context) {
  const auto run = [&](const std::string& name) {
    const Function* callee = module_.find(name);
    INTARSIA_CHECK(callee != nullptr, "the callee of a verified module exists");
    return run_function(*callee, arguments, on_result, context);
  };
  if (const auto* call = std::get_if<CallAttrs>(&node.attributes)) return run(call->callee);
  if (const auto* branch = std::get_if<IfAttrs>(&node.attributes)) {
    const bool condition = arguments[0][0] != 0;
    arguments.erase(arguments.begin());
    return run(condition ? branch->then_branch : branch->else_branch);
  }
  const auto& loop = node.attrs<WhileAttrs>();
  for (;;) {
    INTARSIA_TRY_VOID(take_steps(function, node, 1));
    INTARSIA_TRY(const std::vector<TensorValue> condition, run(loop.condition));
    if (condition[0][0] == 0) return arguments;
    INTARSIA_TRY(arguments, run(loop.body));
  }
}

Result<std::vector<TensorValue>> Evaluator::run_function(const Function& function,
                                                         const std::vector<TensorValue>& inputs,
                                                         Observer on_result, void* context) {
  std::vector<TensorValue>& variables =
      variables_[static_cast<size_t>(&function - module_.functions.data())];
  std::vector<TensorValue> made(function.tensors.size());  // inputs, and outputs of nodes
  for (size_t i = 0; i < inputs.size(); ++i) made[function.inputs[i].at()] = inputs[i];

  const auto value = [&](TensorId id) -> const TensorValue& {
    const Tensor& tensor = function.tensor(id);
    if (tensor.constant.valid()) return module_.constant(tensor.constant).bytes;
    return tensor.variable ? variables[id.at()] : made[id.at()];
  };
  for (const Node& node : function.nodes) {
    int64_t steps = 1;
    for (const TensorId id : node.outputs) steps += function.tensor(id).bytes() / 1024;
    INTARSIA_TRY_VOID(take_steps(function, node, steps));
    // Results are computed aside: a node may read the variable that it writes.
    std::vector<TensorValue> results;
    if (!functions_run_by(node).empty()) {
      std::vector<TensorValue> arguments;
      for (const TensorId id : node.inputs) arguments.push_back(value(id));
      INTARSIA_TRY(results,
                   run_functions_of(function, node, std::move(arguments), on_result, context));
    } else {
      operators::Invocation call{function, node, {}, {}};
      for (const TensorId id : node.inputs)
        call.inputs.push_back(id.valid() ? value(id).data() : nullptr);
      for (const TensorId id : node.outputs)
        results.emplace_back(static_cast<size_t>(function.tensor(id).bytes()));
      for (TensorValue& result : results) call.outputs.push_back(result.data());
      INTARSIA_TRY_VOID(operators::operator_of(node.kind).evaluate(call));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorId id = node.outputs[i];
      TensorValue& place = function.tensor(id).variable ? variables[id.at()] : made[id.at()];
      place = std::move(results[i]);
      if (on_result != nullptr) on_result(context, node, i, place);
    }
  }
  std::vector<TensorValue> outputs;
  for (const TensorId id : function.outputs) outputs.push_back(value(id));
  return outputs;
}

}  // namespace intarsia::graph
