#include "weight_sections.h"

#include <algorithm>

#include "weight_choice.h"

namespace intarsia::targets::ethos_u {
namespace {

// Palettes that may alternate: those that suit the whole stream, and one for each of so many parts.
constexpr size_t kParts = 4, kLeastPart = 256;
// Places where a palette may start: so far apart at least, and so many at most.
constexpr size_t kLeastBlock = 8, kMostBlocks = 8192;

bool same(const Choice& a, const Choice& b) {
  return a.zero_runs == b.zero_runs && a.palette.symbols == b.palette.symbols &&
         a.palette.bits == b.palette.bits && a.palette.direct_offset == b.palette.direct_offset;
}

std::vector<Choice> candidates(std::span<const int16_t> weights) {
  std::vector<Choice> result = choose_each(statistics_of(weights), false);
  const auto add = [&](const Choice& choice) {
    if (std::none_of(result.begin(), result.end(), [&](const Choice& other) { return same(choice, other); }))
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
  explicit Search(std::span<const int16_t> weights)
      : weights_(weights), block_(std::max(kLeastBlock, (weights.size() + kMostBlocks - 1) / kMostBlocks)) {}

  std::vector<size_t> run() {
    const std::vector<Choice> choices = candidates(weights_);
    if (choices.size() == 1) return {weights_.size()};
    for (const Choice& choice : choices) add(choice);
    const size_t states = cost_.size(), ways = ways_.size();
    const size_t blocks = (weights_.size() + block_ - 1) / block_;
    std::vector<Origin> origins(blocks * states);
    std::vector<uint16_t> least(blocks), least_of(blocks * ways);
    std::vector<int32_t> runs(block_);
    int32_t run = 0;
    for (size_t b = 0; b < blocks; ++b) {
      const auto part = weights_.subspan(b * block_, std::min(block_, weights_.size() - b * block_));
      for (size_t i = 0; i < part.size(); ++i) {
        runs[i] = run;
        run = part[i] == 0 ? run + 1 : 0;
      }
      least[b] = least_state(0, states);
      const int64_t before = cost_[least[b]];
      for (size_t w = 0; w < ways; ++w) {
        const Way& way = ways_[w];
        least_of[b * ways + w] = least_state(way.first, way.first + way.states());
        const int64_t same_way = cost_[least_of[b * ways + w]], other_way = before + way.palette;
        enter(way, std::min(same_way, other_way),
              same_way <= other_way ? Origin::SameWay : Origin::OtherWay, &origins[b * states]);
        spend(way, part, runs);
      }
    }
    return ends(origins, least, least_of, blocks);
  }

 private:
  enum class Origin : uint8_t { Itself, SameWay, OtherWay };

  // A palette with or without runs of zeros.
  struct Way {
    bool zero_runs = false;
    size_t first = 0, codes = 0;   // states
    int64_t palette = 0;           // bits of starting a section
    std::vector<int64_t> slice;    // bits of starting a slice, by code
    std::vector<std::array<int32_t, kSymbols>> bits;  // of a symbol, by code
    size_t states() const { return codes * (zero_runs ? kZeroDivisors : 1); }
  };

  static constexpr int32_t kImpossible = 1 << 20;

  void add(const Choice& choice) {
    Way way;
    way.zero_runs = choice.zero_runs;
    way.first = cost_.size();
    way.palette = choice.palette.header_bits() + (way.zero_runs ? 1 : 0);
    const std::array<int32_t, kSymbols> indices = indices_under(choice.palette);
    std::vector<WeightCode> codes = codes_for(choice.palette, 0);
    way.codes = codes.size();
    for (const WeightCode& code : codes) {
      way.slice.push_back(slice_bits(code, way.zero_runs));
      auto& bits = way.bits.emplace_back();
      for (size_t s = 0; s < bits.size(); ++s) {
        const bool in_palette = indices[s] < static_cast<int32_t>(choice.palette.symbols.size());
        const bool raw = code.kind == WeightCode::Kind::Uncompressed && !choice.palette.symbols.empty();
        bits[s] = indices[s] < 0 || !codable(code, indices[s]) || (raw && !in_palette)
                      ? kImpossible
                      : bits_of(code, indices[s]);
      }
    }
    for (const int64_t slice : way.slice)
      cost_.insert(cost_.end(), way.states() / way.codes, way.palette + slice);
    ways_.push_back(std::move(way));
  }

  uint16_t least_state(size_t first, size_t end) const {
    const auto begin = cost_.begin();
    return static_cast<uint16_t>(
        std::min_element(begin + static_cast<ptrdiff_t>(first), begin + static_cast<ptrdiff_t>(end)) - begin);
  }

  void enter(const Way& way, int64_t entered, Origin origin, Origin* origins) {
    size_t state = way.first;
    for (const int64_t slice : way.slice)
      for (size_t i = 0; i < way.states() / way.codes; ++i, ++state) {
        const bool better = entered + slice < cost_[state];
        origins[state] = better ? origin : Origin::Itself;
        if (better) cost_[state] = entered + slice;
      }
  }

  void spend(const Way& way, std::span<const int16_t> part, const std::vector<int32_t>& runs) {
    std::array<int64_t, kZeroDivisors> zero_bits = {};
    if (way.zero_runs)
      for (size_t i = 0; i < part.size(); ++i)
        for (int32_t z = 0; z < kZeroDivisors; ++z) {
          int64_t& bits = zero_bits[static_cast<size_t>(z)];
          bits += part[i] != 0 ? 1 + z : ((runs[i] + 1) & ((1 << z) - 1)) == 0 ? 1 : 0;
        }
    size_t state = way.first;
    for (const auto& table : way.bits) {
      int64_t bits = 0;
      for (const int16_t weight : part)
        if (!way.zero_runs || weight != 0) bits += table[symbol_of(weight)];
      if (!way.zero_runs) {
        cost_[state++] += bits;
        continue;
      }
      for (const int64_t zeros : zero_bits) cost_[state++] += bits + zeros;
    }
  }

  // Where the way changes.
  std::vector<size_t> ends(const std::vector<Origin>& origins, const std::vector<uint16_t>& least,
                           const std::vector<uint16_t>& least_of, size_t blocks) const {
    std::vector<size_t> result = {weights_.size()};
    size_t state = least_state(0, cost_.size());
    for (size_t b = blocks; b-- > 1;) {
      const Origin origin = origins[b * cost_.size() + state];
      if (origin == Origin::Itself) continue;
      if (origin == Origin::OtherWay) {
        result.push_back(b * block_);
        state = least[b];
        continue;
      }
      size_t way = 0;
      while (state >= ways_[way].first + ways_[way].states()) ++way;
      state = least_of[b * ways_.size() + way];
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  std::span<const int16_t> weights_;
  size_t block_;
  std::vector<Way> ways_;
  std::vector<int64_t> cost_;  // by state
};

}  // namespace

std::vector<size_t> choose_sections(std::span<const int16_t> weights) {
  return Search(weights).run();
}

}  // namespace intarsia::targets::ethos_u
