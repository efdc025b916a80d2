// Ways to code a section of a weight stream, which is what lies between two palettes: from its statistics.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "weights/weight_slice.h"

namespace intarsia::targets::ethos_u {

inline constexpr int32_t kSymbols = 512, kMostWeight = 255;
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

inline uint16_t symbol_of(int32_t weight) {
  return static_cast<uint16_t>(2 * std::abs(weight) + (weight < 0));
}
// Bits that the numbers up to `most` need.
int32_t bits_for(int32_t most);

// Everything that the size of a section depends on.
struct Statistics {
  std::array<int32_t, kSymbols> count = {};
  int64_t total = 0;
  std::array<int64_t, kZeroDivisors> zero_unary = {};  // of the runs in front of non-zero weights
  int64_t tail = 0;                                    // zeros after the last of them

  int64_t non_zero() const { return total - count[0]; }
  void add(const Statistics& other) {
    for (size_t i = 0; i < count.size(); ++i) count[i] += other.count[i];
    for (size_t i = 0; i < zero_unary.size(); ++i) zero_unary[i] += other.zero_unary[i];
    total += other.total;
    tail += other.tail;
  }
};

// Counts the bits of unary parts that weights and the runs of zeros between them have, for all divisors at once.
class RunCounter {
 public:
  static constexpr size_t kMost = 1 << 15;  // weights between two calls of `take`

  void add(int16_t weight) {
    run_ = weight == 0 ? (run_ + 1) % kRuns : 0;
    counts_ += kCounts[run_];
  }
  // A weight has one, a zero where the run that it ends is a multiple of the divisor.
  template <class Number>
  void take(std::array<Number, kZeroDivisors>& counts) {
    for (size_t z = 0; z < counts.size(); ++z)
      counts[z] += static_cast<Number>(counts_ >> (kBits * z) & ((1 << kBits) - 1));
    counts_ = 0;
  }

 private:
  static constexpr size_t kRuns = size_t{1} << (kZeroDivisors - 1), kBits = 64 / kZeroDivisors;
  // What is added to the numbers of all divisors, which lie side by side, by the run's remainder.
  static constexpr std::array<uint64_t, kRuns> kCounts = [] {
    std::array<uint64_t, kRuns> counts = {};
    for (size_t run = 0; run < kRuns; ++run)
      for (size_t z = 0; z < kZeroDivisors; ++z)
        if (run % (size_t{1} << z) == 0) counts[run] |= uint64_t{1} << (kBits * z);
    return counts;
  }();

  size_t run_ = 0;
  uint64_t counts_ = 0;
};

Statistics statistics_of(std::span<const int16_t> weights);

// Of a stream, and of each of some parts of equal length, none where it is short.
struct StreamStatistics {
  Statistics whole;
  std::vector<Statistics> parts;
};
StreamStatistics statistics_with_parts(std::span<const int16_t> weights);

// A way to code a section in one slice, and its size.
struct Choice {
  int64_t bits = kNever;
  bool zero_runs = false;
  Palette palette;
  WeightCode code;
  int32_t zero_divisor = 0;
  int32_t most = 0;  // index that occurs
};

// The smallest way. `thorough` tries all sizes of the palette.
Choice choose(const Statistics& statistics, bool thorough);
// The smallest with and without runs of zeros, with no palette, one for all symbols, and one for some;
// those that are much larger than the smallest left out.
std::vector<Choice> choose_each(const Statistics& statistics, bool thorough);

// Indices of all symbols under the palette; negative where there is none.
std::array<int32_t, kSymbols> indices_under(const Palette& palette);
// Every code that takes the indices up to `most`, with its parameter: first those that do not depend on the palette.
std::vector<WeightCode> common_codes();
std::vector<WeightCode> codes_for(const Palette& palette, int32_t most);
// What a slice costs beside its values: its header, and half a unary field left empty in each of its parts.
int64_t slice_bits(const WeightCode& code, bool zero_runs);
// Bits of one index, in the unary and remainder parts together.
int32_t bits_of(const WeightCode& code, int32_t index);

}  // namespace intarsia::targets::ethos_u
