#include "weights/weight_choice.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// Ways that are larger than the smallest by more than this part of it are not worth a closer look, which takes time for each
// weight: of many weights a few bits in a header are nothing, and the smallest way at first is nearly the smallest in the end.
constexpr double kMuchLarger = 1, kMuchLargerOfMany = 0.05;
constexpr int64_t kManyWeights = 1 << 14;

struct Counted {
  uint16_t symbol;
  int32_t count;
};

class SectionSearch {
 public:
  SectionSearch(const Statistics& statistics, bool thorough)
      : statistics_(statistics), thorough_(thorough) {}

  Choice run() {
    search();
    Choice best;
    for (const Choice& choice : best_)
      if (choice.bits < best.bits) best = choice;
    INTARSIA_CHECK(best.bits < kNever, "plain Golomb-Rice codes take every weight");
    return best;
  }

  std::vector<Choice> run_each() {
    const Choice least = run();
    const bool many = thorough_ && statistics_.total > kManyWeights;
    const double more = many ? kMuchLargerOfMany : kMuchLarger;
    const auto most = static_cast<int64_t>(static_cast<double>(least.bits) * (1 + more));
    std::vector<Choice> result;
    for (const Choice& choice : best_)
      if (choice.bits <= most) result.push_back(choice);
    return result;
  }

 private:
  void search() {
    try_mode(false);
    if (statistics_.count[0] > 0) try_mode(true);
  }

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

    const int64_t fixed =
        kSliceHeaderBits * (ceil_div(values_, kSliceValues)) + palette.header_bits() + zero_bits_;
    Coding least = least_coded();
    if (size == 0 || !direct) {
      const int32_t raw = size == 0 ? palette.bits : bits_for(static_cast<int32_t>(size) - 1);
      if (values_ * raw <= least.bits)
        least = {values_ * raw, {WeightCode::Kind::Uncompressed, raw}};
    }
    take(fixed + least.bits, palette, least.code);
  }

  using Eight [[gnu::vector_size(32)]] = int32_t;

  struct Coding {
    int64_t bits = kNever;
    WeightCode code;
  };

  // Both codes with every divisor. Palettes of all sizes are tried for each section, so that this is one walk through the
  // indices: how many of them have a bit says the sums of all quotients.
  Coding least_coded() const {
    constexpr size_t kBits = 9;
    static_assert(kSymbols == 1 << kBits);
    constexpr Eight kLow = {1, 2, 4, 8, 16, 32, 64, 128};
    Eight with_low = {};
    std::array<int64_t, kBits + 1> of_width = {};  // how many have that many bits
    int32_t with_highest = 0, most = 0;
    for (const Counted& entry : indexed_) {
      const auto index = static_cast<int32_t>(entry.symbol);
      most = std::max(most, index);
      with_low += entry.count & ((index & kLow) != 0);
      with_highest += entry.count & -(index >> (kBits - 1));
      of_width[static_cast<size_t>(std::bit_width(entry.symbol))] += entry.count;
    }
    int64_t quotients = int64_t{with_highest} << (kBits - 1);  // their sum
    for (size_t bit = 0; bit + 1 < kBits; ++bit) quotients += int64_t{with_low[bit]} << bit;
    int64_t above = std::accumulate(of_width.begin(), of_width.end(), int64_t{0});
    const int64_t count = above;
    Coding least;
    const auto take = [&](const WeightCode& code, int64_t in_first, int64_t in_second) {
      if (!codable(code, most)) return;
      const int64_t bits = weight_bits(code, values_, in_first, in_second);
      if (bits < least.bits) least = {bits, code};
    };
    for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
      const auto bit = static_cast<size_t>(divisor);
      above -= of_width[bit];
      const int64_t halves = (quotients - with_low[bit]) / 2;
      take({WeightCode::Kind::GolombRice, divisor}, count + halves, quotients - halves);
      take({WeightCode::Kind::Truncated, divisor}, count, above);
      quotients = halves;
    }
    return least;
  }

  void take(int64_t bits, const Palette& palette, const WeightCode& code) {
    const size_t extent = palette.symbols.empty()                     ? 0
                          : palette.symbols.size() < by_count_.size() ? 1
                                                                      : 2;
    Choice& best = best_[2 * extent + (zero_runs_ ? 1 : 0)];
    if (bits < best.bits) best = {bits, zero_runs_, palette, code, zero_divisor_};
  }

  const Statistics& statistics_;
  bool thorough_;
  bool zero_runs_ = false;
  int64_t values_ = 0, zero_bits_ = 0;
  int32_t zero_divisor_ = 0;
  std::vector<Counted> by_symbol_, by_count_, indexed_;
  std::array<Choice, 6> best_;  // by extent of the palette and zero runs
};

}  // namespace

int32_t bits_for(int32_t most) {
  int32_t bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
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
    if (run == 0) continue;
    for (int32_t z = 0; z < kZeroDivisors; ++z)
      result.zero_unary[static_cast<size_t>(z)] += run >> z;
    run = 0;
  }
  result.total = static_cast<int64_t>(weights.size());
  for (int64_t& unary : result.zero_unary) unary += result.non_zero();
  result.tail = run;
  return result;
}

Choice choose(const Statistics& statistics, bool thorough) {
  return SectionSearch(statistics, thorough).run();
}

std::vector<Choice> choose_each(const Statistics& statistics, bool thorough) {
  return SectionSearch(statistics, thorough).run_each();
}

std::array<int32_t, kSymbols> indices_under(const Palette& palette) {
  std::array<int32_t, kSymbols> result = {};
  const auto entries = static_cast<int32_t>(palette.symbols.size());
  for (int32_t s = 0; s < kSymbols; ++s) {
    const int32_t index = s + entries - palette.direct_offset;
    result[static_cast<size_t>(s)] = s >= palette.direct_offset && index < kSymbols ? index : -1;
  }
  for (size_t i = palette.symbols.size(); i-- > 0;)
    result[palette.symbols[i]] = static_cast<int32_t>(i);
  return result;
}

std::vector<WeightCode> codes_for(const Palette& palette, int32_t most) {
  std::vector<WeightCode> codes;
  for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
    codes.push_back({WeightCode::Kind::GolombRice, divisor});
    codes.push_back({WeightCode::Kind::Truncated, divisor});
  }
  const auto entries = static_cast<int32_t>(palette.symbols.size());
  if (entries == 0 || most < entries)
    codes.push_back(
        {WeightCode::Kind::Uncompressed, entries == 0 ? palette.bits : bits_for(entries - 1)});
  return codes;
}

int64_t slice_bits(const WeightCode& code, bool zero_runs) {
  const bool raw = code.kind == WeightCode::Kind::Uncompressed;
  return kSliceHeaderBits + (raw ? 0 : 6) + (zero_runs ? 5 : 0);
}

int32_t bits_of(const WeightCode& code, int32_t index) {
  if (code.kind == WeightCode::Kind::Uncompressed) return code.divisor;
  const UnaryBits unary = unary_bits(code, index);
  return unary.first + unary.second + code.divisor;
}

}  // namespace intarsia::targets::ethos_u
