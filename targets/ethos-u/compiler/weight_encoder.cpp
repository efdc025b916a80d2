#include "weight_encoder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "intarsia/check.h"
#include "weight_slice.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kSymbols = 512;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
// Places where a palette may start: so many at most in a stream, and so far apart at least.
constexpr int64_t kMostCells = 20, kLeastCell = 160;
// Places where the parameters may change within a palette.
constexpr size_t kBlock = 16;
// What a further slice costs beside its header: half a unary field left empty in each of its parts.
constexpr int64_t kSliceCost = kSliceHeaderBits + 6, kZeroSliceCost = 5;

uint16_t symbol_of(int32_t weight) {
  return static_cast<uint16_t>(2 * std::abs(weight) + (weight < 0));
}

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

// A way to code a section in one slice, and its size.
struct Choice {
  int64_t bits = kNever;
  bool zero_runs = false;
  Palette palette;
  WeightCode code;
  int32_t zero_divisor = 0;
};

int32_t bits_for(int32_t most) {
  int32_t bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

struct Counted {
  uint16_t symbol;
  int32_t count;
};

class SectionSearch {
 public:
  SectionSearch(const Statistics& statistics, bool thorough)
      : statistics_(statistics), thorough_(thorough) {}

  Choice run() {
    try_mode(false);
    if (statistics_.count[0] > 0) try_mode(true);
    INTARSIA_CHECK(best_.bits < kNever, "plain Golomb-Rice codes take every weight");
    return best_;
  }

 private:
  void try_mode(bool zero_runs) {
    zero_runs_ = zero_runs;
    values_ = zero_runs ? std::max<int64_t>(statistics_.non_zero(), 1) : statistics_.total;
    by_symbol_.clear();
    for (size_t s = zero_runs ? 1 : 0; s < kSymbols; ++s)
      if (statistics_.count[s] > 0)
        by_symbol_.push_back({static_cast<uint16_t>(s), statistics_.count[s]});
    // Nothing but zeros: the first of them is coded as a weight.
    if (by_symbol_.empty()) by_symbol_.push_back({0, 1});
    choose_zero_divisor();

    by_count_ = by_symbol_;
    std::stable_sort(by_count_.begin(), by_count_.end(),
                     [](const Counted& a, const Counted& b) { return a.count > b.count; });
    const size_t distinct = by_count_.size();
    try_palette(0);
    if (distinct <= 32) try_palette(std::max<size_t>(distinct, 2));
    static constexpr size_t kQuick[] = {8, 32};
    static constexpr size_t kThorough[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
    if (thorough_) {
      for (const size_t size : kThorough)
        if (size < distinct) try_palette(size);
    } else {
      for (const size_t size : kQuick)
        if (size < distinct) try_palette(size);
    }
  }

  void choose_zero_divisor() {
    zero_bits_ = 0;
    if (!zero_runs_) return;
    zero_bits_ = kNever;
    for (int32_t divisor = 0; divisor < kZeroDivisors; ++divisor) {
      int64_t tail = statistics_.tail;
      int64_t unary = statistics_.zero_unary[static_cast<size_t>(divisor)];
      if (statistics_.non_zero() == 0) {
        tail = statistics_.total - 1;
        unary = 1;
      }
      const int64_t bits = zero_bits(divisor, values_ + 1, unary + (tail >> divisor) + 1);
      if (bits < zero_bits_) {
        zero_bits_ = bits;
        zero_divisor_ = divisor;
      }
    }
  }

  // The `size` most frequent symbols are the palette.
  void try_palette(size_t size) {
    Palette palette;
    indexed_.clear();
    int32_t most_entry = 0, least_direct = kSymbols, most_direct = 0;
    for (size_t i = 0; i < size; ++i) {
      // A palette has no single entry; the second is never used.
      const Counted entry = i < by_count_.size() ? by_count_[i] : Counted{by_count_[0].symbol, 0};
      palette.symbols.push_back(entry.symbol);
      most_entry = std::max<int32_t>(most_entry, entry.symbol);
      if (entry.count > 0) indexed_.push_back({static_cast<uint16_t>(i), entry.count});
    }
    const size_t in_palette = indexed_.size();
    for (size_t i = size; i < by_count_.size(); ++i) {
      least_direct = std::min<int32_t>(least_direct, by_count_[i].symbol);
      most_direct = std::max<int32_t>(most_direct, by_count_[i].symbol);
      indexed_.push_back(by_count_[i]);
    }
    const bool direct = by_count_.size() > size;
    palette.direct_offset = direct ? std::min(least_direct, 31) : 0;
    const int32_t move = static_cast<int32_t>(size) - palette.direct_offset;
    if (most_direct + move >= kSymbols) return;
    for (size_t i = in_palette; i < indexed_.size(); ++i)
      indexed_[i].symbol = static_cast<uint16_t>(indexed_[i].symbol + move);
    palette.bits = std::max(2, bits_for(size > 0 ? most_entry : most_direct + move));

    const int64_t fixed = kSliceHeaderBits * ((values_ + kSliceValues - 1) / kSliceValues) +
                          palette.header_bits() + zero_bits_;
    if (size == 0 || !direct) {
      const int32_t raw = size == 0 ? palette.bits : bits_for(static_cast<int32_t>(size) - 1);
      take(fixed + values_ * raw, palette, {WeightCode::Kind::Uncompressed, raw});
    }
    for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
      take(fixed + coded_bits({WeightCode::Kind::GolombRice, divisor}), palette,
           {WeightCode::Kind::GolombRice, divisor});
      take(fixed + coded_bits({WeightCode::Kind::Truncated, divisor}), palette,
           {WeightCode::Kind::Truncated, divisor});
    }
  }

  int64_t coded_bits(const WeightCode& code) const {
    int64_t first = 0, second = 0;
    for (const Counted& entry : indexed_) {
      if (!codable(code, entry.symbol)) return kNever;
      const UnaryBits bits = unary_bits(code, entry.symbol);
      first += int64_t{bits.first} * entry.count;
      second += int64_t{bits.second} * entry.count;
    }
    return weight_bits(code, values_, first, second);
  }

  void take(int64_t bits, const Palette& palette, const WeightCode& code) {
    if (bits < best_.bits) best_ = {bits, zero_runs_, palette, code, zero_divisor_};
  }

  const Statistics& statistics_;
  bool thorough_;
  bool zero_runs_ = false;
  int64_t values_ = 0, zero_bits_ = 0;
  int32_t zero_divisor_ = 0;
  std::vector<Counted> by_symbol_, by_count_, indexed_;
  Choice best_;
};

// A section's weights as the indices and runs that its palette and mode make of them.
struct Coded {
  std::vector<uint16_t> indices;
  std::vector<int32_t> runs;  // one more than indices
};

Coded code_values(std::span<const int16_t> weights, const Choice& choice) {
  std::array<uint16_t, kSymbols> index_of = {};
  const Palette& palette = choice.palette;
  const int32_t move = static_cast<int32_t>(palette.symbols.size()) - palette.direct_offset;
  for (int32_t s = 0; s < kSymbols; ++s)
    index_of[static_cast<size_t>(s)] = static_cast<uint16_t>(s + move);
  for (size_t i = palette.symbols.size(); i-- > 0;)
    index_of[palette.symbols[i]] = static_cast<uint16_t>(i);
  Coded coded;
  int32_t run = 0;
  const bool only_zeros =
      std::all_of(weights.begin(), weights.end(), [](int16_t weight) { return weight == 0; });
  for (size_t i = 0; i < weights.size(); ++i) {
    if (choice.zero_runs && weights[i] == 0 && !(only_zeros && i == 0)) {
      ++run;
      continue;
    }
    coded.indices.push_back(index_of[symbol_of(weights[i])]);
    coded.runs.push_back(run);
    run = 0;
  }
  coded.runs.push_back(run);
  return coded;
}

struct SliceChoice {
  size_t end = 0;  // values
  WeightCode code;
  int32_t zero_divisor = 0;
};

// Where the parameters change within a section: the shortest path through blocks of values, whose
// states are the parameters.
std::vector<SliceChoice> choose_slices(const Coded& coded, const Choice& choice) {
  std::vector<WeightCode> codes;
  for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
    codes.push_back({WeightCode::Kind::GolombRice, divisor});
    codes.push_back({WeightCode::Kind::Truncated, divisor});
  }
  const int32_t entries = static_cast<int32_t>(choice.palette.symbols.size());
  const uint16_t most = *std::max_element(coded.indices.begin(), coded.indices.end());
  if (entries == 0 || most < entries)
    codes.push_back({WeightCode::Kind::Uncompressed,
                     entries == 0 ? choice.palette.bits : bits_for(entries - 1)});
  const size_t zero_states = choice.zero_runs ? kZeroDivisors : 1;
  const size_t states = codes.size() * zero_states;
  const size_t blocks = (coded.indices.size() + kBlock - 1) / kBlock;
  const int64_t change = kSliceCost + (choice.zero_runs ? kZeroSliceCost : 0);

  // bits[code][value], in the unary and remainder parts together.
  const size_t table_size = size_t{most} + 1;
  std::vector<int32_t> table(codes.size() * table_size);
  for (size_t c = 0; c < codes.size(); ++c)
    for (size_t v = 0; v < table_size; ++v) {
      const auto value = static_cast<int32_t>(v);
      int32_t& bits = table[c * table_size + v];
      if (!codable(codes[c], value)) {
        bits = 1 << 20;
      } else if (codes[c].kind == WeightCode::Kind::Uncompressed) {
        bits = codes[c].divisor;
      } else {
        const UnaryBits unary = unary_bits(codes[c], value);
        bits = unary.first + unary.second + codes[c].divisor;
      }
    }

  std::vector<int64_t> cost(states, 0), code_cost(codes.size());
  std::vector<uint8_t> from(blocks * states);  // the state before; its own when nothing changes
  for (size_t b = 0; b < blocks; ++b) {
    const size_t begin = b * kBlock, end = std::min(begin + kBlock, coded.indices.size());
    for (size_t c = 0; c < codes.size(); ++c) {
      int64_t bits = 0;
      for (size_t i = begin; i < end; ++i) bits += table[c * table_size + coded.indices[i]];
      code_cost[c] = bits;
    }
    std::array<int64_t, kZeroDivisors> zero_cost = {};
    if (choice.zero_runs)
      for (size_t z = 0; z < zero_states; ++z)
        for (size_t i = begin; i < end; ++i)
          zero_cost[z] += (coded.runs[i + 1] >> z) + 1 + static_cast<int64_t>(z);
    const size_t least = static_cast<size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
    const int64_t entered = cost[least] + (b > 0 ? change : 0);
    for (size_t s = 0; s < states; ++s) {
      const bool enter = entered < cost[s];
      from[b * states + s] = static_cast<uint8_t>(enter ? least : s);
      cost[s] = (enter ? entered : cost[s]) + code_cost[s / zero_states] + zero_cost[s % zero_states];
    }
  }
  size_t state = static_cast<size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  std::vector<SliceChoice> slices;
  size_t end = coded.indices.size();
  for (size_t b = blocks; b-- > 0;) {
    const size_t before = from[b * states + state];
    if (before == state && b > 0) continue;
    slices.push_back({end, codes[state / zero_states], static_cast<int32_t>(state % zero_states)});
    end = b * kBlock;
    state = before;
  }
  std::reverse(slices.begin(), slices.end());
  return slices;
}

// Slices longer than the format allows are cut.
std::vector<SliceChoice> within_limit(const std::vector<SliceChoice>& slices) {
  std::vector<SliceChoice> result;
  size_t begin = 0;
  for (const SliceChoice& slice : slices) {
    while (slice.end - begin > kSliceValues) {
      begin += kSliceValues;
      result.push_back({begin, slice.code, slice.zero_divisor});
    }
    result.push_back(slice);
    begin = slice.end;
  }
  return result;
}

void write_section(const Coded& coded, const Choice& choice, const std::vector<SliceChoice>& slices,
                   BitWriter& out) {
  size_t begin = 0;
  for (const SliceChoice& part : within_limit(slices)) {
    Slice slice;
    slice.values = std::span(coded.indices).subspan(begin, part.end - begin);
    slice.has_zero_runs = choice.zero_runs;
    const size_t first_run = begin == 0 ? 0 : begin + 1;
    slice.zero_runs = std::span(coded.runs).subspan(first_run, part.end + 1 - first_run);
    slice.code = part.code;
    slice.zero_divisor = part.zero_divisor;
    slice.new_palette = begin == 0 ? &choice.palette : nullptr;
    write_slice(slice, out);
    begin = part.end;
  }
}

// The smaller of one slice and several, written behind what `out` holds.
void append_section(std::span<const int16_t> weights, const Choice& choice, BitWriter& out) {
  const Coded coded = code_values(weights, choice);
  const std::vector<SliceChoice> one = {{coded.indices.size(), choice.code, choice.zero_divisor}};
  const std::vector<SliceChoice> several = choose_slices(coded, choice);
  BitWriter with_one = out;
  write_section(coded, choice, one, with_one);
  if (several.size() > 1) {
    BitWriter with_several = out;
    write_section(coded, choice, several, with_several);
    if (with_several.bits() < with_one.bits()) {
      out = std::move(with_several);
      return;
    }
  }
  out = std::move(with_one);
}

// Cuts behind non-zero weights, so that no run of zeros is divided.
std::vector<size_t> cell_ends(std::span<const int16_t> weights) {
  const auto size = static_cast<int64_t>(weights.size());
  const int64_t cell = std::max(kLeastCell, (size + kMostCells - 1) / kMostCells);
  std::vector<size_t> ends;
  size_t begin = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] != 0 && static_cast<int64_t>(i + 1 - begin) >= cell) {
      ends.push_back(i + 1);
      begin = i + 1;
    }
  if (begin < weights.size()) ends.push_back(weights.size());
  return ends;
}

Statistics statistics_of(std::span<const int16_t> weights) {
  Statistics result;
  int64_t run = 0;
  for (const int16_t weight : weights) {
    ++result.count[symbol_of(weight)];
    if (weight == 0) {
      ++run;
      continue;
    }
    for (int32_t z = 0; z < kZeroDivisors; ++z)
      result.zero_unary[static_cast<size_t>(z)] += (run >> z) + 1;
    run = 0;
  }
  result.total = static_cast<int64_t>(weights.size());
  result.tail = run;
  return result;
}

// Where palettes start, by dynamic programming over the cuts.
std::vector<size_t> choose_sections(std::span<const int16_t> weights) {
  const std::vector<size_t> ends = cell_ends(weights);
  std::vector<Statistics> cells;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    cells.push_back(statistics_of(weights.subspan(begin, ends[i] - begin)));
  }
  std::vector<int64_t> best(cells.size() + 1, kNever);
  std::vector<size_t> from(cells.size() + 1, 0);
  best[0] = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    Statistics section;
    for (size_t j = i; j < cells.size(); ++j) {
      section.add(cells[j]);
      const int64_t bits = best[i] + SectionSearch(section, false).run().bits;
      if (bits < best[j + 1]) {
        best[j + 1] = bits;
        from[j + 1] = i;
      }
    }
  }
  std::vector<size_t> sections;
  for (size_t j = cells.size(); j > 0; j = from[j]) sections.push_back(ends[j - 1]);
  std::reverse(sections.begin(), sections.end());
  return sections;
}

BitWriter write_sections(std::span<const int16_t> weights, const std::vector<size_t>& sections) {
  BitWriter out;
  size_t begin = 0;
  for (const size_t end : sections) {
    const std::span<const int16_t> section = weights.subspan(begin, end - begin);
    append_section(section, SectionSearch(statistics_of(section), true).run(), out);
    begin = end;
  }
  write_end_of_stream(out);
  return out;
}

}  // namespace

std::vector<uint8_t> encode_weights(std::span<const int16_t> weights) {
  INTARSIA_CHECK(!weights.empty(), "a stream has at least one weight");
  const std::vector<size_t> sections = choose_sections(weights);
  BitWriter best = write_sections(weights, sections);
  if (sections.size() > 1) {
    BitWriter whole = write_sections(weights, {weights.size()});
    if (whole.bits() < best.bits()) best = std::move(whole);
  }
  return best.finish(16);
}

int64_t estimate_weight_bytes(std::span<const int16_t> weights) {
  return SectionSearch(statistics_of(weights), false).run().bits / 8;
}

}  // namespace intarsia::targets::ethos_u
