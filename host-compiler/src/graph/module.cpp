// Names and look-ups of the graph IR.
#include "intarsia/graph.h"
#include "intarsia/plugin/check.h"

namespace intarsia::graph {

std::string_view to_string(OpKind kind) {
  switch (kind) {
#define OP(name, text, attrs, least, most, outputs) \
  case OpKind::name:                                \
    return text;
#include "intarsia/graph/op_kinds.def"
#undef OP
  }
  return "?";
}

std::optional<OpKind> op_kind_from_string(std::string_view word) {
#define OP(name, text, attrs, least, most, outputs) \
  if (word == text) return OpKind::name;
#include "intarsia/graph/op_kinds.def"
#undef OP
  return std::nullopt;
}

Attributes default_attributes(OpKind kind) {
  switch (kind) {
#define OP(name, text, attrs, least, most, outputs) \
  case OpKind::name:                                \
    return attrs{};
#include "intarsia/graph/op_kinds.def"
#undef OP
  }
  return NoAttrs{};
}

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::None:
      return "none";
    case Activation::Relu:
      return "relu";
    case Activation::ReluN1To1:
      return "relu_n1_to_1";
    case Activation::Relu6:
      return "relu6";
  }
  return "?";
}

std::optional<Activation> activation_from_string(std::string_view text) {
  for (const Activation activation :
       {Activation::None, Activation::Relu, Activation::ReluN1To1, Activation::Relu6})
    if (text == to_string(activation)) return activation;
  return std::nullopt;
}

std::vector<std::string> functions_run_by(const Node& node) {
  if (const auto* call = std::get_if<CallAttrs>(&node.attributes)) return {call->callee};
  if (const auto* branch = std::get_if<IfAttrs>(&node.attributes))
    return {branch->then_branch, branch->else_branch};
  if (const auto* loop = std::get_if<WhileAttrs>(&node.attributes))
    return {loop->condition, loop->body};
  return {};
}

const Function* Module::find(std::string_view function) const {
  for (const Function& candidate : functions)
    if (candidate.name == function) return &candidate;
  return nullptr;
}

const Function& Module::entry_function() const {
  const Function* found = find(entry);
  INTARSIA_CHECK(found != nullptr, "the entry of a module names one of its functions");
  return *found;
}

}  // namespace intarsia::graph
