// Sums of integer multiples of symbols plus a constant, exact or refused: nothing here overflows
// unnoticed.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace intarsia::tir {

using Symbol = int;  // in order of creation: a symbol is defined by symbols before it

struct Linear {
  std::vector<std::pair<Symbol, int64_t>> terms;  // ascending symbols, no zero coefficients
  int64_t constant = 0;

  static Linear of(int64_t constant) { return {{}, constant}; }
  static Linear of_symbol(Symbol symbol) { return {{{symbol, 1}}, 0}; }

  bool is_constant() const { return terms.empty(); }
  Symbol last_symbol() const { return terms.back().first; }  // not of a constant
  int64_t coefficient(Symbol symbol) const;
  auto operator<=>(const Linear&) const = default;
};

// p * a + q * b; nothing when a number leaves 64 bits.
std::optional<Linear> combine(int64_t p, const Linear& a, int64_t q, const Linear& b);
std::optional<Linear> plus(const Linear& a, int64_t constant);
std::optional<Linear> times(const Linear& a, int64_t factor);

}  // namespace intarsia::tir
