// The lanes of the PLE: 8 and 16 bits, 16 bits wrap around unless an instruction saturates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace intarsia::simulators::ethos_n {

inline int32_t extend(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : byte;
}

inline uint8_t saturate8(int32_t value, bool is_signed) {
  return static_cast<uint8_t>(is_signed ? std::clamp(value, -128, 127) : std::clamp(value, 0, 255));
}

inline int16_t wrap16(int32_t value) {
  return static_cast<int16_t>(static_cast<uint16_t>(value));
}

// A rescale that rounds half up: shift - 1 places with saturation to 16 bits, add 1, one place
// more.
inline int32_t rescale(int32_t value, int32_t zero_point, uint32_t multiplier, uint32_t shift) {
  const int64_t product = int64_t{wrap16(value - zero_point)} * multiplier;
  const uint32_t places = (shift - 1) & 31;  // five bits of the shift instruction
  const int64_t shifted = std::clamp<int64_t>(product >> places, INT16_MIN, INT16_MAX);
  return wrap16(static_cast<int32_t>(shifted) + 1) >> 1;
}

// 1 / (1 + 2^-y) in 1/256, of y = |value - zero point| * multiplier >> shift in 1/256; the other
// half by symmetry. How the exponential and the reciprocal round is not known: this rounds each of
// them to nearest.
inline uint8_t sigmoid(int32_t value, int32_t zero_point, uint32_t multiplier, uint32_t shift,
                       bool is_signed) {
  const int32_t centred = wrap16(value - zero_point);
  const auto magnitude = static_cast<uint16_t>(centred < 0 ? -centred : centred);
  const uint64_t exponent =
      std::min<uint64_t>((uint64_t{magnitude} * multiplier) >> (shift & 31), 0xFFFF);
  const double power = std::exp2(-static_cast<double>(exponent) / 256);
  auto result = static_cast<int32_t>(std::lround(256.0 / (1.0 + std::lround(power * 256) / 256.0)));
  if (result == 256) result = 255;
  if (centred < 0) result = 256 - result;
  if (result == 256) result = 255;
  return static_cast<uint8_t>(is_signed ? result - 128 : result);
}

}  // namespace intarsia::simulators::ethos_n
