#include "weights/weight_choice.h"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <utility>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// Ways that are larger than the smallest by more than this part of it are not worth a closer look, which takes time for each
// weight: of many weights a few bits in a header are nothing, and the smallest way at first is nearly the smallest in the end.
constexpr double kMuchLarger = 1, kMuchLargerOfMany = 0.05;
constexpr int64_t kManyWeights = 1 << 14;

// Of parts of this number each gets a palette that may be the best for it, where they are not short.
constexpr size_t kParts = 4, kLeastPart = 256;

struct Counted {
  uint16_t symbol;
  int32_t count;
};

constexpr size_t kMostEntries = 32;
// Divisors of weights, and one more: the field that is sent second has half of the quotients.
constexpr size_t kQuotients = kWeightDivisors + 1;

// Sums of symbols' quotients by every divisor, for any number that is added to all symbols before. Numbers that are added
// carry into the quotient of those whose remainder is large enough.
class QuotientSums {
 public:
  void add(const Counted& entry, int64_t sign) {
    const int64_t count = sign * entry.count;
    total_ += count;
    largest_ += count * (entry.symbol / kRemainders);
    remainders_[entry.symbol % kRemainders] += count;
  }
  std::array<int64_t, kQuotients> moved_by(int32_t move) const {
    std::array<int64_t, kQuotients> result;
    std::array<int64_t, kRemainders> remainders = remainders_;
    int64_t sum = largest_;
    for (size_t d = kQuotients; d-- > 0;) {
      const size_t divisor = size_t{1} << d, rest = static_cast<size_t>(move) % divisor;
      result[d] = std::accumulate(remainders.data() + divisor - rest, remainders.data() + divisor,
                                  sum + total_ * (move >> d));
      // By half of the divisor: remainders of the upper half have one more in their quotient.
      sum *= 2;
      for (size_t r = 0; r < divisor / 2; ++r) {
        sum += remainders[r + divisor / 2];
        remainders[r] += remainders[r + divisor / 2];
      }
    }
    return result;
  }
  int64_t total() const { return total_; }

 private:
  static constexpr size_t kRemainders = size_t{1} << (kQuotients - 1);
  int64_t total_ = 0, largest_ = 0;  // the sum by the largest divisor
  std::array<int64_t, kRemainders> remainders_ = {};
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
    find_frequent();
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
    count_all();
    const size_t distinct = by_symbol_.size();
    static constexpr size_t kQuick[] = {8, 32};
    static constexpr size_t kThorough[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
    const std::span<const size_t> sizes = thorough_ ? std::span<const size_t>(kThorough) : kQuick;
    try_palette(0);
    for (const size_t size : sizes) {
      if (size >= distinct) break;
      take_entries(size);
      try_palette(size);
    }
    // All symbols: of two palettes that make as few bits, one for all is in a place of its own.
    if (distinct > kMostEntries) return;
    take_entries(distinct);
    try_palette(std::max<size_t>(distinct, 2));
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

  // The symbols that may be entries, and one more, for zeros are none where they are runs.
  void find_frequent() {
    // Numbers that rise as symbols come later: the rarer ones, and of equally frequent ones the larger.
    std::array<uint64_t, kSymbols> orders;
    size_t distinct = 0;
    for (size_t s = 0; s < kSymbols; ++s)
      if (const int32_t count = statistics_.count[s]; count > 0)
        orders[distinct++] = uint64_t{~static_cast<uint32_t>(count)} << 32 | s;
    const size_t most = std::min(distinct, kMostEntries + 1);
    const auto first = orders.begin(), last = first + static_cast<std::ptrdiff_t>(distinct);
    if (most < distinct) std::nth_element(first, first + static_cast<std::ptrdiff_t>(most), last);
    std::sort(first, first + static_cast<std::ptrdiff_t>(most));
    frequent_.resize(most);
    for (size_t i = 0; i < most; ++i)
      frequent_[i] = {static_cast<uint16_t>(orders[i]),
                      static_cast<int32_t>(~static_cast<uint32_t>(orders[i] >> 32))};
  }

  // Before any entry of a palette: all symbols are direct.
  void count_all() {
    by_count_.clear();
    for (const Counted& entry : frequent_)
      if (!zero_runs_ || entry.symbol != 0) by_count_.push_back(entry);
    if (by_count_.empty()) by_count_ = by_symbol_;
    if (by_count_.size() > kMostEntries) by_count_.pop_back();
    taken_ = 0;
    most_entry_ = 0;
    entries_ = 0;
    of_entries_ = {};
    direct_ = {};
    for (const Counted& entry : by_symbol_) direct_.add(entry, 1);
    is_entry_.reset();
    lowest_ = 0;
    highest_ = by_symbol_.size() - 1;
    // By rising symbols; behind the last there are none.
    size_t end = kSymbols + 1;
    int64_t above = 0;
    for (size_t i = by_symbol_.size(); i-- > 0;) {
      const size_t symbol = by_symbol_[i].symbol;
      std::fill(at_least_.begin() + static_cast<std::ptrdiff_t>(symbol) + 1,
                at_least_.begin() + static_cast<std::ptrdiff_t>(end), above);
      above += by_symbol_[i].count;
      end = symbol + 1;
    }
    std::fill_n(at_least_.begin(), end, above);
  }

  // The most frequent symbols become entries.
  void take_entries(size_t size) {
    for (; taken_ < size; ++taken_) {
      const Counted& entry = by_count_[taken_];
      direct_.add(entry, -1);
      entries_ += entry.count;
      for (size_t d = 0; d < kQuotients; ++d)
        of_entries_[d] += int64_t{entry.count} * static_cast<int64_t>(taken_ >> d);
      is_entry_.set(entry.symbol);
      most_entry_ = std::max<int32_t>(most_entry_, entry.symbol);
    }
    while (lowest_ < highest_ && is_entry_[by_symbol_[lowest_].symbol]) ++lowest_;
    while (highest_ > lowest_ && is_entry_[by_symbol_[highest_].symbol]) --highest_;
  }

  // The entries that have been taken; a palette has no single entry, the second is then never used.
  void try_palette(size_t size) {
    const bool direct = by_symbol_.size() > taken_;
    const int32_t least_direct = by_symbol_[lowest_].symbol,
                  most_direct = by_symbol_[highest_].symbol;
    const int32_t direct_offset = direct ? std::min(least_direct, kMostDirectOffset) : 0;
    const int32_t move = static_cast<int32_t>(size) - direct_offset;
    if (direct && most_direct + move >= kSymbols) return;
    const int32_t bits = std::max(2, bits_for(size > 0 ? most_entry_ : most_direct + move));

    Palette palette;
    palette.direct_offset = direct_offset;
    palette.bits = bits;
    const int64_t header = palette.header_bits() + static_cast<int64_t>(size) * bits;
    const int64_t fixed =
        kSliceHeaderBits * (ceil_div(values_, kSliceValues)) + header + zero_bits_;
    const int32_t most = direct ? most_direct + move : static_cast<int32_t>(taken_) - 1;
    Coding least = least_coded(move, most);
    if (size == 0 || !direct) {
      const int32_t raw = size == 0 ? bits : bits_for(static_cast<int32_t>(size) - 1);
      if (values_ * raw <= least.bits)
        least = {values_ * raw, {WeightCode::Kind::Uncompressed, raw}};
    }
    const size_t extent = size == 0 ? 0 : direct ? 1 : 2;
    Choice& best = best_[2 * extent + (zero_runs_ ? 1 : 0)];
    if (fixed + least.bits >= best.bits) return;
    for (size_t i = 0; i < size; ++i)
      palette.symbols.push_back(by_count_[i < taken_ ? i : 0].symbol);
    best = {fixed + least.bits, zero_runs_, std::move(palette), least.code, zero_divisor_, most};
  }

  struct Coding {
    int64_t bits = kNever;
    WeightCode code;
  };

  // Both codes with every divisor. Palettes of all sizes are tried for each section: this does not walk through the symbols.
  Coding least_coded(int32_t move, int32_t most) const {
    std::array<int64_t, kQuotients> quotients = direct_.moved_by(move);
    for (size_t d = 0; d < kQuotients; ++d) quotients[d] += of_entries_[d];
    const int64_t count = entries_ + direct_.total();
    Coding least;
    const auto take = [&](const WeightCode& code, int64_t in_first, int64_t in_second) {
      const int64_t bits = weight_bits(code, values_, in_first, in_second);
      if (bits < least.bits) least = {bits, code};
    };
    for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
      const auto d = static_cast<size_t>(divisor);
      const WeightCode plain = {WeightCode::Kind::GolombRice, divisor},
                       truncated = {WeightCode::Kind::Truncated, divisor};
      if (codable(plain, most))
        take(plain, count + quotients[d + 1], quotients[d] - quotients[d + 1]);
      if (codable(truncated, most)) take(truncated, count, with_quotient(divisor, move));
    }
    return least;
  }

  // How many indices have a quotient above zero.
  int64_t with_quotient(int32_t divisor, int32_t move) const {
    const int32_t least = 1 << divisor;
    const int32_t least_direct = std::max(least - move, 0);
    int64_t result = at_least_[static_cast<size_t>(least_direct)];
    for (size_t i = 0; i < taken_; ++i) {
      if (by_count_[i].symbol >= least_direct) result -= by_count_[i].count;
      if (static_cast<int32_t>(i) >= least) result += by_count_[i].count;
    }
    return result;
  }

  static constexpr int32_t kMostDirectOffset = 31;

  const Statistics& statistics_;
  bool thorough_;
  bool zero_runs_ = false;
  int64_t values_ = 0, zero_bits_ = 0;
  int32_t zero_divisor_ = 0;
  std::vector<Counted> by_symbol_;
  std::vector<Counted> frequent_;  // the most frequent symbols, the first before the others
  std::vector<Counted> by_count_;  // those of them that may be entries
  size_t taken_ = 0;               // that are
  int32_t most_entry_ = 0;
  std::bitset<kSymbols> is_entry_;
  size_t lowest_ = 0, highest_ = 0;                  // of by_symbol_, those that are no entries
  int64_t entries_ = 0;                              // how many weights they are
  std::array<int64_t, kQuotients> of_entries_ = {};  // sums of the quotients of their indices
  QuotientSums direct_;                              // of the other symbols
  std::array<int64_t, kSymbols + 1> at_least_ = {};  // how many symbols are no less
  std::array<Choice, 6> best_;                       // by extent of the palette and zero runs
};

}  // namespace

int32_t bits_for(int32_t most) {
  int32_t bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

Statistics statistics_of(std::span<const int16_t> weights) {
  Statistics result;
  RunCounter runs;
  // Two tables, for the next weight is often the same symbol, and would wait until that is counted.
  std::array<int32_t, kSymbols> odd = {};
  size_t i = 0;
  for (; i + 1 < weights.size(); i += 2) {
    ++result.count[symbol_of(weights[i])];
    ++odd[symbol_of(weights[i + 1])];
    runs.add(weights[i]);
    runs.add(weights[i + 1]);
    if (i % RunCounter::kMost == 0) runs.take(result.zero_unary);
  }
  if (i < weights.size()) {
    ++result.count[symbol_of(weights[i])];
    runs.add(weights[i]);
  }
  runs.take(result.zero_unary);
  for (size_t s = 0; s < odd.size(); ++s) result.count[s] += odd[s];
  result.total = static_cast<int64_t>(weights.size());
  while (result.tail < result.total &&
         weights[static_cast<size_t>(result.total - 1 - result.tail)] == 0)
    ++result.tail;
  for (int32_t z = 0; z < kZeroDivisors; ++z)
    result.zero_unary[static_cast<size_t>(z)] -= result.tail >> z;
  return result;
}

StreamStatistics statistics_with_parts(std::span<const int16_t> weights) {
  StreamStatistics result;
  if (weights.size() < kParts * kLeastPart) {
    result.whole = statistics_of(weights);
    return result;
  }
  for (size_t i = 0; i < kParts; ++i) {
    const size_t begin = weights.size() * i / kParts, end = weights.size() * (i + 1) / kParts;
    const Statistics& part =
        result.parts.emplace_back(statistics_of(weights.subspan(begin, end - begin)));
    const int64_t tail = std::exchange(result.whole.tail, 0);
    result.whole.add(part);
    if (part.non_zero() == 0) {
      result.whole.tail += tail;
      continue;
    }
    // A run that goes on from one part to the next is one.
    int64_t leading = 0;
    while (weights[begin + static_cast<size_t>(leading)] == 0) ++leading;
    for (int32_t z = 0; z < kZeroDivisors; ++z)
      result.whole.zero_unary[static_cast<size_t>(z)] += ((tail + leading) >> z) - (leading >> z);
  }
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

std::vector<WeightCode> common_codes() {
  std::vector<WeightCode> codes;
  codes.reserve(2 * kWeightDivisors + 1);
  for (int32_t divisor = 0; divisor < kWeightDivisors; ++divisor) {
    codes.push_back({WeightCode::Kind::GolombRice, divisor});
    codes.push_back({WeightCode::Kind::Truncated, divisor});
  }
  return codes;
}

std::vector<WeightCode> codes_for(const Palette& palette, int32_t most) {
  std::vector<WeightCode> codes = common_codes();
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
