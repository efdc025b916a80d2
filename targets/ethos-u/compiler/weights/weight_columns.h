// Sixteen sums side by side, one for each code that weights may have, in vector instructions of the
// machine that compiles. The searches for weight streams spend their time here.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace intarsia::targets::ethos_u {

inline constexpr size_t kColumns = 16;

// Sums of 16 bits. They hold what a block of values costs, counted from the least of all states: see kImpossible.
struct Columns {
  using Eight [[gnu::vector_size(16)]] = int16_t;
  static constexpr size_t kLanes = 8;
  std::array<Eight, kColumns / kLanes> eights;

  static Eight eight(int16_t value) { return Eight{} + value; }
  static Columns filled(int32_t value) {
    const Eight all = eight(static_cast<int16_t>(value));
    return {{all, all}};
  }
  int32_t operator[](size_t c) const { return eights[c / kLanes][c % kLanes]; }
  void set(size_t c, int32_t value) {
    eights[c / kLanes][c % kLanes] = static_cast<int16_t>(value);
  }

  Columns& operator+=(const Columns& other) {
    for (size_t i = 0; i < eights.size(); ++i) eights[i] += other.eights[i];
    return *this;
  }
  Columns& operator+=(int32_t value) {
    for (Eight& part : eights) part += static_cast<int16_t>(value);
    return *this;
  }
  static Eight least_of(const Eight& a, const Eight& b) { return a < b ? a : b; }
  int32_t least() const {
    Eight all = least_of(eights[0], eights[1]);
    all = least_of(all, __builtin_shufflevector(all, all, 4, 5, 6, 7, 0, 1, 2, 3));
    all = least_of(all, __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5));
    return std::min(all[0], all[1]);
  }
};

inline Columns least_of(const Columns& a, const Columns& b) {
  Columns result;
  for (size_t i = 0; i < result.eights.size(); ++i)
    result.eights[i] = Columns::least_of(a.eights[i], b.eights[i]);
  return result;
}

// Bit c: lane c, which is 0 or -1, is set.
inline uint16_t bits_of_lanes(const std::array<Columns::Eight, 2>& lanes) {
#if defined(__SSE2__)
  return static_cast<uint16_t>(_mm_movemask_epi8(
      _mm_packs_epi16(std::bit_cast<__m128i>(lanes[0]), std::bit_cast<__m128i>(lanes[1]))));
#else
  uint32_t bits = 0;
  for (size_t c = 0; c < kColumns; ++c)
    bits |= static_cast<uint32_t>(lanes[c / Columns::kLanes][c % Columns::kLanes] & 1) << c;
  return static_cast<uint16_t>(bits);
#endif
}

// Bit c: a is less than b in column c.
inline uint16_t less(const Columns& a, const Columns& b) {
  return bits_of_lanes({a.eights[0] < b.eights[0], a.eights[1] < b.eights[1]});
}

// The first column that has the value.
inline size_t column_with(const Columns& a, int32_t value) {
  const Columns::Eight all = Columns::eight(static_cast<int16_t>(value));
  return static_cast<size_t>(
      std::countr_zero(bits_of_lanes({a.eights[0] == all, a.eights[1] == all})));
}

// Which columns cannot be: bit c of `columns`.
inline Columns where_impossible(const Columns& otherwise, uint16_t columns, int32_t impossible) {
  const Columns::Eight all = Columns::eight(static_cast<int16_t>(columns & 0xFF)),
                       upper = Columns::eight(static_cast<int16_t>(columns >> 8)),
                       bit = {1, 2, 4, 8, 16, 32, 64, 128},
                       never = Columns::eight(static_cast<int16_t>(impossible));
  return {{(all & bit) != 0 ? never : otherwise.eights[0],
           (upper & bit) != 0 ? never : otherwise.eights[1]}};
}

// A block has 512 values of 37 bits at most, and costs less than what cannot be. Costs of a state are counted from the least
// one; a state is above that by a change of palette and slice at most, before the bits of a block and of its runs of zeros
// are added. All of them together stay below 2^15. A column without a code starts with more than any change, and cannot be.
inline constexpr int32_t kImpossible = 20'000, kMostBlockValues = 512, kMostRunBits = 8'000,
                         kMostChangeBits = 4'000, kNoCode = 2'000;

// Bits that stand for the columns from the given one on.
inline uint16_t columns_from(size_t first) {
  return static_cast<uint16_t>(0xFFFF << first);
}

static_assert(kMostBlockValues * 37 < kImpossible);
static_assert(kImpossible + kMostRunBits + kMostChangeBits < 1 << 15);

}  // namespace intarsia::targets::ethos_u
