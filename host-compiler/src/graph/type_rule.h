// A combination of operand types that an operator takes. Each operator lists its own, once: the rules, the evaluator and the
// C lowering read the same list.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include "intarsia/graph.h"

namespace intarsia::graph {

class TypeRule {
 public:
  // Of every operand in order, then of the first output. An absent operand fits any type; operands beyond the list, of
  // operators that take any number, are looked at by the operator's own rules.
  constexpr TypeRule(std::initializer_list<DataType> types) : count_(types.size()) {
    size_t next = 0;
    for (const DataType type : types) types_[next++] = type;
  }

  constexpr size_t inputs() const { return count_ - 1; }
  constexpr DataType input(size_t operand) const { return types_[operand]; }
  constexpr DataType output() const { return types_[count_ - 1]; }
  // False: the reference evaluator computes it, the portable C lowering has no code for it.
  constexpr bool in_c() const { return in_c_; }

  friend constexpr TypeRule evaluated_only(TypeRule rule) {
    rule.in_c_ = false;
    return rule;
  }

  bool fits(const Function& function, const Node& node) const {
    for (size_t i = 0; i < inputs() && i < node.inputs.size(); ++i)
      if (node.inputs[i].valid() && function.tensor(node.inputs[i]).type != types_[i]) return false;
    return function.tensor(node.outputs[0]).type == output();
  }

 private:
  std::array<DataType, 16> types_{};
  size_t count_;
  bool in_c_ = true;
};

constexpr TypeRule evaluated_only(TypeRule rule);

}  // namespace intarsia::graph
