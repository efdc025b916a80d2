// Rules of variables, branches and loops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/loop_bound.h"
#include "graph/op_check.h"

namespace intarsia::graph {
namespace {

using enum DataType;

// A function of the module with a list of inputs and outputs that names its tensors; else a finding.
const Function* runs(OpCheck& check, const std::string& name, size_t inputs, size_t outputs) {
  const Function* function = check.module.find(name);
  if (function == nullptr) {
    check.fail(fmt::format("runs '{}', which does not exist", name));
    return nullptr;
  }
  const bool fits = check.require(
      function->inputs.size() == inputs && function->outputs.size() == outputs,
      fmt::format("runs '{}', which takes {} and gives {} tensors, with {} and {}", name,
                  function->inputs.size(), function->outputs.size(), inputs, outputs));
  for (const auto* ids : {&function->inputs, &function->outputs})
    for (const TensorId id : *ids)
      if (!check.require(
              id.valid() && id.at() < function->tensors.size(),
              fmt::format("runs '{}', which names tensor %{} that does not exist", name, id.index)))
        return nullptr;
  return fits ? function : nullptr;
}

void same_tensor(OpCheck& check, const Tensor& given, const Tensor& expected,
                 const std::string& what) {
  check.require(
      given.type == expected.type && given.quantization == expected.quantization &&
          given.shape == expected.shape,
      fmt::format("{} is {}[{}], but {}[{}] is needed{}", what, to_string(given.type),
                  fmt::join(given.shape, ","), to_string(expected.type),
                  fmt::join(expected.shape, ","),
                  given.quantization == expected.quantization ? "" : " with another quantisation"));
}

void takes(OpCheck& check, const Function& function, size_t first) {
  for (size_t i = 0; i < function.inputs.size(); ++i)
    same_tensor(check, check.in(first + i), function.tensor(function.inputs[i]),
                fmt::format("operand {} for '{}'", first + i, function.name));
}

bool is_flag(const Tensor& tensor) {
  return tensor.type == Bool && element_count(tensor.shape) == 1;
}

}  // namespace

Shapes infer_if(OpCheck& check) {
  const auto& a = check.node.attrs<IfAttrs>();
  check.require(is_flag(check.in(0)), "its condition is not one bool");
  const size_t inputs = check.node.inputs.size() - 1, outputs = check.node.outputs.size();
  const Function* then_branch = runs(check, a.then_branch, inputs, outputs);
  const Function* else_branch = runs(check, a.else_branch, inputs, outputs);
  if (then_branch == nullptr || else_branch == nullptr) return {};
  takes(check, *then_branch, 1), takes(check, *else_branch, 1);
  Shapes shapes;
  for (size_t i = 0; i < outputs; ++i) {
    const Tensor& made = then_branch->tensor(then_branch->outputs[i]);
    same_tensor(check, else_branch->tensor(else_branch->outputs[i]), made,
                fmt::format("output {} of '{}'", i, a.else_branch));
    shapes.push_back(made.shape);
    check.require(check.out(i).type == made.type && check.out(i).quantization == made.quantization,
                  fmt::format("output {} differs from that of '{}' in type or quantisation", i,
                              a.then_branch));
  }
  return shapes;
}

Shapes infer_while(OpCheck& check) {
  const auto& a = check.node.attrs<WhileAttrs>();
  const size_t carried = check.node.inputs.size();
  check.require(
      check.node.outputs.size() == carried,
      fmt::format("carries {} values and has {} outputs", carried, check.node.outputs.size()));
  const Function* condition = runs(check, a.condition, carried, 1);
  const Function* body = runs(check, a.body, carried, carried);
  if (condition == nullptr || body == nullptr || !check.ok()) return {};
  check.require(is_flag(condition->tensor(condition->outputs[0])), "its condition is not one bool");
  takes(check, *condition, 0), takes(check, *body, 0);
  Shapes shapes;
  for (size_t i = 0; i < carried; ++i) {
    same_tensor(check, body->tensor(body->outputs[i]), check.in(i),
                fmt::format("output {} of '{}'", i, a.body));
    check.require(check.out(i).type == check.in(i).type &&
                      check.out(i).quantization == check.in(i).quantization,
                  fmt::format("output {} differs from operand {} in type or quantisation", i, i));
    shapes.push_back(check.in(i).shape);
  }
  if (check.ok())
    check.require(
        loop_bound(check.module, check.function, check.node).has_value(),
        "may run for ever: nothing limits its iterations to a number known in advance",
        "give the loop a counter that begins as a constant, changes by a constant and is compared "
        "with a constant (tf.while_loop: maximum_iterations)");
  return shapes;
}

Shapes infer_variable(OpCheck& check) {
  const Tensor &from = check.in(0), &to = check.out();
  check.require(
      from.type == to.type && from.quantization == to.quantization && bits(from.type) >= 8,
      fmt::format("cannot move {}", check.types_text()),
      "the variable and its value have to have one type of whole bytes and one quantisation");
  return {from.shape};
}

}  // namespace intarsia::graph
