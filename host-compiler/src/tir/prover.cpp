#include "tir/prover.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace intarsia::tir {

namespace {

constexpr int kStepsPerGoal = 4000;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t saturated_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? kLeast : kMost;
}

// Bounds beyond 64 bits are unknown, and what is added to them stays unknown.
int64_t add_least(int64_t a, int64_t b) {
  return a == kLeast || b == kLeast ? kLeast : saturated_add(a, b);
}
int64_t add_most(int64_t a, int64_t b) {
  return a == kMost || b == kMost ? kMost : saturated_add(a, b);
}

int64_t saturated_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kMost : kLeast;
}

int64_t floor_div(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

// Divides by what all coefficients share; the constant is rounded down, as the sum is an integer.
void tighten(Linear& goal) {
  int64_t divisor = 0;
  for (const auto& [symbol, coefficient] : goal.terms) {
    if (coefficient == kLeast) return;
    divisor = std::gcd(divisor, coefficient);
  }
  if (divisor <= 1) return;
  for (auto& [symbol, coefficient] : goal.terms) coefficient /= divisor;
  goal.constant = floor_div(goal.constant, divisor);
}

}  // namespace

Symbol Prover::add_symbol(Interval range) {
  symbols_.push_back({range, {}, {}});
  return static_cast<Symbol>(symbols_.size()) - 1;
}

void Prover::add_inequality(const Linear& known) {
  if (known.is_constant()) return;
  symbols_[static_cast<size_t>(known.last_symbol())].inequalities.push_back(known);
}

void Prover::add_cases(Symbol symbol, std::vector<Case> cases) {
  symbols_[static_cast<size_t>(symbol)].cases = std::move(cases);
}

void Prover::assume(const Linear& fact) {
  facts_.push_back(fact);
}

Interval Prover::range_of(const Linear& e) const {
  Interval sum{e.constant, e.constant};
  for (const auto& [symbol, coefficient] : e.terms) {
    const Interval& range = symbols_[static_cast<size_t>(symbol)].range;
    const int64_t a = saturated_mul(coefficient, range.least);
    const int64_t b = saturated_mul(coefficient, range.most);
    sum.least = add_least(sum.least, std::min(a, b));
    sum.most = add_most(sum.most, std::max(a, b));
  }
  return sum;
}

bool Prover::is_within(const Linear& e, Interval range) {
  const Interval rough = range_of(e);
  if (range.least <= rough.least && rough.most <= range.most) return true;
  const auto above = plus(e, range.least == kLeast ? kMost : -range.least);
  const auto below = combine(-1, e, 1, Linear::of(range.most));
  return above && below && is_nonnegative(*above) && is_nonnegative(*below);
}

bool Prover::is_nonnegative(const Linear& goal) {
  steps_left_ = kStepsPerGoal;
  return prove(goal);
}

bool Prover::prove(Linear goal) {
  if (--steps_left_ < 0) return false;
  tighten(goal);
  if (range_of(goal).least >= 0) return true;
  for (const Linear& fact : facts_)
    if (fact.is_constant() && fact.constant < 0) return true;  // this place is never reached
  if (goal.is_constant()) return false;
  const Symbol symbol = goal.last_symbol();
  // Indices, not iterators: proving cases assumes facts, which moves the lists.
  for (size_t i = 0; i < facts_.size(); ++i) {
    const Linear fact = facts_[i];
    if (!fact.is_constant() && fact.last_symbol() == symbol && prove_with(goal, fact, symbol))
      return true;
  }
  for (const Linear& known : symbols_[static_cast<size_t>(symbol)].inequalities)
    if (prove_with(goal, known, symbol)) return true;
  const Interval& range = symbols_[static_cast<size_t>(symbol)].range;
  const int64_t end = goal.coefficient(symbol) > 0 ? range.least : range.most;
  if (end != kLeast && end != kMost) {
    Linear from_end = Linear::of_symbol(symbol);
    from_end.constant = -end;
    if (goal.coefficient(symbol) < 0) from_end = *times(from_end, -1);
    if (prove_with(goal, from_end, symbol)) return true;
  }
  return prove_cases(goal, symbol);
}

// With goal = a*s + ..., known = b*s + ... >= 0 and a, b of one sign: |b|*goal = |a|*known + rest,
// and `goal >= 0` follows from rest >= 0; from rest >= -(|b|-1) even, since goal is an integer.
bool Prover::prove_with(const Linear& goal, const Linear& known, Symbol symbol) {
  const int64_t a = goal.coefficient(symbol), b = known.coefficient(symbol);
  if (b == 0 || (a < 0) != (b < 0) || a == kLeast || b == kLeast) return false;
  const int64_t size_a = std::abs(a), size_b = std::abs(b);
  const int64_t common = std::gcd(size_a, size_b);
  const auto rest = combine(size_b / common, goal, -(size_a / common), known);
  if (!rest) return false;
  const auto with_slack = plus(*rest, size_b / common - 1);
  return with_slack && prove(*with_slack);
}

bool Prover::prove_cases(const Linear& goal, Symbol symbol) {
  const std::vector<Case>& cases = symbols_[static_cast<size_t>(symbol)].cases;
  if (cases.empty()) return false;
  const int64_t a = goal.coefficient(symbol);
  for (const Case& each : cases) {
    const auto difference = combine(1, each.value, -1, Linear::of_symbol(symbol));
    const auto replaced = difference ? combine(1, goal, a, *difference) : std::nullopt;
    if (!replaced) return false;
    const size_t before = facts_.size();
    for (const Linear& condition : each.conditions) assume(condition);
    const bool proven = prove(*replaced);
    drop_to(before);
    if (!proven) return false;
  }
  return true;
}

}  // namespace intarsia::tir
