// Variables, branches, loops, calls, and what another compiler has compiled already.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/loop_bound.h"
#include "operators/evaluation/moved_elements.h"
#include "operators/families.h"
#include "operators/lowering/strided_copy.h"

namespace intarsia::operators {
namespace {

using namespace graph;
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

// The outputs have the shapes that the other compiler gave them.
Shapes infer_compiled(OpCheck& check) {
  const auto& a = check.node.attrs<CompiledAttrs>();
  check.require(!a.device.empty(), "does not say for which device it was compiled");
  check.require(check.in(0).constant.valid(), "its payload is not constant");
  check.require(!check.has(1) || check.in(1).constant.valid(), "its constants are not constant");
  check.require(a.arena_bytes >= 0 && a.arena_bytes <= kMaxTensorBytes && a.fast_arena_bytes >= 0 &&
                    a.fast_arena_bytes <= kMaxTensorBytes,
                fmt::format("needs arenas of {} and {} bytes", a.arena_bytes, a.fast_arena_bytes));
  const size_t inputs = check.node.inputs.size() < 2 ? 0 : check.node.inputs.size() - 2;
  if (!check.require(
          a.input_offsets.size() == inputs && a.output_offsets.size() == check.node.outputs.size(),
          fmt::format("has {} inputs and {} outputs, but {} and {} addresses", inputs,
                      check.node.outputs.size(), a.input_offsets.size(), a.output_offsets.size())))
    return {};
  const auto in_arena = [&](const Tensor& tensor, int64_t offset) {
    check.require(offset >= 0 && offset <= a.arena_bytes - tensor.bytes(),
                  fmt::format("has '{}', {} bytes, at {} of its arena of {} bytes", tensor.name,
                              tensor.bytes(), offset, a.arena_bytes));
  };
  for (size_t i = 0; i < inputs; ++i) {
    if (!check.require(check.has(i + 2), fmt::format("lacks its input {}", i))) return {};
    in_arena(check.in(i + 2), a.input_offsets[i]);
  }
  Shapes shapes;
  for (size_t i = 0; i < check.node.outputs.size(); ++i) {
    if (shape_problem(check.out(i).type, check.out(i).shape)
            .empty())  // else it is reported with the shape
      in_arena(check.out(i), a.output_offsets[i]);
    shapes.push_back(check.out(i).shape);
  }
  return shapes;
}

Shapes infer_call(OpCheck& check) {
  const std::string& name = check.node.attrs<CallAttrs>().callee;
  const Function* callee = check.module.find(name);
  if (callee == nullptr) {
    std::vector<std::string> names;
    for (const Function& function : check.module.functions) names.push_back(function.name);
    const std::string nearest = nearest_name(name, names);
    check.fail(fmt::format("calls '{}', which does not exist", name),
               nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
    return {};
  }
  const auto same_count = [&](size_t given, size_t expected, std::string_view what) {
    return check.require(given == expected,
                         fmt::format("has {} {}, but '{}' has {}", given, what, name, expected));
  };
  const bool counts = same_count(check.node.inputs.size(), callee->inputs.size(), "operands") &
                      same_count(check.node.outputs.size(), callee->outputs.size(), "outputs");
  if (!counts) return {};

  // Null (and a finding) when the callee's own list is broken.
  const auto parameter = [&](TensorId id) -> const Tensor* {
    const bool exists = id.valid() && id.at() < callee->tensors.size();
    check.require(exists, fmt::format("calls '{}', which names tensor %{} that does not exist",
                                      name, id.index));
    return exists ? &callee->tensor(id) : nullptr;
  };
  const auto same_kind = [&](const Tensor& given, const Tensor& expected, std::string_view what,
                             size_t i) {
    check.require(
        given.type == expected.type && given.quantization == expected.quantization,
        fmt::format("{} {} differs from that of '{}' in type or quantisation", what, i, name));
  };
  for (size_t i = 0; i < callee->inputs.size(); ++i)
    if (const Tensor* expected = parameter(callee->inputs[i])) {
      same_kind(check.in(i), *expected, "operand", i);
      check.require(
          check.in(i).shape == expected->shape,
          fmt::format("operand {} has the shape [{}], but '{}' takes [{}]", i,
                      fmt::join(check.in(i).shape, ","), name, fmt::join(expected->shape, ",")));
    }
  Shapes shapes;
  for (size_t i = 0; i < callee->outputs.size(); ++i)
    if (const Tensor* expected = parameter(callee->outputs[i])) {
      same_kind(check.out(i), *expected, "output", i);
      shapes.push_back(expected->shape);
    }
  return shapes;
}

Result<void> eval_compiled(const Invocation& call) {
  return Diagnostics(place_of(call.function, call.node),
                     fmt::format("was compiled for {}: there is no reference to evaluate",
                                 call.node.attrs<CompiledAttrs>().device),
                     "verify the model it was compiled from");
}

constexpr Operator kControlOperators[] = {
    {.kind = OpKind::ReadVariable,
     .infer = infer_variable,
     .evaluate = eval_reshape,
     .lower = lower_copy,
     .keeps_state = true},
    {.kind = OpKind::AssignVariable,
     .infer = infer_variable,
     .evaluate = eval_reshape,
     .lower = lower_copy,
     .keeps_state = true},
    {.kind = OpKind::If, .infer = infer_if},
    {.kind = OpKind::While, .infer = infer_while},
    {.kind = OpKind::Compiled, .infer = infer_compiled, .evaluate = eval_compiled},
    {.kind = OpKind::Call, .infer = infer_call},
};

}  // namespace

std::span<const Operator> control_operators() {
  return kControlOperators;
}

}  // namespace intarsia::operators
