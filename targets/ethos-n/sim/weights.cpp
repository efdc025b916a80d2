#include "intarsia/targets/ethos_n/weights.h"

#include <algorithm>
#include <bit>

namespace intarsia::simulators::ethos_n {
namespace {

constexpr uint32_t kNoZeroRuns = 7, kUncompressed = 7;
constexpr uint32_t kMaxSymbols = 0x1FFFF;

// 0, -1, 1, -2, 2 ... are the symbols 0, 1, 2, 3, 4.
int16_t weight_of(uint32_t symbol) {
  const auto magnitude = static_cast<int16_t>((symbol + 1) / 2);
  return symbol % 2 != 0 ? static_cast<int16_t>(-magnitude) : magnitude;
}

// A palette's entry: the sign above the magnitude.
int16_t weight_of_entry(uint32_t entry, uint32_t bits) {
  const auto magnitude = static_cast<int16_t>(entry & ((1u << (bits - 1)) - 1));
  return (entry >> (bits - 1) & 1) != 0 ? static_cast<int16_t>(-magnitude) : magnitude;
}

// Quotients in unary, over slots of which a chunk has a fixed number; a quotient may go on in the
// next chunk.
struct Unary {
  uint32_t quotient = 0;

  // Weights: a slot says 0, 1, or 2 and more to come.
  bool weight_slot(bool more_than_zero, bool more_than_one, bool truncated, uint32_t& value) {
    if (!more_than_zero) {
      value = quotient;
    } else if (!more_than_one) {
      value = quotient + 1;
    } else if (truncated) {
      value = quotient + 2;
    } else {
      quotient += 2;
      return false;
    }
    quotient = 0;
    return true;
  }
  bool zero_slot(bool one, uint32_t& value) {
    if (one) {
      ++quotient;
      return false;
    }
    value = quotient;
    quotient = 0;
    return true;
  }
};

}  // namespace

struct WeightReader::Symbols {
  std::vector<uint32_t> weights, zero_runs;
};

uint32_t WeightReader::bits(uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count;) {
    const uint32_t in_byte = static_cast<uint32_t>(bit_ % 8);
    const uint32_t taken = std::min(8 - in_byte, count - i);
    const uint32_t byte = sram_.read(bank_, address_ + bit_ / 8);
    value |= (byte >> in_byte & ((1u << taken) - 1)) << i;
    i += taken;
    bit_ += taken;
  }
  return value;
}

std::optional<std::string> WeightReader::payload_header(DecoderState& state, uint32_t& symbols) {
  symbols = bits(17);
  if (bits(1) == 0) {
    if (!state.has_compression) return "the first OFM has no compression parameters";
    return std::nullopt;
  }
  state.has_compression = true;
  state.zero_divisor = bits(3);
  state.weight_divisor = bits(3);
  state.truncated = bits(1) != 0;
  state.weight_offset = bits(5);
  if (bits(1) != 0) {
    const uint32_t size = bits(5);
    state.palette_bits = bits(3);
    state.palette.clear();
    // A size of zero: no palette; else one less than there are entries.
    for (uint32_t i = 0; size != 0 && i <= size; ++i)
      state.palette.push_back(
          weight_of_entry(bits(state.palette_bits + 2), state.palette_bits + 2));
  }
  if (state.zero_divisor > 3 && state.zero_divisor != kNoZeroRuns)
    return "a divisor of zero runs is " + std::to_string(state.zero_divisor);
  if (state.weight_divisor > 5 && state.weight_divisor != kUncompressed)
    return "a divisor of weights is " + std::to_string(state.weight_divisor);
  return std::nullopt;
}

// Golomb-Rice codes in chunks: the quotients of a chunk, then the remainders of the one before.
WeightReader::Symbols WeightReader::symbols(const DecoderState& state, uint32_t weight_divisor,
                                            uint32_t count) {
  const bool runs = state.zero_divisor != kNoZeroRuns;
  const bool coded = state.weight_divisor != kUncompressed;
  const uint32_t all = variant_.all_igs(), half = all / 2, three_quarters = 3 * all / 4;
  const uint32_t weight_slots = !coded && weight_divisor > 5 ? half : three_quarters;
  const uint32_t zero_slots = state.zero_divisor < 3 ? three_quarters : half;
  const uint32_t run_count = runs ? count + 1 : 0;

  Symbols done;
  std::vector<uint32_t>& weights = done.weights;  // quotients until their remainders come
  std::vector<uint32_t>& zeros = done.zero_runs;
  size_t weight_remainders = 0, zero_remainders = 0;  // read so far
  Unary weight_unary, zero_unary;
  bool more = true;
  while (more && !sram_.failure) {
    const int64_t balance =
        runs ? static_cast<int64_t>(weights.size()) - static_cast<int64_t>(zeros.size()) : 0;
    const bool weight_chunk = balance < half && weights.size() < count;
    const bool zero_chunk = runs && balance >= 0 && zeros.size() < run_count;
    const size_t weights_before = weights.size(), zeros_before = zeros.size();
    uint32_t value = 0;
    const uint32_t first = weight_chunk && coded ? bits(weight_slots) : 0;
    if (zero_chunk) {
      const uint32_t unary = bits(zero_slots);
      for (uint32_t j = 0; j < zero_slots && zeros.size() < run_count; ++j)
        if (zero_unary.zero_slot((unary >> j & 1) != 0, value)) zeros.push_back(value);
    }
    if (weight_chunk && coded) {
      const uint32_t second = bits(static_cast<uint32_t>(std::popcount(first)));
      for (uint32_t j = 0, used = 0; j < weight_slots && weights.size() < count; ++j) {
        const bool above_zero = (first >> j & 1) != 0;
        const bool above_one = above_zero && (second >> used & 1) != 0;
        used += above_zero ? 1 : 0;
        if (weight_unary.weight_slot(above_zero, above_one, state.truncated, value))
          weights.push_back(value);
      }
    } else if (weight_chunk) {
      for (uint32_t j = 0; j < weight_slots && weights.size() < count; ++j) weights.push_back(0);
    }
    for (; weight_remainders < weights_before; ++weight_remainders)
      weights[weight_remainders] =
          weights[weight_remainders] << weight_divisor | bits(weight_divisor);
    for (; zero_remainders < zeros_before; ++zero_remainders)
      zeros[zero_remainders] =
          zeros[zero_remainders] << state.zero_divisor | bits(state.zero_divisor);
    more = weight_chunk || zero_chunk;
  }
  return done;
}

std::optional<std::string> WeightReader::next(DecoderState& state, OfmWeights& ofm) {
  bits(16);  // the length, for the hardware's fetcher
  ofm.bias = static_cast<int32_t>(bits(32));
  if (bits(1) != 0) {
    state.has_scale = true;
    state.scale = bits(16);
    state.shift = bits(6);
    state.zero_point = bits(8);
  } else if (!state.has_scale) {
    return "the first OFM has no scale";
  }
  ofm.scale = state.scale;
  ofm.shift = state.shift;
  ofm.zero_point = state.zero_point;
  uint32_t count = 0;
  if (auto failure = payload_header(state, count)) return failure;

  uint32_t divisor = state.weight_divisor;
  if (divisor == kUncompressed)
    divisor = state.palette.empty()
                  ? state.palette_bits + 2
                  : static_cast<uint32_t>(std::bit_width(state.palette.size() - 1));
  const Symbols found = symbols(state, divisor, count);
  if (sram_.failure) return "it goes on beyond the end of SRAM";

  ofm.weights.clear();
  const auto palette_size = static_cast<uint32_t>(state.palette.size());
  for (uint32_t i = 0; i <= count; ++i) {
    if (i < found.zero_runs.size()) {
      if (ofm.weights.size() + found.zero_runs[i] > kMaxSymbols)
        return "an OFM has more weights than a stream can hold";
      ofm.weights.insert(ofm.weights.end(), found.zero_runs[i], int16_t{0});
    }
    if (i == count) break;
    const uint32_t symbol = found.weights[i];
    ofm.weights.push_back(symbol < palette_size
                              ? state.palette[symbol]
                              : weight_of(symbol - palette_size + state.weight_offset));
  }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_n
