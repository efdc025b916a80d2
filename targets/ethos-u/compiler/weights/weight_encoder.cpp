#include "weights/weight_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <utility>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "weights/code_rows.h"
#include "weights/slice_bound.h"
#include "weights/weight_choice.h"
#include "weights/weight_columns.h"
#include "weights/weight_sections.h"
#include "weights/weight_slice.h"

namespace intarsia::targets::ethos_u {
namespace {

// Places where the parameters may change within a palette: this many values apart. Fewer places in long
// sections, where each change gains less of the whole and takes as long to find.
size_t block_of(size_t values) {
  return values <= 2048 ? 1 : values <= 8192 ? 2 : values <= 32768 ? 4 : 8;
}

// The runs of zeros in front of every other weight of a section and behind the last, which palettes do not change.
struct Runs {
  std::vector<int32_t> lengths;
  std::vector<std::array<int16_t, kZeroDivisors>> bits;  // of each block of values
};

std::shared_ptr<const Runs> runs_of(std::span<const int16_t> weights) {
  auto result = std::make_shared<Runs>();
  std::vector<int32_t>& lengths = result->lengths;
  lengths.resize(weights.size() + 1);
  int32_t run = 0;
  size_t values = 0;
  for (const int16_t weight : weights) {
    lengths[values] = run;
    values += weight != 0 ? 1 : 0;
    run = weight != 0 ? 0 : run + 1;
  }
  lengths[values] = run;
  // Of nothing but zeros the first is coded as a weight.
  if (values == 0) {
    lengths = {0, run - 1};
    values = 1;
  }
  lengths.resize(values + 1);
  const size_t block = block_of(values);
  for (size_t begin = 0; begin < values; begin += block) {
    const size_t end = std::min(begin + block, values);
    std::array<int32_t, kZeroDivisors> bits;
    for (size_t z = 0; z < bits.size(); ++z)
      bits[z] = static_cast<int32_t>((end - begin) * (1 + z)) + (begin == 0 ? lengths[0] >> z : 0);
    for (size_t i = begin; i < end; ++i)
      for (size_t z = 0; z < bits.size(); ++z) bits[z] += lengths[i + 1] >> z;
    std::array<int16_t, kZeroDivisors>& few = result->bits.emplace_back();
    for (size_t z = 0; z < bits.size(); ++z)
      few[z] = static_cast<int16_t>(std::min(bits[z], kMostRunBits));
  }
  return result;
}

// A section's weights as the indices that its palette and mode make of them.
struct Coded {
  std::vector<uint16_t> indices;
  std::shared_ptr<const Runs> runs;  // one more than indices; none where zeros are indices too
};

// Without its runs.
Coded code_values(std::span<const int16_t> weights, const Choice& choice, int32_t most_weight) {
  const std::array<int32_t, kSymbols> index_of = indices_under(choice.palette);
  std::array<uint16_t, 2 * kMostWeight + 1> index_of_weight;
  for (int32_t weight = -most_weight; weight <= most_weight; ++weight)
    index_of_weight[static_cast<size_t>(weight + kMostWeight)] =
        static_cast<uint16_t>(index_of[symbol_of(weight)]);
  const auto index = [&](int16_t weight) {
    return index_of_weight[static_cast<size_t>(weight + kMostWeight)];
  };
  Coded coded;
  coded.indices.resize(weights.size());
  if (!choice.zero_runs) {
    std::transform(weights.begin(), weights.end(), coded.indices.begin(), index);
    return coded;
  }
  size_t values = 0;
  for (const int16_t weight : weights) {
    coded.indices[values] = index(weight);
    values += weight != 0 ? 1 : 0;
  }
  coded.indices.resize(std::max<size_t>(values, 1));
  return coded;
}

struct SliceChoice {
  size_t end = 0;  // values
  WeightCode code;
  int32_t zero_divisor = 0;
};

// Where the parameters change within a section: the shortest path through blocks of values, whose
// states are a code and, with runs of zeros, their divisor.
class SliceSearch {
 public:
  SliceSearch(const Coded& coded, const Choice& choice, int32_t slice_worth) : coded_(coded) {
    codes_ = codes_for(choice.palette, choice.most);
    INTARSIA_CHECK(codes_.size() <= kColumns, "every code has its column");
    const int32_t most_worth = std::min(slice_worth, kNoCode / 2);
    change_ = Columns::filled(kNoCode);
    for (size_t c = 0; c < codes_.size(); ++c)
      change_.set(c, static_cast<int32_t>(slice_bits(codes_[c], choice.zero_runs)) + most_worth);
    rows_ = bits_by_index(codes_, static_cast<size_t>(choice.most) + 1);
  }

  // Bits of the values in slices of any number, with what `change` takes at least.
  SliceBound bound(int64_t change) const { return slice_bound(coded_.indices, rows_, change); }

  std::vector<SliceChoice> run() const {
    return coded_.runs == nullptr ? path<1>() : path<kZeroDivisors>();
  }

 private:
  // Which states of a block have the least cost before it, and which are entered anew: for each divisor of runs a bit of each
  // code.
  template <size_t kRows>
  struct Step {
    std::array<uint16_t, kRows> least, changed;
  };

  template <size_t kRows>
  std::vector<SliceChoice> path() const {
    const size_t values = coded_.indices.size(), block = block_of(values);
    const size_t blocks = ceil_div(values, block);
    std::array<Columns, kRows> cost;
    cost.fill(change_);
    std::vector<Step<kRows>> steps(blocks + 1);
    for (size_t b = 0; b < blocks; ++b) {
      const size_t begin = b * block, end = std::min(begin + block, values);
      Columns bits = rows_[coded_.indices[begin]];
      for (size_t i = begin + 1; i < end; ++i) bits.add_saturated(rows_[coded_.indices[i]]);
      bits = within_possible(bits);
      const Columns::Eight least = least_cost(cost);
      for (size_t z = 0; z < kRows; ++z) {
        steps[b].least[z] = equal(cost[z], least);
        // Costs are kept relative to the least, so that they stay small.
        cost[z] -= least;
        steps[b].changed[z] = less(change_, cost[z]);
        cost[z] = least_of(cost[z], change_);
        cost[z] += bits;
      }
      if constexpr (kRows > 1)
        for (size_t z = 0; z < kRows; ++z) cost[z] += Columns::eight(coded_.runs->bits[b][z]);
    }
    const Columns::Eight least = least_cost(cost);
    for (size_t z = 0; z < kRows; ++z) steps[blocks].least[z] = equal(cost[z], least);
    size_t state = first_of(steps[blocks].least), end = values;
    std::vector<SliceChoice> slices;
    for (size_t b = blocks; b-- > 0;) {
      const uint16_t flags = steps[b].changed[state / kColumns];
      if (b > 0 && (flags >> (state % kColumns) & 1) == 0) continue;
      slices.push_back({end, codes_.at(state % kColumns), static_cast<int32_t>(state / kColumns)});
      end = b * block;
      state = first_of(steps[b].least);
    }
    std::reverse(slices.begin(), slices.end());
    return slices;
  }

  template <size_t kRows>
  static Columns::Eight least_cost(const std::array<Columns, kRows>& cost) {
    Columns all = cost[0];
    for (size_t z = 1; z < kRows; ++z) all = least_of(all, cost[z]);
    return all.least();
  }
  template <size_t kRows>
  static size_t first_of(const std::array<uint16_t, kRows>& states) {
    size_t z = 0;
    while (states[z] == 0) ++z;
    return z * kColumns + static_cast<size_t>(std::countr_zero(states[z]));
  }

  const Coded& coded_;
  std::vector<WeightCode> codes_;
  Columns change_;             // bits of another slice, by code
  std::vector<Columns> rows_;  // bits of an index, by code
};

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

// The exact size of a section in slices, whose ends move by a few values where that makes it smaller: a
// unary field that is full, or one less.
class ExactSlices {
 public:
  ExactSlices(const Coded& coded, const Choice& choice, std::vector<SliceChoice> slices)
      : coded_(coded), choice_(choice), slices_(within_limit(slices)) {
    size_t begin = 0;
    for (const SliceChoice& slice : slices_) {
      sums_.push_back(sums_of(slice, begin));
      begin = slice.end;
    }
    for (int round = 0; round < kRounds; ++round)
      for (size_t i = 0; i + 1 < slices_.size(); ++i) move_end(i);
  }

  const std::vector<SliceChoice>& slices() const { return slices_; }
  int64_t bits() const {
    int64_t total = choice_.palette.header_bits();
    for (size_t i = 0; i < slices_.size(); ++i) total += kSliceHeaderBits + size(i, sums_[i]);
    return total;
  }

 private:
  static constexpr int kRounds = 2;
  static constexpr size_t kFarthest = 12;

  struct Sums {
    int64_t values = 0, first = 0, second = 0, zeros = 0;
  };

  Sums sums_of(const SliceChoice& slice, size_t begin) const {
    Sums sums;
    sums.values = static_cast<int64_t>(slice.end - begin);
    if (slice.code.kind != WeightCode::Kind::Uncompressed) {
      // How often each quotient occurs says the rest: a truncated code has no other than those that it takes.
      const auto most = static_cast<size_t>(choice_.most >> slice.code.divisor);
      std::array<int32_t, kSymbols> count;
      std::fill_n(count.begin(), most + 1, 0);
      for (size_t i = begin; i < slice.end; ++i) ++count[coded_.indices[i] >> slice.code.divisor];
      for (size_t quotient = 0; quotient <= most; ++quotient) {
        const UnaryBits bits =
            unary_bits(slice.code, static_cast<int32_t>(quotient) << slice.code.divisor);
        sums.first += int64_t{count[quotient]} * bits.first;
        sums.second += int64_t{count[quotient]} * bits.second;
      }
    }
    if (begin == 0) add_run(slice, 0, 1, sums);
    if (choice_.zero_runs)
      for (size_t i = begin; i < slice.end; ++i) add_run(slice, i + 1, 1, sums);
    return sums;
  }
  void add_run(const SliceChoice& slice, size_t run, int64_t times, Sums& sums) const {
    if (choice_.zero_runs)
      sums.zeros += times * ((coded_.runs->lengths[run] >> slice.zero_divisor) + 1);
  }
  void add(const SliceChoice& slice, size_t value, int64_t times, Sums& sums) const {
    sums.values += times;
    if (slice.code.kind != WeightCode::Kind::Uncompressed) {
      const UnaryBits bits = unary_bits(slice.code, coded_.indices[value]);
      sums.first += times * bits.first;
      sums.second += times * bits.second;
    }
    add_run(slice, value + 1, times, sums);
  }
  int64_t size(size_t i, const Sums& sums) const {
    const SliceChoice& slice = slices_[i];
    return weight_bits(slice.code, sums.values, sums.first, sums.second) +
           (choice_.zero_runs
                ? zero_bits(slice.zero_divisor, sums.values + (i == 0 ? 1 : 0), sums.zeros)
                : 0);
  }

  void move_end(size_t i) {
    SliceChoice &left = slices_[i], &right = slices_[i + 1];
    const size_t begin = i == 0 ? 0 : slices_[i - 1].end, end = left.end;
    Sums best_left = sums_[i], best_right = sums_[i + 1];
    size_t best_end = end;
    int64_t least = size(i, best_left) + size(i + 1, best_right);
    const auto take = [&](const Sums& l, const Sums& r, size_t at) {
      const int64_t bits = size(i, l) + size(i + 1, r);
      if (bits >= least) return;
      least = bits;
      best_left = l;
      best_right = r;
      best_end = at;
    };
    Sums l = sums_[i], r = sums_[i + 1];
    for (size_t at = end; at < std::min(end + kFarthest, right.end - 1); take(l, r, ++at)) {
      if (l.values == kSliceValues || !codable(left.code, coded_.indices[at])) break;
      add(left, at, 1, l);
      add(right, at, -1, r);
    }
    l = sums_[i];
    r = sums_[i + 1];
    for (size_t at = end; at > begin + 1 && at + kFarthest > end; take(l, r, --at)) {
      if (r.values == kSliceValues || !codable(right.code, coded_.indices[at - 1])) break;
      add(left, at - 1, -1, l);
      add(right, at - 1, 1, r);
    }
    left.end = best_end;
    sums_[i] = best_left;
    sums_[i + 1] = best_right;
  }

  const Coded& coded_;
  const Choice& choice_;
  std::vector<SliceChoice> slices_;
  std::vector<Sums> sums_;
};

void write_section(const Coded& coded, const Choice& choice, const std::vector<SliceChoice>& slices,
                   BitWriter& out) {
  size_t begin = 0;
  for (const SliceChoice& part : slices) {
    Slice slice;
    slice.values = std::span(coded.indices).subspan(begin, part.end - begin);
    slice.has_zero_runs = choice.zero_runs;
    const size_t first_run = begin == 0 ? 0 : begin + 1;
    if (choice.zero_runs)
      slice.zero_runs = std::span(coded.runs->lengths).subspan(first_run, part.end + 1 - first_run);
    slice.code = part.code;
    slice.zero_divisor = part.zero_divisor;
    slice.new_palette = begin == 0 ? &choice.palette : nullptr;
    write_slice(slice, out);
    begin = part.end;
  }
}

struct Section {
  Choice choice;
  Coded coded;
  std::vector<SliceChoice> slices;
  int64_t bits = kNever;
  int64_t worth = kNever;  // the bits, and what its headers are worth beside them
};

constexpr int32_t kMostBitsOfValue = 37;

// The least bits of an index under the codes that every palette has.
int32_t least_common_bits(size_t index) {
  static const std::array<uint8_t, kSymbols> least = [] {
    std::array<uint8_t, kSymbols> bits;
    for (size_t i = 0; i < bits.size(); ++i) {
      int32_t fewest = kMostBitsOfValue;
      for (const WeightCode& code : common_codes())
        if (codable(code, static_cast<int32_t>(i)))
          fewest = std::min(fewest, bits_of(code, static_cast<int32_t>(i)));
      bits[i] = static_cast<uint8_t>(fewest);
    }
    return bits;
  }();
  return least[index];
}

// The smallest way to code the weights behind one palette, and the first of those.
class SectionMaker {
 public:
  SectionMaker(std::span<const int16_t> weights, const Statistics& statistics,
               const HeaderWorth& worth)
      : weights_(weights),
        statistics_(statistics),
        worth_(worth),
        choices_(choose_each(statistics, true)) {
    while (symbols_ > 1 && statistics.count[symbols_ - 1] == 0) --symbols_;
  }

  // None, which is worth kNever, where it is known that it is worth more than `most`.
  Section run(int64_t most) {
    if (weights_.size() > kSliceValues) {
      for (size_t at = 0; at < choices_.size(); ++at) try_long(at);
      return std::move(best_);
    }
    std::vector<size_t> order(choices_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return worth_of_one(a) < worth_of_one(b); });
    best_at_ = order[0];
    best_.worth = worth_of_one(best_at_);
    for (const size_t at : order) try_short(at, most);
    if (best_.worth > most) return {};
    if (best_.slices.empty()) take_one();
    return std::move(best_);
  }

 private:
  int64_t worth_of_headers(const Choice& choice, int64_t slices) const {
    return worth_.palette + worth_.entry * std::ssize(choice.palette.symbols) +
           worth_.slice * slices;
  }
  // As one slice, which is as long as one may be.
  int64_t worth_of_one(size_t at) const {
    return choices_[at].bits + worth_of_headers(choices_[at], 1);
  }
  Coded coded(const Choice& choice) const {
    return code_values(weights_, choice, static_cast<int32_t>((symbols_ - 1) / 2));
  }
  void add_runs(const Choice& choice, Coded& values) {
    if (!choice.zero_runs) return;
    if (runs_ == nullptr) runs_ = runs_of(weights_);
    values.runs = runs_;
  }
  // What it is worth at least in more than one slice, where the values take so many bits with what changes take.
  int64_t least_of_several(const Choice& choice, int64_t bits) const {
    // A run has a bit at least.
    const int64_t runs = choice.zero_runs ? statistics_.non_zero() + 1 : 0;
    return choice.palette.header_bits() + kSliceHeaderBits + worth_of_headers(choice, 1) + runs +
           bits;
  }
  int64_t change() const { return kSliceHeaderBits + worth_.slice; }
  // From how often each symbol occurs.
  int64_t least_by_counts(const Choice& choice) const {
    const std::array<int32_t, kSymbols> indices = indices_under(choice.palette);
    const WeightCode last = codes_for(choice.palette, choice.most).back();
    const int32_t raw =
        last.kind == WeightCode::Kind::Uncompressed ? last.divisor : kMostBitsOfValue;
    int64_t bits = change();
    for (size_t s = choice.zero_runs ? 1 : 0; s < symbols_; ++s)
      if (statistics_.count[s] > 0)
        bits += int64_t{statistics_.count[s]} *
                std::min(raw, least_common_bits(static_cast<size_t>(indices[s])));
    return least_of_several(choice, bits);
  }

  // In one slice it takes what is known, and of two that are worth the same the first is taken.
  void try_short(size_t at, int64_t most) {
    const Choice& choice = choices_[at];
    const bool is_earlier =
        at < best_at_ || (at == best_at_ && best_.slices.empty());  // than what is the best now
    const auto may_win = [&](int64_t worth) {
      return worth <= most && (worth < best_.worth || (worth == best_.worth && is_earlier));
    };
    if (!may_win(least_by_counts(choice))) return;
    Coded values = coded(choice);
    const SliceSearch search(values, choice, worth_.slice);
    // Without runs of zeros the way itself is found as quickly as the bound.
    if (choice.zero_runs && !may_win(least_of_several(choice, search.bound(change()).several)))
      return;
    add_runs(choice, values);
    const std::vector<SliceChoice> several = search.run();
    if (several.size() == 1) return;
    const ExactSlices exact(values, choice, several);
    const int64_t bits = exact.bits();
    const int64_t worth = bits + worth_of_headers(choice, std::ssize(exact.slices()));
    if (!may_win(worth)) return;
    best_at_ = at;
    best_ = {choice, std::move(values), exact.slices(), bits, worth};
  }
  void take_one() {
    best_.choice = choices_[best_at_];
    best_.coded = coded(best_.choice);
    add_runs(best_.choice, best_.coded);
    best_.slices = {{best_.coded.indices.size(), best_.choice.code, best_.choice.zero_divisor}};
    best_.bits = best_.choice.bits;
  }

  // Longer than a slice may be: what one code takes is only known when that has been cut.
  void try_long(size_t at) {
    const Choice& choice = choices_[at];
    Coded values = coded(choice);
    const SliceSearch search(values, choice, worth_.slice);
    const bool may_be_several =
        best_.worth == kNever ||
        (least_by_counts(choice) < best_.worth &&
         (!choice.zero_runs ||
          least_of_several(choice, search.bound(change()).several) < best_.worth));
    add_runs(choice, values);
    Section
        made;  // the better of the two ways, without what is coded: that is as long as all weights
    const auto try_slices = [&](const std::vector<SliceChoice>& slices) {
      const ExactSlices exact(values, choice, slices);
      const int64_t bits = exact.bits();
      const int64_t worth = bits + worth_of_headers(choice, std::ssize(exact.slices()));
      if (worth < std::min(best_.worth, made.worth)) made = {{}, {}, exact.slices(), bits, worth};
    };
    if (may_be_several) {
      const std::vector<SliceChoice> several = search.run();
      if (several.size() > 1) try_slices(several);
    }
    if (choice.bits + worth_.palette < std::min(best_.worth, made.worth))
      try_slices({{values.indices.size(), choice.code, choice.zero_divisor}});
    if (made.worth == kNever) return;
    made.choice = choice;
    made.coded = std::move(values);
    best_ = std::move(made);
  }

  std::span<const int16_t> weights_;
  const Statistics& statistics_;
  const HeaderWorth& worth_;
  std::vector<Choice> choices_;
  size_t symbols_ = kSymbols;  // up to the last that occurs
  std::shared_ptr<const Runs> runs_;
  Section best_;
  size_t best_at_ = 0;
};

struct Stream {
  std::vector<Section> sections;
  int64_t bits = 0, worth = 0;

  void add(Section section) {
    bits += section.bits;
    worth += section.worth;
    sections.push_back(std::move(section));
  }
};

}  // namespace

std::vector<uint8_t> encode_weights(std::span<const int16_t> weights, WeightHeaders* headers,
                                    const HeaderWorth& worth) {
  INTARSIA_CHECK(!weights.empty(), "a stream has at least one weight");
  const StreamStatistics statistics = statistics_with_parts(weights);
  const std::vector<size_t> ends = choose_sections(weights, statistics, worth);
  Stream several, best;
  if (ends.size() > 1) {
    size_t begin = 0;
    for (const size_t end : ends) {
      const auto part = weights.subspan(begin, end - begin);
      several.add(SectionMaker(part, statistics_of(part), worth).run(kNever));
      begin = end;
    }
  }
  const bool is_cut = ends.size() > 1;
  Section whole =
      SectionMaker(weights, statistics.whole, worth).run(is_cut ? several.worth : kNever);
  if (is_cut && several.worth < whole.worth)
    best = std::move(several);
  else
    best.add(std::move(whole));
  BitWriter out;
  for (const Section& section : best.sections)
    write_section(section.coded, section.choice, section.slices, out);
  INTARSIA_CHECK(out.bits() == best.bits, "sections have the size that they were chosen for");
  write_end_of_stream(out);
  if (headers != nullptr)
    for (const Section& section : best.sections) {
      headers->slices += std::ssize(section.slices);
      headers->palettes += 1;
      headers->entries += std::ssize(section.choice.palette.symbols);
    }
  return out.finish(16);
}

int64_t estimate_weight_bytes(std::span<const int16_t> weights) {
  return choose(statistics_of(weights), false).bits / 8;
}

}  // namespace intarsia::targets::ethos_u
