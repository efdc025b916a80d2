// Quotients on 32 bits, step by step as TFLite's.
#pragma once

#include <vector>

#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

// From a quotient of integers to the output's, in single precision as TFLite has it.
FixedFactor quotient_factor(const Site& site);

// Of two operands of int8 or int16, one of which may repeat.
class QuotientSteps {
 public:
  QuotientSteps(Builder& builder, const Site& site);

  // What is computed of the divisors alone: their signs, reciprocals, and what quotients are shifted right by beside the
  // numerators' zeros.
  std::vector<Operand> of_divisors(const Operand& divisor);
  void emit(const Operand& numerator, const std::vector<Operand>& by, const Operand& out);

 private:
  Operand rounded_away(const Operand& x);
  Operand constant(int32_t value);

  Builder& builder_;
  FixedFactor factor_;
  Clamp clamp_;
  bool wide_range_;  // quotients may be shifted to the right by more than 31 bits
};

}  // namespace intarsia::targets::ethos_u
