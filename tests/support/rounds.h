// How much of a sweep over random cases a build runs.
#pragma once

#include <algorithm>

namespace intarsia::testing {

/// `count`, the rounds of a sweep; under AddressSanitizer a quarter of them, at least one. There every round takes five to
/// ten times as long, and what is looked for (memory misused on a way through the code) shows on far fewer rounds than
/// wrong values do, which the same sweep looks for in full without the sanitizer.
constexpr int rounds(int count) {
#ifdef __SANITIZE_ADDRESS__
  return std::max(count / 4, 1);
#else
  return count;
#endif
}

}  // namespace intarsia::testing
