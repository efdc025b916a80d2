#include "weights/weight_sections.h"

#include <algorithm>
#include <array>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "weights/weight_choice.h"
#include "weights/weight_columns.h"

namespace intarsia::targets::ethos_u {
namespace {

// Palettes that may alternate: those that suit the whole stream, and one for each of this number of parts.
constexpr size_t kParts = 4, kLeastPart = 256;
// Places where a palette may start: this far apart at least, and about this many at most.
constexpr size_t kLeastBlock = 8, kMostBlocks = 8192;

bool same(const Choice& a, const Choice& b) {
  return a.zero_runs == b.zero_runs && a.palette.symbols == b.palette.symbols &&
         a.palette.bits == b.palette.bits && a.palette.direct_offset == b.palette.direct_offset;
}

std::vector<Choice> candidates(std::span<const int16_t> weights) {
  std::vector<Choice> result = choose_each(statistics_of(weights), false);
  const auto add = [&](const Choice& choice) {
    if (std::none_of(result.begin(), result.end(),
                     [&](const Choice& other) { return same(choice, other); }))
      result.push_back(choice);
  };
  if (weights.size() < kParts * kLeastPart) return result;
  for (size_t i = 0; i < kParts; ++i) {
    const size_t begin = weights.size() * i / kParts, end = weights.size() * (i + 1) / kParts;
    add(choose(statistics_of(weights.subspan(begin, end - begin)), false));
  }
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

  std::vector<size_t> run() {
    const std::vector<Choice> choices = candidates(weights_);
    if (choices.size() == 1) return {weights_.size()};
    for (const Choice& choice : choices) add(choice);
    const size_t ways = ways_.size();
    const size_t blocks = ceil_div(weights_.size(), block_);
    std::vector<Origins> origins(blocks * ways);
    std::vector<State> least(blocks);
    std::vector<uint8_t> least_of_way(blocks * ways);
    std::vector<uint16_t> symbols(block_);
    int32_t run = 0;
    for (size_t b = 0; b < blocks; ++b) {
      const auto part =
          weights_.subspan(b * block_, std::min(block_, weights_.size() - b * block_));
      std::array<int32_t, kZeroDivisors> zero_bits = {};
      int32_t non_zero = 0;
      for (size_t i = 0; i < part.size(); ++i) {
        symbols[i] = symbol_of(part[i]);
        if (part[i] != 0) {
          ++non_zero;
          run = 0;
          continue;
        }
        ++run;
        for (int32_t z = 0; z < kZeroDivisors; ++z)
          if ((run & ((1 << z) - 1)) == 0) ++zero_bits[static_cast<size_t>(z)];
      }
      for (int32_t z = 0; z < kZeroDivisors; ++z)
        zero_bits[static_cast<size_t>(z)] += non_zero * (1 + z);
      least[b] = least_state();
      const int32_t base = ways_[least[b].way].least_cost();
      for (size_t w = 0; w < ways; ++w) {
        Way& way = ways_[w];
        const int32_t of_way = way.least_cost();
        least_of_way[b * ways + w] = static_cast<uint8_t>(way.state_with(of_way));
        const int32_t same_way = of_way - base, other_way = way.palette;
        Origins& from = origins[b * ways + w];
        from.same_way = same_way <= other_way;
        const Columns bits = way.bits_of(std::span(symbols).first(part.size()));
        for (size_t row = 0; row < way.rows(); ++row) {
          // Costs are kept relative to the least, so that they stay small.
          Columns& cost = way.cost[row];
          cost += -base;
          Columns entered = way.slice[row];
          entered += std::min(same_way, other_way);
          from.entered[row] = less(entered, cost);
          cost = ethos_u::least_of(cost, entered);
          cost += bits;
          if (way.zero_runs) cost += zero_bits[row];
        }
      }
    }
    return ends(origins, least, least_of_way, blocks);
  }

 private:
  struct State {
    size_t way = 0, state = 0;
  };
  // Which states a block is entered anew in, and whether from the same way.
  struct Origins {
    bool same_way = false;
    std::array<uint16_t, kZeroDivisors> entered = {};
  };

  // A palette with or without runs of zeros. Its states: for each parameter of runs a row of codes.
  struct Way {
    bool zero_runs = false;
    int32_t palette = 0;               // bits of starting a section
    std::vector<Columns> slice;        // of starting a slice, by row
    std::vector<Columns> bits;         // of a symbol
    std::vector<uint16_t> impossible;  // codes that a symbol does not have
    std::vector<Columns> cost;         // by row

    size_t rows() const { return slice.size(); }
    int32_t least_cost() const {
      Columns all = cost[0];
      for (size_t row = 1; row < rows(); ++row) all = ethos_u::least_of(all, cost[row]);
      return all.least();
    }
    // The first state that has the least cost.
    size_t state_with(int32_t least) const {
      size_t row = 0;
      while (cost[row].least() != least) ++row;
      return row * kColumns + column_with(cost[row], least);
    }
    Columns bits_of(std::span<const uint16_t> symbols) const {
      Columns sum = Columns::filled(0);
      uint16_t without = 0;
      for (const uint16_t symbol : symbols) {
        sum += bits[symbol];
        without |= impossible[symbol];
      }
      return where_impossible(sum, without, kImpossible);
    }
  };

  void add(const Choice& choice) {
    Way way;
    way.zero_runs = choice.zero_runs;
    way.palette = choice.palette.header_bits() + (way.zero_runs ? 1 : 0) + headers_.palette +
                  headers_.entry * static_cast<int32_t>(choice.palette.symbols.size());
    way.palette = std::min(way.palette, kMostChangeBits - kNoCode);
    way.bits.assign(kSymbols, Columns::filled(0));
    const std::array<int32_t, kSymbols> indices = indices_under(choice.palette);
    const std::vector<WeightCode> codes = codes_for(choice.palette, 0);
    way.impossible.assign(kSymbols, columns_from(codes.size()));
    INTARSIA_CHECK(codes.size() <= kColumns, "every code has its column");
    Columns slice = Columns::filled(kNoCode);
    for (size_t c = 0; c < codes.size(); ++c)
      slice.set(c, static_cast<int32_t>(slice_bits(codes[c], way.zero_runs)) +
                       std::min(headers_.slice, kNoCode / 2));
    way.slice.assign(way.zero_runs ? kZeroDivisors : 1, slice);
    way.cost = way.slice;
    for (Columns& cost : way.cost) cost += way.palette;
    for (size_t c = 0; c < codes.size(); ++c)
      for (size_t s = 0; s < kSymbols; ++s) {
        const bool in_palette = indices[s] < static_cast<int32_t>(choice.palette.symbols.size());
        const bool raw =
            codes[c].kind == WeightCode::Kind::Uncompressed && !choice.palette.symbols.empty();
        if (indices[s] >= 0 && codable(codes[c], indices[s]) && (!raw || in_palette)) {
          way.bits[s].set(c, ethos_u::bits_of(codes[c], indices[s]));
        } else {
          way.impossible[s] = static_cast<uint16_t>(way.impossible[s] | 1 << c);
        }
      }
    if (way.zero_runs) {  // zeros are runs, not symbols
      way.bits[0] = Columns::filled(0);
      way.impossible[0] = columns_from(codes.size());
    }
    ways_.push_back(std::move(way));
  }

  State least_state() const {
    size_t least = 0;
    for (size_t w = 1; w < ways_.size(); ++w)
      if (ways_[w].least_cost() < ways_[least].least_cost()) least = w;
    return {least, ways_[least].state_with(ways_[least].least_cost())};
  }

  // Where the way changes.
  std::vector<size_t> ends(const std::vector<Origins>& origins, const std::vector<State>& least,
                           const std::vector<uint8_t>& least_of_way, size_t blocks) const {
    std::vector<size_t> result = {weights_.size()};
    State at = least_state();
    for (size_t b = blocks; b-- > 1;) {
      const size_t place = b * ways_.size() + at.way;
      const Origins& from = origins[place];
      if ((from.entered[at.state / kColumns] >> (at.state % kColumns) & 1) == 0) continue;
      if (from.same_way) {
        at.state = least_of_way[place];
      } else {
        result.push_back(b * block_);
        at = least[b];
      }
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  std::span<const int16_t> weights_;
  HeaderWorth headers_;
  size_t block_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<size_t> choose_sections(std::span<const int16_t> weights, const HeaderWorth& headers) {
  return Search(weights, headers).run();
}

}  // namespace intarsia::targets::ethos_u
