#include "tir/linear.h"

namespace intarsia::tir {

namespace {

// p * a + q * b into `sum`; false on overflow.
bool combine_number(int64_t p, int64_t a, int64_t q, int64_t b, int64_t* sum) {
  int64_t left = 0, right = 0;
  return !__builtin_mul_overflow(p, a, &left) && !__builtin_mul_overflow(q, b, &right) &&
         !__builtin_add_overflow(left, right, sum);
}

}  // namespace

int64_t Linear::coefficient(Symbol symbol) const {
  for (const auto& [term, coefficient] : terms)
    if (term == symbol) return coefficient;
  return 0;
}

std::optional<Linear> combine(int64_t p, const Linear& a, int64_t q, const Linear& b) {
  Linear result;
  if (!combine_number(p, a.constant, q, b.constant, &result.constant)) return std::nullopt;
  auto left = a.terms.begin(), right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    const bool take_left =
        right == b.terms.end() || (left != a.terms.end() && left->first <= right->first);
    const bool take_right =
        left == a.terms.end() || (right != b.terms.end() && right->first <= left->first);
    const Symbol symbol = take_left ? left->first : right->first;
    int64_t coefficient = 0;
    if (!combine_number(p, take_left ? left->second : 0, q, take_right ? right->second : 0,
                        &coefficient))
      return std::nullopt;
    if (coefficient != 0) result.terms.emplace_back(symbol, coefficient);
    if (take_left) ++left;
    if (take_right) ++right;
  }
  return result;
}

std::optional<Linear> plus(const Linear& a, int64_t constant) {
  return combine(1, a, 1, Linear::of(constant));
}

std::optional<Linear> times(const Linear& a, int64_t factor) {
  return combine(factor, a, 0, Linear());
}

}  // namespace intarsia::tir
