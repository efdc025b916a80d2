#include "legalise/sum_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kLow = -128, kHigh = 127;
constexpr size_t kValues = 256;
// Sums of 8 bits shifted left by 20 are below this; so are those of a table.
constexpr int64_t kMostSum = int64_t{1} << 30;
// TFLite's own, of two operands of 9 bits with their zero points, shifted by 19.
constexpr int32_t kMostTflSum = 1 << 29;
// Multipliers of the sum that are tried beside TFLite's own: what a half of a result's step lets them be beside it.
constexpr int32_t kBesideSum[] = {0, -4, 4, -16, 16, -64, 64};
// Multipliers of the smaller operand that are tried beside TFLite's own, where the other one is a constant of 16 bits.
constexpr int32_t kBesideOperand[] = {0, -1, 1, -2, 2, -3, 3, -5, 5, -8, 8, -13, 13};
// Factors of both operands: OPA_SCALE and OPB_SCALE have 16 bits in this mode, and with 15 it is all one whether one is a sign.
constexpr int32_t kMostFactor = (1 << 15) - 1;
// Pairs of factors that are tried. The closest to the ratio of the scales comes first, and is right for nearly all scales.
constexpr size_t kFactorPairs = 16;
constexpr int32_t kBesideFactor[] = {0, -1, 1, -2, 2, -4, 4, -8, 8, -16, 16, -32, 32};

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t ceil_div_signed(int64_t a, int64_t b) {
  return -floor_div(-a, b);
}

struct Interval {
  int64_t low = 0, high = 0;
};

// All pairs of 8-bit operands with their results.
class Pairs {
 public:
  Pairs(const Site& site, OperationKind kind, const TflSum& tfl)
      : zero_(zero_point_of(site.in(tfl.first_is_smaller ? 0 : 1))),
        other_zero_(zero_point_of(site.in(tfl.first_is_smaller ? 1 : 0))),
        out_zero_(zero_point_of(site.out())),
        sign_(kind == OperationKind::Sub && !tfl.first_is_smaller ? -1 : 1),
        other_sign_(kind == OperationKind::Sub && tfl.first_is_smaller ? -1 : 1) {
    if (tfl.sum.exponent >
        0) {  // sums may be shifted out of 32 bits, and results do not rise with them
      multiply_each(tfl);
      return;
    }
    const std::array<int32_t, kValues + 1> least = least_sums_of(tfl);
    const int32_t step = other_sign_ * (1 << (tfl.left_shift - 1));
    // The result of the first pair with a value of the smaller operand, from 0 on.
    size_t first = 0;
    for (size_t x = 0; x < kValues; ++x) {
      int32_t sum = sign_ * tfl.scaled_smaller(smaller(x)) + step * larger(0);
      int8_t* const results = results_.data() + x * kValues;
      while (least[first + 1] <= sum) ++first;
      while (first > 0 && least[first] > sum) --first;
      size_t result = first;
      // They rise with the larger operand or fall with it.
      for (size_t y = 0; y < kValues; ++y, sum += step) {
        if (step > 0)
          while (least[result + 1] <= sum) ++result;
        else
          while (result > 0 && least[result] > sum) --result;
        results[y] = static_cast<int8_t>(static_cast<int32_t>(result) + kLow);
      }
    }
  }

  int8_t result(size_t x, size_t y) const { return results_[x * kValues + y]; }
  int32_t other_sign() const { return other_sign_; }
  int32_t smaller(size_t x) const { return static_cast<int32_t>(x) + kLow - zero_; }
  int32_t larger(size_t y) const { return static_cast<int32_t>(y) + kLow - other_zero_; }
  int32_t out_zero() const { return out_zero_; }
  int32_t sign() const { return sign_; }

  // What may be added to `step` times the larger operand for each value of the smaller one, so that all results are
  // TFLite's. `least[r]`: the least sum with the result r - 128 or more.
  std::vector<Interval> intervals(const std::array<int64_t, kValues + 1>& least,
                                  int64_t step) const {
    std::vector<Interval> result(kValues, {-kMostSum, kMostSum});
    for (size_t x = 0; x < kValues; ++x)
      for (size_t y = 0; y < kValues; ++y) {
        const int64_t other = other_sign_ * step * larger(y);
        const auto r = static_cast<size_t>(results_[x * kValues + y] - kLow);
        if (r > 0) result[x].low = std::max(result[x].low, least[r] - other);
        if (r + 1 < kValues) result[x].high = std::min(result[x].high, least[r + 1] - 1 - other);
      }
    return result;
  }

 private:
  void multiply_each(const TflSum& tfl) {
    for (size_t x = 0; x < kValues; ++x) {
      const int32_t scaled = sign_ * tfl.scaled_smaller(smaller(x));
      for (size_t y = 0; y < kValues; ++y) {
        const int32_t other = other_sign_ * larger(y) * (1 << (tfl.left_shift - 1));
        const int32_t result = multiply(scaled + other, tfl.sum) + out_zero_;
        results_[x * kValues + y] = static_cast<int8_t>(std::clamp(result, kLow, kHigh));
      }
    }
  }

  // TFLite's results rise with the sum: the least one with each of them or a larger one, and more than any at the end.
  std::array<int32_t, kValues + 1> least_sums_of(const TflSum& tfl) const {
    std::array<int32_t, kValues + 1> least = {};
    least[kValues] = std::numeric_limits<int32_t>::max();
    int32_t from = -kMostTflSum;
    for (size_t r = 0; r < kValues; ++r) {
      int32_t low = from, high = kMostTflSum;
      while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (multiply(middle, tfl.sum) + out_zero_ >= static_cast<int32_t>(r) + kLow)
          high = middle;
        else
          low = middle + 1;
      }
      least[r] = from = low;
    }
    return least;
  }

  int32_t zero_, other_zero_, out_zero_, sign_, other_sign_;
  std::array<int8_t, kValues* kValues> results_ = {};
};

std::array<int64_t, kValues + 1> least_sums(const ChannelScale& sum, int32_t out_zero) {
  std::array<int64_t, kValues + 1> least = {};
  for (size_t r = 0; r < kValues; ++r) {
    int64_t low = -kMostSum, high = kMostSum;
    while (low < high) {
      const int64_t middle = floor_div(low + high, 2);
      if (scaled(middle, sum, Rounding::Tfl) + out_zero >= static_cast<int64_t>(r) + kLow)
        high = middle;
      else
        low = middle + 1;
    }
    least[r] = low;
  }
  return least;
}

// The multipliers with which all values of the smaller operand, rounded half up, lie in their intervals.
Interval common_multipliers(const Pairs& pairs, const std::vector<Interval>& intervals, int shift) {
  Interval common{1, (int64_t{1} << 31) - 1};
  const int64_t one = int64_t{1} << shift;
  for (size_t i = 0; i < kValues; ++i) {
    const int64_t x = pairs.smaller(i);
    const auto [low, high] =
        pairs.sign() > 0 ? intervals[i] : Interval{-intervals[i].high, -intervals[i].low};
    // Of the product of operand and multiplier.
    const int64_t least = low * one - one / 2, most = (high + 1) * one - one / 2 - 1;
    if (x == 0) {
      if (low > 0 || high < 0) return {1, 0};
    } else if (x > 0) {
      common.low = std::max(common.low, ceil_div_signed(least, x));
      common.high = std::min(common.high, floor_div(most, x));
    } else {
      common.low = std::max(common.low, ceil_div_signed(most, x));
      common.high = std::min(common.high, floor_div(least, x));
    }
  }
  return common;
}

// Two factors, of the operand with the smaller scale and of the other one.
struct Factors {
  int32_t smaller = 0, larger = 0;
};

// Those whose ratio is closest to `ratio`, the closest first.
std::vector<Factors> closest_fractions(double ratio) {
  // A heap of those that are kept, the worst of them in front, and room for one more.
  std::vector<std::pair<double, Factors>> kept;
  kept.reserve(kFactorPairs + 1);
  const auto is_closer = [](const auto& a, const auto& b) { return a.first < b.first; };
  for (int32_t larger = 1; larger <= kMostFactor; ++larger) {
    const double wanted = ratio * larger;  // no more than `larger`
    auto smaller = static_cast<int32_t>(wanted);
    smaller += wanted - smaller >= 0.5 ? 1 : 0;
    if (smaller < 1) continue;
    const double distance = std::abs(smaller / wanted - 1);
    if (kept.size() == kFactorPairs) {
      if (distance >= kept.front().first) continue;
      kept.push_back({distance, {smaller, larger}});
      std::pop_heap(kept.begin(), kept.end(), is_closer);
      kept.pop_back();
      continue;
    }
    kept.push_back({distance, {smaller, larger}});
    if (kept.size() == kFactorPairs) std::make_heap(kept.begin(), kept.end(), is_closer);
  }
  if (kept.size() < kFactorPairs) std::make_heap(kept.begin(), kept.end(), is_closer);
  std::sort_heap(kept.begin(), kept.end(), is_closer);
  std::vector<Factors> result;
  for (const auto& each : kept) result.push_back(each.second);
  return result;
}

// The sums of two products that stand for each result. What holds for a sum and for a larger one holds for all between them: of
// all pairs of operands these are the ones to look at.
class SumsOfResults {
 public:
  SumsOfResults(const Pairs& pairs, const Factors& factors) : out_zero_(pairs.out_zero()) {
    for_each_sum(pairs, factors, [&](size_t result, int32_t sum) {
      Extremes& of = extremes_[result];
      of.least = std::min(of.least, sum);
      of.most = std::max(of.most, sum);
    });
    // Few results have sums of both signs, or 0, for which those beside it are looked for.
    bool has_both = false;
    for (Extremes& of : extremes_) {
      if (of.least > of.most) continue;
      if (of.least > 0)
        of.least_positive = of.least;
      else if (of.most < 0)
        of.most_negative = of.most;
      else
        has_both = of.has_both = true;
    }
    if (!has_both) return;
    for_each_sum(pairs, factors, [&](size_t result, int32_t sum) {
      if (extremes_[result].has_both) extremes_[result].add_beside_zero(sum);
    });
  }

  // What they may be multiplied by, so that all results are TFLite's when they are rounded once; as the NPU's multiplier, from
  // the middle of what is allowed. Nothing where nothing serves all pairs.
  std::optional<ChannelScale> scale() const {
    double least = 0, most = 1;
    for (int32_t result = kLow; result <= kHigh; ++result) {
      const Extremes& of = extremes_[static_cast<size_t>(result - kLow)];
      // A result at the end of the range may stand for more than itself.
      const double low = result - out_zero_ - 0.5, high = low + 1;
      const bool below = result<kHigh, above = result> kLow;
      if (of.least_positive <= of.most)
        for (const int64_t each : {of.least_positive, of.most}) {
          const auto sum = static_cast<double>(each);
          if (above) least = std::max(least, low / sum);
          if (below) most = std::min(most, high / sum);
        }
      if (of.most_negative >= of.least)
        for (const int64_t each : {of.least, of.most_negative}) {
          const auto sum = static_cast<double>(each);
          if (above) most = std::min(most, low / sum);
          if (below) least = std::max(least, high / sum);
        }
    }
    if (least >= most) return std::nullopt;
    const double middle = (least + most) / 2;
    const int shift = 30 - std::ilogb(middle);
    if (shift > 63) return std::nullopt;
    return ChannelScale{.multiplier = static_cast<uint32_t>(std::lround(std::ldexp(middle, shift))),
                        .shift = shift};
  }

  bool are_served_by(const ChannelScale& scale) const {
    for (int32_t result = kLow; result <= kHigh; ++result) {
      const Extremes& of = extremes_[static_cast<size_t>(result - kLow)];
      if (of.least > of.most) continue;  // no pair has this result
      for (const int64_t sum : {of.least, of.most})
        if (std::clamp<int64_t>(scaled(sum, scale, Rounding::Natural) + out_zero_, kLow, kHigh) !=
            result)
          return false;
    }
    return true;
  }

 private:
  // Of numbers of 9 bits with factors of 15.
  template <class What>
  static void for_each_sum(const Pairs& pairs, const Factors& factors, const What& what) {
    const int32_t step = pairs.other_sign() * factors.larger;
    for (size_t x = 0; x < kValues; ++x) {
      int32_t sum = pairs.sign() * factors.smaller * pairs.smaller(x) + step * pairs.larger(0);
      for (size_t y = 0; y < kValues; ++y, sum += step)
        what(static_cast<size_t>(pairs.result(x, y) - kLow), sum);
    }
  }

  struct Extremes {
    int32_t least = std::numeric_limits<int32_t>::max(), most = std::numeric_limits<int32_t>::min();
    int32_t least_positive = std::numeric_limits<int32_t>::max(),
            most_negative = std::numeric_limits<int32_t>::min();
    bool has_both = false;

    void add_beside_zero(int32_t sum) {
      if (sum > 0) least_positive = std::min(least_positive, sum);
      if (sum < 0) most_negative = std::max(most_negative, sum);
    }
  };

  int32_t out_zero_;
  std::array<Extremes, kValues> extremes_;
};

LinearSum in_order(const TflSum& tfl, const Factors& factors, const ChannelScale& sum,
                   Rounding rounding) {
  const ChannelScale of_smaller{.multiplier = static_cast<uint32_t>(factors.smaller)},
      of_larger{.multiplier = static_cast<uint32_t>(factors.larger)};
  if (tfl.first_is_smaller) return {of_smaller, of_larger, sum, rounding};
  return {of_larger, of_smaller, sum, rounding};
}

// Both operands shifted left as TFLite has them in the end, where its factor of the smaller one is a power of two.
std::optional<LinearSum> sum_of_shifts(const TflSum& tfl) {
  const int shift = tfl.left_shift - 1 + tfl.smaller.exponent;
  const auto sum = channel_scale(tfl.sum);
  if (tfl.smaller.value != 1 << 30 || shift < 0 || !sum) return std::nullopt;
  return in_order(tfl, {1 << shift, 1 << (tfl.left_shift - 1)}, *sum, Rounding::Tfl);
}

bool same_operand(const Site& site, const TflSum& tfl, const ChannelScale& operand) {
  const Clamp range = range_of(site.out().type);
  const int32_t zero = zero_point_of(site.in(tfl.first_is_smaller ? 0 : 1));
  for (int32_t x = range.low; x <= range.high; ++x)
    if (tfl.scaled_smaller(x - zero) != scaled(x - zero, operand, Rounding::Tfl)) return false;
  return true;
}

}  // namespace

TflSum::TflSum(const Site& site) {
  left_shift = site.out().type == DataType::Int16 ? 15 : 20;
  const double a = scale_of(site.in(0)), b = scale_of(site.in(1));
  const double twice_largest = 2 * std::max(a, b);
  first_is_smaller = a < b;
  smaller = fixed_factor(std::min(a, b) / twice_largest);
  sum = fixed_factor(twice_largest / ((1 << left_shift) * scale_of(site.out())));
}

namespace {

// Of a sum of 16 bits with a constant of one element there are as many results as the other operand has values.
class SumsWithConstant {
 public:
  SumsWithConstant(const TflSum& tfl, OperationKind kind, bool constant_is_first, int32_t constant)
      : constant_is_smaller_(constant_is_first == tfl.first_is_smaller),
        constant_(constant),
        larger_shift_(tfl.left_shift - 1),
        first_is_smaller_(tfl.first_is_smaller),
        subtracts_(kind == OperationKind::Sub) {
    for (int32_t x = range_.low; x <= range_.high; ++x) {
      const int32_t smaller = tfl.scaled_smaller(constant_is_smaller_ ? constant_ : x);
      results_.push_back(static_cast<int16_t>(std::clamp(
          multiply(static_cast<int32_t>(sum_of(smaller, x)), tfl.sum), range_.low, range_.high)));
    }
  }

  // The registers beside TFLite's own that are right for all values.
  std::optional<SumScales> scales(const SumScales& tfl) {
    for (const int32_t beside_sum : kBesideSum)
      for (const int32_t beside : kBesideOperand) {
        SumScales scales = tfl;
        scales.operand.multiplier += static_cast<uint32_t>(beside);
        scales.sum.multiplier += static_cast<uint32_t>(beside_sum);
        if (are_served_by(scales)) return scales;
      }
    return std::nullopt;
  }

 private:
  // The operand that is not scaled is shifted left.
  int64_t sum_of(int64_t smaller, int32_t x) const {
    const int64_t larger = int64_t{constant_is_smaller_ ? x : constant_} * (1 << larger_shift_);
    if (!subtracts_) return smaller + larger;
    return first_is_smaller_ ? smaller - larger : larger - smaller;
  }

  bool is_right(int32_t x, const SumScales& scales) const {
    const int64_t sum =
        sum_of(scaled(constant_is_smaller_ ? constant_ : x, scales.operand, Rounding::Tfl), x);
    const int64_t result = scaled(sum, scales.sum, Rounding::Tfl);
    return std::clamp<int64_t>(result, range_.low, range_.high) ==
           results_[static_cast<size_t>(x - range_.low)];
  }

  // What was wrong the last time comes first: it is wrong again as a rule.
  bool are_served_by(const SumScales& scales) {
    if (!is_right(wrong_, scales)) return false;
    for (int32_t x = range_.low; x <= range_.high; ++x)
      if (!is_right(x, scales)) {
        wrong_ = x;
        return false;
      }
    return true;
  }

  Clamp range_ = range_of(DataType::Int16);
  bool constant_is_smaller_;
  int32_t constant_;
  int larger_shift_;
  bool first_is_smaller_, subtracts_;
  std::vector<int16_t> results_;
  int32_t wrong_ = 0;
};

// The only element of a constant of 16 bits.
std::optional<int32_t> single_element(const Site& site, size_t operand) {
  const graph::Tensor& tensor = site.in(operand);
  if (!tensor.constant.valid() || tensor.type != DataType::Int16 ||
      element_count(tensor.shape) != 1)
    return std::nullopt;
  const std::vector<uint8_t>& bytes = site.module.constant(tensor.constant).bytes;
  return static_cast<int16_t>(bytes[0] | bytes[1] << 8);
}

// Of a sum of 16 bits with a constant of one element; nothing where it is none, or where no registers serve all values.
std::optional<SumScales> scales_with_constant(const Site& site, OperationKind kind,
                                              const SumScales& own) {
  if (site.out().type != DataType::Int16 || own.operand.shift < 1 || own.operand.shift > 31)
    return std::nullopt;
  const std::optional<int32_t> first = single_element(site, 0), second = single_element(site, 1);
  if (!first && !second) return std::nullopt;
  const TflSum tfl(site);
  return SumsWithConstant(tfl, kind, first.has_value(), first ? *first : *second).scales(own);
}

}  // namespace

std::optional<SumScales> sum_scales(const Site& site, OperationKind kind) {
  const TflSum tfl(site);
  FixedFactor shifted = tfl.smaller;
  shifted.exponent += tfl.left_shift;
  const auto operand = channel_scale(shifted), sum = channel_scale(tfl.sum);
  if (!operand || !sum) return std::nullopt;
  if (same_operand(site, tfl, *operand)) return SumScales{*operand, *sum};
  if (const auto scales = scales_with_constant(site, kind, {*operand, *sum})) return scales;
  if (site.out().type != DataType::Int8 || operand->shift < 1 || operand->shift > 31)
    return std::nullopt;
  const Pairs pairs(site, kind, tfl);
  for (const int32_t beside : kBesideSum) {
    SumScales scales{*operand, *sum};
    scales.sum.multiplier += static_cast<uint32_t>(beside);
    const auto intervals = pairs.intervals(least_sums(scales.sum, pairs.out_zero()),
                                           int64_t{1} << (tfl.left_shift - 1));
    const Interval common = common_multipliers(pairs, intervals, operand->shift);
    if (common.low > common.high) continue;
    scales.operand.multiplier =
        static_cast<uint32_t>(std::clamp<int64_t>(operand->multiplier, common.low, common.high));
    return scales;
  }
  return std::nullopt;
}

namespace {

// Of 8 bits: all pairs of operands are gone through for each pair of factors.
std::optional<LinearSum> found_linear_sum(const Site& site, OperationKind kind) {
  const TflSum tfl(site);
  const Pairs pairs(site, kind, tfl);
  const size_t smaller = tfl.first_is_smaller ? 0 : 1;
  for (const Factors& factors :
       closest_fractions(scale_of(site.in(smaller)) / scale_of(site.in(1 - smaller)))) {
    const SumsOfResults sums(pairs, factors);
    const std::optional<ChannelScale> sum = sums.scale();
    if (!sum || !sums.are_served_by(*sum)) continue;
    return in_order(tfl, factors, *sum, Rounding::Natural);
  }
  return std::nullopt;
}

// What has been found. A sum is asked for where it is offered, where it is estimated, and in every program of its function.
class KnownSums {
 public:
  std::optional<LinearSum> of(const Site& site, OperationKind kind) {
    const Key key = {scale_of(site.in(0)),
                     scale_of(site.in(1)),
                     scale_of(site.out()),
                     zero_point_of(site.in(0)),
                     zero_point_of(site.in(1)),
                     zero_point_of(site.out()),
                     kind};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = found_.find(key); known != found_.end()) return known->second;
    }
    const std::optional<LinearSum> found = found_linear_sum(site, kind);
    const std::lock_guard lock(mutex_);
    if (found_.size() == kMost) found_.clear();
    found_.emplace(key, found);
    return found;
  }

 private:
  static constexpr size_t kMost = 4096;
  using Key = std::tuple<double, double, double, int32_t, int32_t, int32_t, OperationKind>;
  std::mutex mutex_;
  std::map<Key, std::optional<LinearSum>> found_;
};

}  // namespace

std::optional<LinearSum> linear_sum(const Site& site, OperationKind kind) {
  if (site.out().type == DataType::Int16) return sum_of_shifts(TflSum(site));
  if (site.out().type != DataType::Int8) return std::nullopt;
  static KnownSums known;
  return known.of(site, kind);
}

std::optional<LinearSum> rounded_sum(const Site& site) {
  const TflSum tfl(site);
  const size_t smaller = tfl.first_is_smaller ? 0 : 1;
  const double of_larger = scale_of(site.in(1 - smaller)), of_result = scale_of(site.out());
  const double ratio = scale_of(site.in(smaller)) / of_larger;
  const std::vector<Factors> closest = closest_fractions(ratio);
  if (closest.empty()) return std::nullopt;
  const Factors& factors = closest.front();
  const auto sum = channel_scale(of_larger / (factors.larger * of_result));
  if (!sum) return std::nullopt;
  // In steps of the result: how far the sum before its rounding is from the real one at most, here and with TFLite's roundings of
  // the smaller operand. TFLite's roundings of the sum move it by three quarters of a step at most, the one here by a half: as
  // long as both together are below the three quarters that are left of two steps, the results are at most one apart.
  const double most = site.out().type == DataType::Int16 ? 1 << 15 : 2 << 7;
  const double here = std::abs(static_cast<double>(factors.smaller) / factors.larger - ratio) *
                      most * of_larger / of_result;
  const double there = std::ldexp(3 * of_larger / of_result, -tfl.left_shift);
  if (here + there > 0.7) return std::nullopt;
  return in_order(tfl, factors, *sum, Rounding::Natural);
}

std::optional<TabledSum> tabled_sum(const Site& site, OperationKind kind) {
  if (site.out().type != DataType::Int8) return std::nullopt;
  const TflSum tfl(site);
  const Pairs pairs(site, kind, tfl);
  const double of_smaller = scale_of(site.in(tfl.first_is_smaller ? 0 : 1)) / scale_of(site.out());
  const double of_larger = scale_of(site.in(tfl.first_is_smaller ? 1 : 0)) / scale_of(site.out());
  // As many bits below a result's step as the largest sum leaves.
  const int32_t shift = 29 - std::ilogb(static_cast<double>(kValues) * (of_smaller + of_larger));
  if (shift < 1 || shift > 29) return std::nullopt;
  TabledSum sum{.table = {}, .factor = 0, .shift = shift};
  const ChannelScale rounded{.multiplier = 1, .shift = shift};
  const auto least = least_sums(rounded, pairs.out_zero());
  for (const int32_t beside : kBesideFactor) {
    sum.factor = static_cast<int32_t>(std::lround(std::ldexp(of_larger, shift))) + beside;
    const std::vector<Interval> intervals = pairs.intervals(least, sum.factor);
    if (std::any_of(intervals.begin(), intervals.end(),
                    [](const Interval& one) { return one.low > one.high; }))
      continue;
    for (size_t x = 0; x < kValues; ++x) {
      const auto plain = static_cast<int64_t>(std::llround(
          pairs.sign() * std::ldexp(of_smaller, shift) * static_cast<double>(pairs.smaller(x))));
      sum.table.push_back(
          static_cast<int32_t>(std::clamp(plain, intervals[x].low, intervals[x].high)));
    }
    return sum;
  }
  return std::nullopt;
}

std::optional<ChannelScale> smaller_scale(const Site& site) {
  if (site.out().type != DataType::Int16) return std::nullopt;
  auto scale = channel_scale(TflSum(site).smaller);
  if (scale) scale->multiplier *= 2;
  return scale;
}

}  // namespace intarsia::targets::ethos_u
