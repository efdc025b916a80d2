// Sixteen sums side by side, one for each code that weights may have, in vector instructions of the
// machine that compiles. The searches for weight streams spend their time here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace intarsia::targets::ethos_u {

inline constexpr size_t kColumns = 16;

struct Columns {
  using Four [[gnu::vector_size(16)]] = int32_t;
  static constexpr size_t kFours = kColumns / 4;
  std::array<Four, kFours> fours;

  static Columns filled(int32_t value) {
    Columns result;
    for (Four& four : result.fours) four = Four{value, value, value, value};
    return result;
  }
  int32_t operator[](size_t c) const { return fours[c / 4][c % 4]; }
  void set(size_t c, int32_t value) { fours[c / 4][c % 4] = value; }

  Columns& operator+=(const Columns& other) {
    for (size_t i = 0; i < kFours; ++i) fours[i] += other.fours[i];
    return *this;
  }
  Columns& operator+=(int32_t value) {
    for (Four& four : fours) four += value;
    return *this;
  }
  int32_t least() const {
    const Four half = least_of(least_of(fours[0], fours[1]), least_of(fours[2], fours[3]));
    return std::min(std::min(half[0], half[1]), std::min(half[2], half[3]));
  }
  static Four least_of(const Four& a, const Four& b) { return a < b ? a : b; }
};

inline Columns least_of(const Columns& a, const Columns& b) {
  Columns result;
  for (size_t i = 0; i < Columns::kFours; ++i)
    result.fours[i] = Columns::least_of(a.fours[i], b.fours[i]);
  return result;
}

// Bit c: a is less than b in column c.
inline uint16_t less(const Columns& a, const Columns& b) {
  uint32_t bits = 0;
  for (size_t i = 0; i < Columns::kFours; ++i) {
    const Columns::Four weights = {1 << (4 * i), 2 << (4 * i), 4 << (4 * i), 8 << (4 * i)};
    const Columns::Four set = (a.fours[i] < b.fours[i]) & weights;
    bits |= static_cast<uint32_t>(set[0] | set[1] | set[2] | set[3]);
  }
  return static_cast<uint16_t>(bits);
}

// Costs that know their state: the least one of several says which it is, the first of equal ones.
inline constexpr int32_t kStateBits = 6;
inline constexpr int32_t state_cost(int32_t cost) {
  return cost * (1 << kStateBits);
}
inline constexpr int32_t state_of(int32_t cost) {
  return cost & ((1 << kStateBits) - 1);
}
inline constexpr int32_t without_state(int32_t cost) {
  return cost - state_of(cost);
}

}  // namespace intarsia::targets::ethos_u
