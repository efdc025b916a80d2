// Sixteen sums side by side, one for each code that weights may have, in vector instructions of the
// machine that compiles. The searches for weight streams spend their time here.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

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
  Columns& operator+=(const Eight& each) {
    for (Eight& part : eights) part += each;
    return *this;
  }
  Columns& operator-=(const Eight& each) {
    for (Eight& part : eights) part -= each;
    return *this;
  }
  // What does not fit its 16 bits is the most that does.
  void add_saturated(const Columns& other) {
    for (size_t i = 0; i < eights.size(); ++i) eights[i] = saturated(eights[i], other.eights[i]);
  }
  static Eight least_of(const Eight& a, const Eight& b) { return a < b ? a : b; }
  // Eight times the least of all: it stays where vectors are, for each costs what the next one starts from.
  Eight least() const {
    Eight all = least_of(eights[0], eights[1]);
    all = least_of(all, __builtin_shufflevector(all, all, 4, 5, 6, 7, 0, 1, 2, 3));
    all = least_of(all, __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5));
    return least_of(all, __builtin_shufflevector(all, all, 1, 0, 3, 2, 5, 4, 7, 6));
  }

 private:
  // Of numbers that are not negative.
  static Eight saturated(const Eight& a, const Eight& b) {
#if defined(__SSE2__)
    return std::bit_cast<Eight>(
        _mm_adds_epi16(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
    const Eight sum = a + b;
    return sum < 0 ? eight(std::numeric_limits<int16_t>::max()) : sum;
#endif
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

// Bit c: column c has the value.
inline uint16_t equal(const Columns& a, const Columns::Eight& value) {
  return bits_of_lanes({a.eights[0] == value, a.eights[1] == value});
}

// A block has 512 values of 37 bits at most, and costs less than what cannot be. Costs of a state are counted from the least
// one; a state is above that by a change of palette and slice at most, before the bits of a block and of its runs of zeros
// are added. All of them together stay below 2^15. A column without a code starts with more than any change, and cannot be.
inline constexpr int32_t kImpossible = 20'000, kMostBlockValues = 512, kMostRunBits = 8'000,
                         kMostChangeBits = 4'000, kNoCode = 2'000;

// Sums of what values cost, among which there is one that cannot be, are kImpossible.
inline Columns within_possible(const Columns& sums) {
  return least_of(sums, Columns::filled(kImpossible));
}

static_assert(kMostBlockValues * 37 < kImpossible);
static_assert(kImpossible + kMostRunBits + kMostChangeBits < 1 << 15);

}  // namespace intarsia::targets::ethos_u
