#include "weights/weight_stream.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

namespace intarsia::targets::ethos_n {
namespace {

constexpr uint32_t kLengthBits = 16, kSymbolCountBits = 17;
constexpr size_t kMostSymbols = (size_t{1} << kSymbolCountBits) - 1;
constexpr size_t kMostInPalette = 32;
constexpr uint32_t kMostOffset = 31, kMostPaletteBits = 7;

// 0, -1, 1, -2, 2 ... are 0, 1, 2, 3, 4.
uint32_t symbol_of(int16_t weight) {
  return 2 * static_cast<uint32_t>(std::abs(weight)) - (weight < 0 ? 1 : 0);
}

uint32_t entry_of(int16_t weight, uint32_t bits) {
  return static_cast<uint32_t>(std::abs(weight)) | (weight < 0 ? 1u << (bits - 1) : 0);
}

uint32_t index_bits(const WeightCoding& coding) {
  if (coding.palette.empty()) return coding.palette_bits + 2;
  return static_cast<uint32_t>(std::bit_width(coding.palette.size() - 1));
}

uint32_t coded(const WeightCoding& coding, int16_t weight) {
  const auto found = std::find(coding.palette.begin(), coding.palette.end(), weight);
  if (found != coding.palette.end()) return static_cast<uint32_t>(found - coding.palette.begin());
  return symbol_of(weight) + static_cast<uint32_t>(coding.palette.size()) - coding.weight_offset;
}

// Slots of a weight chunk say 0, 1, or 2 and more to come: one bit, two, two.
uint64_t quotient_bits(uint32_t quotient) {
  return uint64_t{quotient} + 1;
}

uint32_t bits_of_entries(const std::vector<int16_t>& palette) {
  int largest = 1;
  for (const int16_t weight : palette) largest = std::max(largest, std::abs(int{weight}));
  return std::max<uint32_t>(
      2, static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(largest))) + 1);
}

using Histogram = std::map<int16_t, uint64_t>;

uint64_t cost(const WeightCoding& coding, const Histogram& histogram) {
  uint64_t bits = 0;
  for (const auto& [weight, count] : histogram) {
    if (weight == 0 && coding.zero_divisor != WeightCoding::kNone) continue;
    const uint32_t symbol = coded(coding, weight);
    bits += count * (coding.weight_divisor == WeightCoding::kNone
                         ? index_bits(coding)
                         : quotient_bits(symbol >> coding.weight_divisor) + coding.weight_divisor);
  }
  return bits;
}

// Bits of the run lengths before, between and behind the weights that are not zero.
uint64_t run_cost(std::span<const int16_t> weights, uint32_t divisor) {
  uint64_t bits = 0;
  uint32_t run = 0;
  const auto end_run = [&] {
    bits += (run >> divisor) + 1 + divisor;
    run = 0;
  };
  for (const int16_t weight : weights) {
    if (weight == 0)
      ++run;
    else
      end_run();
  }
  end_run();
  return bits;
}

}  // namespace

void BitWriter::put(uint64_t value, uint32_t bits) {
  for (uint32_t i = 0; i < bits; ++i, ++size_) {
    if (size_ % 8 == 0) bytes_.push_back(0);
    bytes_.back() = static_cast<uint8_t>(bytes_.back() | ((value >> i & 1) << (size_ % 8)));
  }
}

WeightCoding choose_coding(const Variant&, std::span<const int16_t> weights) {
  Histogram all;
  for (const int16_t weight : weights) ++all[weight];
  Histogram nonzero = all;
  nonzero.erase(0);
  WeightCoding best;
  uint64_t fewest = UINT64_MAX;
  for (uint32_t zero_divisor : {WeightCoding::kNone, 0u, 1u, 2u, 3u}) {
    const bool runs = zero_divisor != WeightCoding::kNone;
    const Histogram& histogram = runs ? nonzero : all;
    const uint64_t zeros = runs ? run_cost(weights, zero_divisor) : 0;
    // Without a palette, and with all values in one by how often they come.
    WeightCoding plain;
    plain.zero_divisor = zero_divisor;
    uint32_t smallest = UINT32_MAX, largest = 1;
    for (const auto& [weight, count] : histogram) {
      smallest = std::min(smallest, symbol_of(weight));
      largest = std::max(largest, symbol_of(weight));
    }
    plain.weight_offset = histogram.empty() ? 0 : std::min(smallest, kMostOffset);
    plain.palette_bits =
        std::max<uint32_t>(2,
                           static_cast<uint32_t>(std::bit_width(largest - plain.weight_offset))) -
        2;
    std::vector<WeightCoding> candidates = {plain};
    if (histogram.size() >= 2 && histogram.size() <= kMostInPalette) {
      WeightCoding palette = plain;
      palette.weight_offset = 0;
      std::vector<std::pair<uint64_t, int16_t>> order;
      for (const auto& [weight, count] : histogram) order.emplace_back(count, weight);
      std::stable_sort(order.begin(), order.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      for (const auto& [count, weight] : order) palette.palette.push_back(weight);
      palette.palette_bits = bits_of_entries(palette.palette) - 2;
      candidates.push_back(palette);
    }
    for (WeightCoding& candidate : candidates) {
      if (candidate.palette_bits > kMostPaletteBits) continue;
      for (uint32_t divisor : {WeightCoding::kNone, 0u, 1u, 2u, 3u, 4u, 5u}) {
        candidate.weight_divisor = divisor;
        const uint64_t bits = zeros + cost(candidate, histogram);
        if (bits >= fewest) continue;
        fewest = bits;
        best = candidate;
      }
    }
  }
  return best;
}

void OgWriter::add(const OfmStream& ofm) {
  // The next OFM begins where this one ends, so that they share a word of 16 bytes.
  const uint64_t begin = bits_.size();
  bits_.put(0, kLengthBits);
  bits_.put(static_cast<uint32_t>(ofm.bias), 32);
  const bool same = !is_first_ && scale_.scale == ofm.scale.scale &&
                    scale_.shift == ofm.scale.shift && zero_point_ == ofm.zero_point;
  bits_.put(same ? 0 : 1, 1);
  if (!same) {
    bits_.put(ofm.scale.scale, 16);
    bits_.put(ofm.scale.shift, 6);
    bits_.put(static_cast<uint8_t>(ofm.zero_point), 8);
  }
  scale_ = ofm.scale;
  zero_point_ = ofm.zero_point;
  const bool runs = coding_.zero_divisor != WeightCoding::kNone;
  const auto zeros = runs ? std::count(ofm.weights.begin(), ofm.weights.end(), 0) : 0;
  put_payload_header(ofm.weights.size() - static_cast<size_t>(zeros), is_first_);
  is_first_ = false;
  put_symbols(ofm.weights);
  const uint64_t words = (bits_.size() - 1) / 128 - begin / 128 + 1;
  INTARSIA_CHECK(words >> kLengthBits == 0,
                 "an OFM's stream has fewer than 65536 words of 16 bytes");
  for (uint32_t i = 0; i < kLengthBits; ++i) {
    uint8_t& byte = bits_.bytes()[(begin + i) / 8];
    byte = static_cast<uint8_t>(byte | ((words >> i & 1) << ((begin + i) % 8)));
  }
}

void OgWriter::put_payload_header(size_t symbols, bool first) {
  INTARSIA_CHECK(symbols <= kMostSymbols, "an OFM has at most 131071 weights");
  bits_.put(symbols, kSymbolCountBits);
  bits_.put(first ? 1 : 0, 1);
  if (!first) return;
  bits_.put(coding_.zero_divisor, 3);
  bits_.put(coding_.weight_divisor, 3);
  bits_.put(0, 1);  // quotients are not truncated
  bits_.put(coding_.weight_offset, 5);
  bits_.put(1, 1);  // the palette follows, or that there is none
  bits_.put(coding_.palette.empty() ? 0 : coding_.palette.size() - 1, 5);
  bits_.put(coding_.palette_bits, 3);
  for (const int16_t weight : coding_.palette)
    bits_.put(entry_of(weight, coding_.palette_bits + 2), coding_.palette_bits + 2);
}

// In chunks: the quotients of as many symbols as fit into a chunk's slots, for weights and for runs of
// zeros in turn, then the remainders of the chunk before. A quotient may go on in the next chunk.
void OgWriter::put_symbols(std::span<const int16_t> weights) {
  const bool runs = coding_.zero_divisor != WeightCoding::kNone;
  const bool golomb = coding_.weight_divisor != WeightCoding::kNone;
  std::vector<uint32_t> symbols, zeros;
  uint32_t run = 0;
  for (const int16_t weight : weights) {
    if (runs && weight == 0) {
      ++run;
      continue;
    }
    symbols.push_back(coded(coding_, weight));
    if (runs) zeros.push_back(run);
    run = 0;
  }
  if (runs) zeros.push_back(run);

  const auto half = static_cast<size_t>(variant_.all_igs() / 2);
  const auto three_quarters = static_cast<size_t>(3 * variant_.all_igs() / 4);
  const uint32_t width = golomb ? coding_.weight_divisor : index_bits(coding_);
  const size_t weight_slots = !golomb && width > 5 ? half : three_quarters;
  const size_t zero_slots = coding_.zero_divisor < 3 ? three_quarters : half;
  size_t weight_at = 0, zero_at = 0;                  // quotients that are complete
  size_t weight_remainders = 0, zero_remainders = 0;  // written so far
  uint32_t weight_part = 0, zero_part = 0;            // of the quotient that is not complete
  for (bool more = true; more;) {
    const int64_t balance =
        runs ? static_cast<int64_t>(weight_at) - static_cast<int64_t>(zero_at) : 0;
    const bool weight_chunk = balance < static_cast<int64_t>(half) && weight_at < symbols.size();
    const bool zero_chunk = runs && balance >= 0 && zero_at < zeros.size();
    const size_t weights_before = weight_at, zeros_before = zero_at;
    uint64_t first = 0, second = 0;
    uint32_t seconds = 0;
    if (weight_chunk && golomb) {
      for (size_t slot = 0; slot < weight_slots && weight_at < symbols.size(); ++slot) {
        const uint32_t left = (symbols[weight_at] >> width) - weight_part;
        if (left > 0) {
          first |= uint64_t{1} << slot;
          second |= uint64_t{left > 1} << seconds++;
        }
        weight_part = left > 1 ? weight_part + 2 : 0;
        if (left <= 1) ++weight_at;
      }
      bits_.put(first, static_cast<uint32_t>(weight_slots));
    }
    if (zero_chunk) {
      uint64_t unary = 0;
      for (size_t slot = 0; slot < zero_slots && zero_at < zeros.size(); ++slot) {
        const bool goes_on = zeros[zero_at] >> coding_.zero_divisor > zero_part;
        unary |= uint64_t{goes_on} << slot;
        zero_part = goes_on ? zero_part + 1 : 0;
        if (!goes_on) ++zero_at;
      }
      bits_.put(unary, static_cast<uint32_t>(zero_slots));
    }
    if (weight_chunk && golomb) bits_.put(second, seconds);
    if (weight_chunk && !golomb) weight_at = std::min(symbols.size(), weight_at + weight_slots);
    for (; weight_remainders < weights_before; ++weight_remainders)
      bits_.put(symbols[weight_remainders] & ((1u << width) - 1), width);
    for (; zero_remainders < zeros_before; ++zero_remainders)
      bits_.put(zeros[zero_remainders] & ((1u << coding_.zero_divisor) - 1), coding_.zero_divisor);
    more = weight_chunk || zero_chunk;
  }
}

}  // namespace intarsia::targets::ethos_n
