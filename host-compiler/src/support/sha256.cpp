#include "support/sha256.h"

#include <array>
#include <bit>

#include <fmt/format.h>

namespace intarsia {
namespace {

constexpr size_t kBlock = 64;  // bytes that are mixed at a time

// The first 32 bits of the fractional part of a root of a prime, computed in integers: of sqrt (degree 2) or cbrt (3).
constexpr uint32_t root_fraction(uint64_t prime, int degree) {
  __extension__ typedef unsigned __int128 Wide;
  const Wide scaled = static_cast<Wide>(prime) << (32 * degree);
  Wide low = 0, high = Wide{1} << 36;  // the root is below 2^4 * 2^32
  while (high - low > 1) {
    const Wide middle = (low + high) / 2;
    Wide power = middle * middle;
    if (degree == 3) power *= middle;
    (power <= scaled ? low : high) = middle;
  }
  return static_cast<uint32_t>(low);
}

template <size_t kCount>
constexpr std::array<uint32_t, kCount> root_fractions(int degree) {
  std::array<uint32_t, kCount> fractions{};
  size_t found = 0;
  for (uint64_t candidate = 2; found < kCount; ++candidate) {
    bool prime = true;
    for (uint64_t divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor != 0;
    if (prime) fractions[found++] = root_fraction(candidate, degree);
  }
  return fractions;
}

using State = std::array<uint32_t, 8>;
constexpr State kInitial = root_fractions<8>(2);                     // section 5.3.3
constexpr std::array<uint32_t, 64> kRounds = root_fractions<64>(3);  // section 4.2.2

// Section 6.2.2.
void mix(State& state, std::span<const uint8_t> block) {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i)
    words[i] = static_cast<uint32_t>(block[4 * i] << 24 | block[4 * i + 1] << 16 |
                                     block[4 * i + 2] << 8 | block[4 * i + 3]);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

std::string sha256(std::span<const uint8_t> bytes) {
  State state = kInitial;
  const size_t whole = bytes.size() / kBlock * kBlock;
  for (size_t at = 0; at < whole; at += kBlock) mix(state, bytes.subspan(at, kBlock));
  // The rest, a one bit, zeros, and the length in bits.
  std::array<uint8_t, 2 * kBlock> tail{};
  const size_t rest = bytes.size() - whole;
  for (size_t i = 0; i < rest; ++i) tail[i] = bytes[whole + i];
  tail[rest] = 0x80;
  const size_t size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i)
    tail[size - 1 - i] = static_cast<uint8_t>(uint64_t{bytes.size()} * 8 >> (8 * i));
  for (size_t at = 0; at < size; at += kBlock) mix(state, std::span(tail).subspan(at, kBlock));
  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace intarsia
