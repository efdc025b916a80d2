#include "weights/weight_sections.h"

#include <algorithm>
#include <array>
#include <bit>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "weights/code_rows.h"
#include "weights/weight_choice.h"
#include "weights/weight_columns.h"

namespace intarsia::targets::ethos_u {
namespace {

// Places where a palette may start: this far apart at least, and about this many at most.
constexpr size_t kLeastBlock = 8, kMostBlocks = 8192;

bool same(const Choice& a, const Choice& b) {
  return a.zero_runs == b.zero_runs && a.palette.symbols == b.palette.symbols &&
         a.palette.bits == b.palette.bits && a.palette.direct_offset == b.palette.direct_offset;
}

// Where one weight in so many is zero, or fewer, ways with runs of zeros are left out that are larger than the smallest by more than
// this part of it: each weight that is none has a bit more there, and what is saved of a zero is its code, of 37 bits at most. Such a
// way has four times as many states as one without runs.
constexpr int64_t kFewZeros = 40;
constexpr double kLargerByRuns = 0.05;

// Palettes that may alternate: those that suit the whole stream, and one for each of its parts.
std::vector<Choice> candidates(const StreamStatistics& statistics) {
  std::vector<Choice> result = choose_each(statistics.whole, false);
  if (statistics.whole.count[0] * kFewZeros <= statistics.whole.total) {
    int64_t least = kNever;
    for (const Choice& choice : result) least = std::min(least, choice.bits);
    std::erase_if(result, [&](const Choice& choice) {
      return choice.zero_runs &&
             static_cast<double>(choice.bits) > (1 + kLargerByRuns) * static_cast<double>(least);
    });
  }
  const auto add = [&](const Choice& choice) {
    if (std::none_of(result.begin(), result.end(),
                     [&](const Choice& other) { return same(choice, other); }))
      result.push_back(choice);
  };
  for (const Statistics& part : statistics.parts) add(choose(part, false));
  return result;
}

// The shortest path through blocks of weights, whose states are a palette, a code and, with runs of
// zeros, their parameter. A run is counted where it lies, though it may be divided.
class Search {
 public:
  Search(std::span<const int16_t> weights, const HeaderWorth& headers)
      : weights_(weights),
        headers_(headers),
        block_(std::clamp(ceil_div(weights.size(), kMostBlocks), kLeastBlock,
                          size_t{kMostBlockValues})) {}

  std::vector<size_t> run(const StreamStatistics& statistics) {
    const std::vector<Choice> choices = candidates(statistics);
    if (choices.size() == 1) return {weights_.size()};
    for (const Choice& choice : choices) add(choice);
    const size_t blocks = ceil_div(weights_.size(), block_);
    origins_.resize((blocks + 1) * ways_.size());  // those behind the last block are where it ends
    least_.resize(blocks + 1);
    std::vector<uint16_t> symbols(block_);
    RunCounter runs;
    for (size_t b = 0; b < blocks; ++b) {
      const auto part =
          weights_.subspan(b * block_, std::min(block_, weights_.size() - b * block_));
      std::array<int32_t, kZeroDivisors> zero_bits = {};
      int32_t zeros = 0;
      for (size_t i = 0; i < part.size(); ++i) {
        symbols[i] = symbol_of(part[i]);
        zeros += part[i] == 0 ? 1 : 0;
      }
      for (const int16_t weight : part) runs.add(weight);
      runs.take(zero_bits);
      for (int32_t z = 0; z < kZeroDivisors; ++z)
        zero_bits[static_cast<size_t>(z)] += (static_cast<int32_t>(part.size()) - zeros) * z;
      const Columns::Eight base = find_least(b);
      for (size_t w = 0; w < ways_.size(); ++w) {
        Way& way = ways_[w];
        Origins& from = origins(b, w);
        way.enter(base, way.bits_of(std::span(symbols).first(part.size())), from);
        if (!way.zero_runs) continue;
        for (size_t z = 0; z < kZeroDivisors; ++z)
          way.cost[z] += Columns::eight(static_cast<int16_t>(zero_bits[z]));
      }
    }
    find_least(blocks);
    return ends(blocks);
  }

 private:
  // Whether and where a block is entered anew: which states are, whether from the same way, and which states of that have the
  // least cost before the block. A bit for each code, by parameter of runs.
  struct Origins {
    bool same_way = false;
    std::array<uint16_t, kZeroDivisors> entered = {}, least = {};

    bool is_entered(size_t state) const {
      return (entered[state / kColumns] >> (state % kColumns) & 1) != 0;
    }
    size_t least_state() const {
      size_t row = 0;
      while (least[row] == 0) ++row;
      return row * kColumns + static_cast<size_t>(std::countr_zero(least[row]));
    }
  };

  // A palette with or without runs of zeros. Its states: for each parameter of runs a row of codes.
  struct Way {
    bool zero_runs = false;
    int32_t palette = 0;                      // bits of starting a section
    Columns slice;                            // of starting a slice
    std::vector<Columns> bits;                // of a symbol
    std::array<Columns, kZeroDivisors> cost;  // by parameter of runs
    Columns::Eight least = {};                // of all of them

    size_t rows() const { return zero_runs ? kZeroDivisors : 1; }
    void find_least(Origins& from) {
      Columns all = cost[0];
      for (size_t row = 1; row < rows(); ++row) all = ethos_u::least_of(all, cost[row]);
      least = all.least();
      for (size_t row = 0; row < rows(); ++row) from.least[row] = equal(cost[row], least);
    }
    // Of a block: `base` is the least cost of all ways before it.
    void enter(const Columns::Eight& base, const Columns& of_block, Origins& from) {
      const Columns::Eight same_way = least - base,
                           other_way = Columns::eight(static_cast<int16_t>(palette));
      from.same_way = same_way[0] <= palette;
      Columns entering = slice;
      entering += Columns::least_of(same_way, other_way);
      for (size_t row = 0; row < rows(); ++row) {
        // Costs are kept relative to the least, so that they stay small.
        cost[row] -= base;
        from.entered[row] = less(entering, cost[row]);
        cost[row] = ethos_u::least_of(cost[row], entering);
        cost[row] += of_block;
      }
    }
    Columns bits_of(std::span<const uint16_t> symbols) const {
      Columns sum = bits[symbols[0]];
      for (const uint16_t symbol : symbols.subspan(1)) sum.add_saturated(bits[symbol]);
      return within_possible(sum);
    }
  };

  void add(const Choice& choice) {
    Way way;
    way.zero_runs = choice.zero_runs;
    way.palette = choice.palette.header_bits() + (way.zero_runs ? 1 : 0) + headers_.palette +
                  headers_.entry * static_cast<int32_t>(choice.palette.symbols.size());
    way.palette = std::min(way.palette, kMostChangeBits - kNoCode);
    const std::array<int32_t, kSymbols> indices = indices_under(choice.palette);
    const std::vector<WeightCode> codes = codes_for(choice.palette, 0);
    INTARSIA_CHECK(codes.size() <= kColumns, "every code has its column");
    way.slice = Columns::filled(kNoCode);
    for (size_t c = 0; c < codes.size(); ++c)
      way.slice.set(c, static_cast<int32_t>(slice_bits(codes[c], way.zero_runs)) +
                           std::min(headers_.slice, kNoCode / 2));
    way.cost.fill(way.slice);
    for (Columns& cost : way.cost) cost += Columns::eight(static_cast<int16_t>(way.palette));
    const std::vector<Columns> by_index = bits_by_index(codes, kSymbols);
    const std::ptrdiff_t entries = std::ssize(choice.palette.symbols);
    way.bits.assign(kSymbols, Columns::filled(kImpossible));
    for (size_t s = 0; s < kSymbols; ++s) {
      if (indices[s] < 0) continue;
      way.bits[s] = by_index[static_cast<size_t>(indices[s])];
      // Uncompressed indices are those of entries, where there are any.
      if (entries > 0 && indices[s] >= entries) way.bits[s].set(codes.size() - 1, kImpossible);
    }
    if (way.zero_runs)  // zeros are runs, not symbols
      for (size_t c = 0; c < codes.size(); ++c) way.bits[0].set(c, 0);
    ways_.push_back(std::move(way));
  }

  Origins& origins(size_t block, size_t way) { return origins_[block * ways_.size() + way]; }

  // The least cost before a block, and which way has it.
  Columns::Eight find_least(size_t block) {
    Columns::Eight base = {};
    for (size_t w = 0; w < ways_.size(); ++w) {
      ways_[w].find_least(origins(block, w));
      if (w > 0 && ways_[w].least[0] >= base[0]) continue;
      base = ways_[w].least;
      least_[block] = static_cast<uint8_t>(w);
    }
    return base;
  }

  // Where the way changes.
  std::vector<size_t> ends(size_t blocks) {
    std::vector<size_t> result = {weights_.size()};
    size_t way = least_[blocks], state = origins(blocks, way).least_state();
    for (size_t b = blocks; b-- > 1;) {
      const Origins& from = origins(b, way);
      if (!from.is_entered(state)) continue;
      if (!from.same_way) {
        result.push_back(b * block_);
        way = least_[b];
      }
      state = origins(b, way).least_state();
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  std::span<const int16_t> weights_;
  HeaderWorth headers_;
  size_t block_;
  std::vector<Way> ways_;
  std::vector<Origins> origins_;  // by block and way
  std::vector<uint8_t> least_;    // the way that has the least cost before a block
};

}  // namespace

std::vector<size_t> choose_sections(std::span<const int16_t> weights,
                                    const StreamStatistics& statistics,
                                    const HeaderWorth& headers) {
  return Search(weights, headers).run(statistics);
}

}  // namespace intarsia::targets::ethos_u
