// Proves that integer expressions are never negative.
//
// The world is a list of symbols (loop variables, results of operations that are not linear), each
// with what is known of it in terms of earlier symbols: inequalities that hold always, and for some
// a complete list of cases. A goal `e >= 0` is proven by eliminating its last symbol: with an
// inequality in which the symbol has the same sign (e is then a multiple of that inequality plus a
// goal about earlier symbols), or case by case. Relations between variables need no extra care.
// "Yes" is a proof; "no" means only that none was found.
#pragma once

#include <optional>
#include <vector>

#include "tir/linear.h"

namespace intarsia::tir {

struct Interval {
  int64_t least, most;
};

// The symbol equals `value` whenever the conditions hold; a symbol's cases leave nothing out.
struct Case {
  Linear value;
  std::vector<Linear> conditions;  // each >= 0
};

class Prover {
 public:
  // A symbol whose value is in `range`, until more is said of it.
  Symbol add_symbol(Interval range);
  // known >= 0, always. It is about the last symbol in it.
  void add_inequality(const Linear& known);
  void add_cases(Symbol symbol, std::vector<Case> cases);

  // Facts hold until they are dropped, in the reverse order of assuming them.
  void assume(const Linear& fact);  // fact >= 0
  size_t assumed() const { return facts_.size(); }
  void drop_to(size_t count) { facts_.resize(count); }

  bool is_nonnegative(const Linear& goal);
  // Bounds from ranges of symbols alone, saturated to 64 bits.
  Interval range_of(const Linear& e) const;
  // True when e is in `range` for all values that its symbols can have.
  bool is_within(const Linear& e, Interval range);

 private:
  struct Knowledge {
    Interval range;
    std::vector<Linear> inequalities;
    std::vector<Case> cases;
  };

  bool prove(Linear goal);
  bool prove_with(const Linear& goal, const Linear& known, Symbol symbol);
  bool prove_cases(const Linear& goal, Symbol symbol);

  std::vector<Knowledge> symbols_;
  std::vector<Linear> facts_;
  int steps_left_ = 0;
};

}  // namespace intarsia::tir
