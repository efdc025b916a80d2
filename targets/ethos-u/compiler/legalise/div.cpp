// Quotients. A divisor of int8 has 256 values, and a table has for each of them what a numerator is multiplied with before the
// product is rounded, once. TFLite rounds four times; which factors give its results for all numerators lies in an interval,
// which is found as the model is compiled, by trying all pairs. By zero it divides to an end of the range, so that some
// factors are that much larger than others that 32 bits may not hold all of them: these are products of two. Where TFLite rounds
// a half up here and down there, as where the scales' quotient is a power of two, and of int16, its own steps are made on 32 bits.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "legalise/div_steps.h"
#include "legalise/elementwise.h"
#include "legalise/lookup.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int32_t kLeastByte = -128;
constexpr size_t kByteValues = 256;
// Numerators of nine bits times the first factor have 31.
constexpr int kMostFirstBits = 22;
// Bits that are rounded off. Behind the factor for division by zero there is room for these in one table, and in two.
constexpr int kBitsOfOne = 23, kBitsOfTwo = 44;

// floor(a / b)
int64_t divided_down(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t divided_up(int64_t a, int64_t b) {
  return -divided_down(-a, b);
}

struct FactorRange {
  int64_t low = std::numeric_limits<int64_t>::min() / 2,
          high = std::numeric_limits<int64_t>::max() / 2;
};

// result = (first[divisor] * second[divisor] * numerator) / 2^shift, rounded half up.
struct Reciprocals {
  std::vector<int32_t> first, second;  // no first ones where all of them are 1
  int shift = 0;
};

class QuotientPairs {
 public:
  explicit QuotientPairs(const Site& site)
      : results_(all_results_of_pairs(site)),
        zero_(zero_point_of(site.in(0))),
        out_zero_(zero_point_of(site.out())),
        clamp_(clamp_of(site.node.attrs<graph::BinaryAttrs>().activation, site.out())) {}

  // With one table, or else with two; nothing where TFLite's results are no products.
  std::optional<Reciprocals> reciprocals() const {
    for (const auto& [shift, first_bits] :
         {std::pair{kBitsOfOne, 0}, {kBitsOfTwo, kMostFirstBits}}) {
      Reciprocals found{{}, {}, shift};
      while (found.second.size() < kByteValues && append_factors(found, first_bits)) continue;
      if (found.second.size() < kByteValues) continue;
      if (first_bits == 0) found.first.clear();
      return found;
    }
    return std::nullopt;
  }

 private:
  // The numerator's factors that give the results for the divisor with this index.
  FactorRange factors(size_t divisor, int shift) const {
    const int64_t half = int64_t{1} << (shift - 1);
    FactorRange range;
    for (size_t x = 0; x < kByteValues; ++x) {
      const int32_t numerator = static_cast<int32_t>(x) + kLeastByte - zero_;
      const int32_t result = static_cast<int8_t>(results_[x * kByteValues + divisor]);
      if (numerator == 0) continue;
      // The least and the largest product that give the result; what is beyond an end of the range gives that.
      const int64_t steps = result - out_zero_;
      const int64_t least = steps * 2 * half - half, most = least + 2 * half - 1;
      const bool has_least = result > clamp_.low, has_most = result < clamp_.high;
      // Of a negative numerator the least product is that of the largest factor.
      const bool rises = numerator > 0;
      if (rises ? has_least : has_most)
        range.low = std::max(range.low, divided_up(rises ? least : most, numerator));
      if (rises ? has_most : has_least)
        range.high = std::min(range.high, divided_down(rises ? most : least, numerator));
    }
    return range;
  }

  bool append_factors(Reciprocals& found, int first_bits) const {
    const FactorRange range = factors(found.second.size(), found.shift);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    for (int bits = 0; bits <= first_bits; ++bits) {
      const int64_t first = int64_t{1} << bits;
      const int64_t low = std::max(divided_up(range.low, first), -kMost),
                    high = std::min(divided_down(range.high, first), kMost);
      if (low > high) continue;
      found.first.push_back(static_cast<int32_t>(first));
      found.second.push_back(static_cast<int32_t>(std::clamp<int64_t>(0, low, high)));
      return true;
    }
    return false;
  }

  std::vector<uint8_t> results_;
  int32_t zero_, out_zero_;
  Clamp clamp_;
};

std::shared_ptr<const std::optional<Reciprocals>> reciprocals_of(const Site& site) {
  static KnownOfSites<std::optional<Reciprocals>> known;
  return known.of(site, [](const Site& one) { return QuotientPairs(one).reciprocals(); });
}

class TabledQuotients {
  using enum OperationKind;

 public:
  TabledQuotients(Builder& builder, const Node& node, const Site& site)
      : builder_(builder),
        shift_((*reciprocals_of(site))->shift),
        clamp_(clamp_of(node.attrs<graph::BinaryAttrs>().activation, site.out())) {
    const Reciprocals& reciprocals = **reciprocals_of(site);
    if (!reciprocals.first.empty())
      first_ = wide_table(builder, fmt::format("{}_first", node.name), reciprocals.first);
    second_ = wide_table(builder, fmt::format("{}_second", node.name), reciprocals.second);
  }

  std::vector<Operand> of_divisors(const Operand& divisor) {
    std::vector<Operand> factors;
    for (const int32_t table : {first_, second_})
      if (table >= 0) factors.push_back(wide_looked_up(builder_, divisor, table));
    return factors;
  }

  void emit(const Operand& numerator, const std::vector<Operand>& by, const Operand& out) {
    const Operand whole = widened(builder_, numerator, 0);
    // The second one may repeat.
    const bool swaps = numerator.extent != out.extent;
    const Operand &a = swaps ? by.front() : whole, &b = swaps ? whole : by.front();
    if (by.size() == 1) return emit_last(a, b, out);
    emit_last(wide(builder_, Mul, a, b), by.back(), out);
  }

 private:
  void emit_last(const Operand& a, const Operand& b, const Operand& out) {
    Operation last = wide_operation(builder_, Mul, a, b, out, shift_);
    last.rounding = Rounding::Natural;
    last.clamp_low = clamp_.low;
    last.clamp_high = clamp_.high;
    builder_.emit(std::move(last));
  }

  Builder& builder_;
  int shift_;
  Clamp clamp_;
  int32_t first_ = -1, second_ = -1;
};

// What is computed of divisors that repeat is computed once, where that takes little memory beside the output: it has 32 bits.
constexpr int64_t kLeastRepeats = 4;

// The part of `of`, which has the elements of `all`, that `part` is of that.
Operand part_like(const Operand& of, const Operand& all, const Operand& part) {
  const Extent &to = part.origin, &from = all.origin;
  return box(of, {to.height - from.height, to.width - from.width, to.depth - from.depth},
             part.extent);
}

template <typename Way>
void emit_quotients(Builder& builder, const Node& node, Way way) {
  Operands all = operands_of(builder, node);
  for (Operand* operand : {&all.a, &all.b})
    if (operand->extent != all.out.extent) *operand = near_constant(builder, *operand);
  const Operand& divisors = all.b;
  std::vector<Operand> ready;
  if (divisors.step == Extent{} && !divisors.walk &&
      divisors.extent.elements() * kLeastRepeats <= all.out.extent.elements())
    for (const Operand& of_each : way.of_divisors(packed(builder, divisors)))
      ready.push_back(builder.reshaped(of_each, divisors.extent));
  in_symmetric_bands(builder, node, all, [&](const Operands& band, bool swapped) {
    const Operand &numerator = swapped ? band.b : band.a, &divisor = swapped ? band.a : band.b;
    std::vector<Operand> by;
    for (const Operand& of_each : ready) by.push_back(part_like(of_each, divisors, divisor));
    way.emit(numerator, by.empty() ? way.of_divisors(divisor) : by, band.out);
  });
}

// Which operand of int8 is one known number, so that quotients follow from the other one alone.
std::optional<size_t> known_operand(const Site& site) {
  for (const size_t i : {size_t{0}, size_t{1}})
    if (site.in(i).type == DataType::Int8 && site.in(i).constant.valid() &&
        element_count(site.in(i).shape) == 1 &&
        element_count(site.in(1 - i).shape) == element_count(site.out().shape))
      return i;
  return std::nullopt;
}

void emit_table(Builder& builder, const Node& node, const Site& site, size_t known) {
  const std::vector<uint8_t> pairs = all_results_of_pairs(site);
  const auto value =
      static_cast<int8_t>(site.module.constant(site.in(known).constant).bytes.data()[0]);
  const auto index = static_cast<size_t>(value - kLeastByte);
  std::vector<uint8_t> table;
  for (size_t i = 0; i < kByteValues; ++i)
    table.push_back(pairs[known == 0 ? index * kByteValues + i : i * kByteValues + index]);
  const Operand out = builder.write(node.outputs.at(0));
  builder.look_up(builder.read_as(node.inputs.at(1 - known), out.extent), out, node.name,
                  std::move(table));
}

}  // namespace

Reason refuses_div(const Site& site) {
  if (Reason reason = refuses_pairing(site)) return reason;
  if (site.in(1).type != site.in(0).type || site.out().type != site.in(0).type)
    return fmt::format("{} by {} is made into {}", to_string(site.in(0).type),
                       to_string(site.in(1).type), to_string(site.in(0).type));
  if (quotient_factor(site).value == 0)
    return std::string("the output's scale is too large for the operands' scales");
  return std::nullopt;
}

void legalise_div(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (const std::optional<size_t> known = known_operand(site))
    emit_table(builder, node, site, *known);
  else if (site.in(1).type == DataType::Int8 && *reciprocals_of(site))
    emit_quotients(builder, node, TabledQuotients(builder, node, site));
  else
    emit_quotients(builder, node, QuotientSteps(builder, site));
}

}  // namespace intarsia::targets::ethos_u
