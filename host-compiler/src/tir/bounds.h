// What is known of the values of integer expressions at one place of a function: the loops, lets
// and conditions around it. The verifier walks the function and keeps this in step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"
#include "tir/prover.h"

namespace intarsia::tir {

class Bounds {
 public:
  Bounds(const Module& module, const Func& func) : module_(module), func_(func) {}

  // The variable takes the values lo .. hi-1.
  void define_loop(VarId var, const Expr& lo, const Expr& hi);
  // The variable equals the value.
  void define_let(VarId var, const Expr& value);
  // From now on the condition holds (or does not), until drop_to.
  void assume(const Expr& condition, bool holds);
  size_t assumed() const { return prover_.assumed(); }
  void drop_to(size_t count) { prover_.drop_to(count); }

  bool is_less(const Expr& a, const Expr& b);
  bool is_within(const Expr& e, int64_t least, int64_t most);
  // The row-major element number of the indices is in 0 .. most. The indices themselves may be
  // anything.
  bool is_flat_within(const std::vector<Expr>& indices, const Shape& extents, int64_t most);

  // The value as a sum over symbols; operations that are not linear become symbols.
  Linear linear(const Expr& e);

 private:
  Linear from_binary(const Expr& e, const Binary& node);
  Linear from_product(const Linear& a, const Linear& b, DataType type);
  Linear from_min_max(const Binary& node);
  Linear from_div(const Linear& x, int64_t divisor);
  Linear from_mod(const Linear& x, int64_t divisor);
  // r = x - divisor * quotient, in `range`; at most x when that is known not to be negative.
  Linear remainder(const std::string& operation, const Linear& x, int64_t divisor,
                   const Linear& quotient, Interval range, bool nonnegative);
  Linear from_shift_right(const Linear& x, int64_t amount);
  Linear from_mask(const Linear& x, int64_t mask);
  Linear from_select(const Select& node);
  Linear from_load(const Load& node, DataType type);
  Linear unknown(DataType type);
  Linear unknown(Interval range);
  // `exact` when the type can hold it; else the value wraps or is undefined: unknown.
  Linear checked(const std::optional<Linear>& exact, DataType type);
  Interval contents(ConstantId constant);

  // Appends what the condition says, each >= 0. Says less rather than wrong.
  void facts_of(const Expr& condition, bool holds, std::vector<Linear>& facts);

  // An operation on the same operands is the same symbol wherever it stands.
  const Linear* known_operation(const std::string& operation, const std::vector<Linear>& operands);

  const Module& module_;
  const Func& func_;
  Prover prover_;
  std::map<VarId, Linear> vars_;
  std::map<VarId, Expr> bools_;  // Let-bound conditions
  std::map<ConstantId, Interval> contents_;
  using Operation = std::pair<std::string, std::vector<Linear>>;
  std::map<Operation, Linear> operations_;
};

}  // namespace intarsia::tir
