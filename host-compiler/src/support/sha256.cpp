#include "support/sha256.h"

#include <array>
#include <bit>
#include <iterator>

#include <fmt/format.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define INTARSIA_HAS_SHA_INSTRUCTIONS 1
#endif

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

void mix_all(State& state, std::span<const uint8_t> blocks) {
  for (size_t at = 0; at < blocks.size(); at += kBlock) mix(state, blocks.subspan(at, kBlock));
}

#ifdef INTARSIA_HAS_SHA_INSTRUCTIONS

// The same by the instructions that processors have for it, in a tenth of the time: files of weights have tens of megabytes.
// They keep the state as a, b, e, f and c, d, g, h, the first in the highest place, and do two rounds each.
[[gnu::target("sha,sse4.1")]] void mix_by_instructions(State& state,
                                                       std::span<const uint8_t> blocks) {
  const auto four = [](uint32_t highest, uint32_t second, uint32_t third, uint32_t lowest) {
    return _mm_set_epi32(static_cast<int>(highest), static_cast<int>(second),
                         static_cast<int>(third), static_cast<int>(lowest));
  };
  const __m128i big_endian = four(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
  // Words of two vectors that lie across both: by tables, as where nothing is optimised GCC takes no constant for the
  // instructions that shift by one, once fmt's headers have been read. Bytes that a table has as 0x80 are 0.
  const __m128i last_three = four(0x80808080, 0x0f0e0d0c, 0x0b0a0908, 0x07060504),
                first_last = four(0x03020100, 0x80808080, 0x80808080, 0x80808080);
  __m128i abef = four(state[0], state[1], state[4], state[5]),
          cdgh = four(state[2], state[3], state[6], state[7]);
  for (size_t at = 0; at < blocks.size(); at += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[16];  // four in each
    for (size_t i = 0; i < std::size(words); ++i) {
      if (i < 4) {
        const uint8_t* const from = blocks.data() + at + 16 * i;
        words[i] =
            _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), big_endian);
      } else {
        const __m128i seven_back = _mm_or_si128(_mm_shuffle_epi8(words[i - 2], last_three),
                                                _mm_shuffle_epi8(words[i - 1], first_last));
        words[i] = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(words[i - 4], words[i - 3]), seven_back),
            words[i - 1]);
      }
      const uint32_t* const rounds = kRounds.data() + 4 * i;
      const __m128i sum =
          _mm_add_epi32(words[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(rounds)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_unpackhi_epi64(sum, sum));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  std::array<uint32_t, 4> high, low;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(high.data()), abef);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low.data()), cdgh);
  state = {high[3], high[2], low[3], low[2], high[1], high[0], low[1], low[0]};
}

bool has_sha_instructions() {
  static const bool has = [] {
    constexpr unsigned kSha = 1u << 29, kSse41 = 1u << 19, kSsse3 = 1u << 9;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSse41) == 0 || (c & kSsse3) == 0) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
  }();
  return has;
}

#endif

using Mixer = void (*)(State&, std::span<const uint8_t>);

Mixer fastest_mixer() {
#ifdef INTARSIA_HAS_SHA_INSTRUCTIONS
  if (has_sha_instructions()) return mix_by_instructions;
#endif
  return mix_all;
}

std::string hash(std::span<const uint8_t> bytes, Mixer mixer) {
  State state = kInitial;
  const size_t whole = bytes.size() / kBlock * kBlock;
  mixer(state, bytes.first(whole));
  // The rest, a one bit, zeros, and the length in bits.
  std::array<uint8_t, 2 * kBlock> tail{};
  const size_t rest = bytes.size() - whole;
  for (size_t i = 0; i < rest; ++i) tail[i] = bytes[whole + i];
  tail[rest] = 0x80;
  const size_t size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i)
    tail[size - 1 - i] = static_cast<uint8_t>(uint64_t{bytes.size()} * 8 >> (8 * i));
  mixer(state, std::span(tail).first(size));
  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace

std::string sha256(std::span<const uint8_t> bytes) {
  return hash(bytes, fastest_mixer());
}

std::string sha256_in_plain_code(std::span<const uint8_t> bytes) {
  return hash(bytes, mix_all);
}

}  // namespace intarsia
