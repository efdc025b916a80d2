// The roundings of the Ethos-U85.
#pragma once

#include <cstdint>

#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

__extension__ typedef __int128 Int128;

// More than any result that is stored.
template <typename Wide>
constexpr int64_t saturated(Wide value) {
  constexpr int64_t kMost = int64_t{1} << 62;
  return value > kMost ? kMost : value < -kMost ? -kMost : static_cast<int64_t>(value);
}

// value / 2^shift, 0 <= shift <= 63. DoubleSymmetric rounds at bit `first` if the shift is larger, and then again; others
// round once.
template <typename Wide>
constexpr int64_t shift_round(Wide value, int32_t shift, Rounding rounding, int32_t first = 31) {
  if (shift == 0) return saturated<Wide>(value);
  const Wide one = 1;
  if (rounding == Rounding::DoubleSymmetric && shift > first) {
    // Halves up, then halves away from zero.
    const Wide high = first == 0 ? value : (value + (one << (first - 1))) >> first;
    const int32_t rest = shift - first;
    const Wide mask = (one << rest) - 1;
    const Wide threshold = (mask >> 1) + (high < 0 ? 1 : 0);
    return saturated<Wide>((high >> rest) + ((high & mask) > threshold ? 1 : 0));
  }
  if (rounding == Rounding::Down) return saturated<Wide>(value >> shift);
  if (rounding == Rounding::Symmetric && value < 0)  // halves away from zero
    return saturated<Wide>(-((-value + (one << (shift - 1))) >> shift));
  return saturated<Wide>((value + (one << (shift - 1))) >> shift);
}

// value * multiplier / 2^shift.
constexpr int64_t scale_round(int64_t value, const Scale& scale, Rounding rounding) {
  const int32_t first = 31 - scale.double_rounding;
  if (value >= INT32_MIN && value <= INT32_MAX && scale.shift < 62)  // 64 bits are enough
    return shift_round<int64_t>(value * int64_t{scale.multiplier}, scale.shift, rounding, first);
  return shift_round<Int128>(Int128{value} * scale.multiplier, scale.shift, rounding, first);
}
constexpr int64_t scale_round(int64_t value, const Scale& scale) {
  return scale_round(value, scale, scale.rounding);
}

// The roundings that streams show; of the others only the names are known.
constexpr bool is_known(Rounding rounding) {
  return rounding == Rounding::DoubleSymmetric || rounding == Rounding::Natural ||
         rounding == Rounding::Symmetric || rounding == Rounding::Down;
}

// Two's complement of fewer bits.
constexpr int64_t wrap(int64_t value, int32_t bits) {
  const int32_t unused = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

}  // namespace intarsia::simulators::ethos_u85
