// The rounding of the output stage.
#pragma once

#include <cstdint>

#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

__extension__ typedef __int128 Int128;

// value / 2^shift, 0 <= shift <= 63.
template <typename Wide>
constexpr int64_t shift_round(Wide value, int32_t shift, Rounding rounding) {
  if (shift == 0) return static_cast<int64_t>(value);
  const Wide one = 1;
  switch (rounding) {
    case Rounding::Natural:
      return static_cast<int64_t>((value + (one << (shift - 1))) >> shift);
    case Rounding::Truncate:
      return static_cast<int64_t>(value < 0 ? -(-value >> shift) : value >> shift);
    case Rounding::Tfl:
      break;
  }
  if (shift <= 31) return static_cast<int64_t>((value + (one << (shift - 1))) >> shift);
  // gemmlowp: a doubling high multiplication, halves up, and then a division by a power of two,
  // halves away from zero.
  const Wide high = (value + (one << 30)) >> 31;
  const int32_t rest = shift - 31;
  const Wide mask = (one << rest) - 1;
  const Wide threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return static_cast<int64_t>((high >> rest) + ((high & mask) > threshold ? 1 : 0));
}

// value * multiplier / 2^shift.
constexpr int64_t scale_round(int64_t value, const Scale& scale, Rounding rounding) {
  // 64 bits are enough for 32-bit values.
  if (value >= INT32_MIN && value <= INT32_MAX && scale.multiplier <= INT32_MAX && scale.shift < 62)
    return shift_round<int64_t>(value * int64_t{scale.multiplier}, scale.shift, rounding);
  return shift_round<Int128>(Int128{value} * scale.multiplier, scale.shift, rounding);
}

// Two's complement of fewer bits.
constexpr int32_t wrap32(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}
constexpr int64_t wrap40(int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) << 24) >> 24;
}

}  // namespace intarsia::simulators::ethos_u
