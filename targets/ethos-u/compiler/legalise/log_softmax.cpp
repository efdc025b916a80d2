// The logarithm of a softmax of int8, in gemmlowp's fixed point: both the rounded exponentials and the differences to the largest
// element are tables of 256 words, and the logarithm of the sum is made once a row, as a quotient of polynomials.
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/softmax_rows.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

constexpr int kResultBits = 4;  // before the point: steps of 1/16

class LogarithmsOfRows {
 public:
  LogarithmsOfRows(Builder& builder, const std::string& name, const SoftmaxDifferences& differences)
      : builder_(builder) {
    std::vector<int32_t> exponentials = softmax_exponentials(differences), below;
    for (int32_t& value : exponentials)
      value = rounding_shift_right(value, kAccumulationIntegerBits);
    // What is too far below the largest stays the least there is, whatever is subtracted from it.
    for (int32_t steps = -255; steps <= 0; ++steps)
      below.push_back(steps < differences.least ? std::numeric_limits<int32_t>::max()
                                                : -multiply(steps, differences.factor));
    exponentials_ = wide_table(builder, fmt::format("{}_exp", name), exponentials);
    below_ = wide_table(builder, fmt::format("{}_below", name), below);
  }

  void emit(const Operand& in, const Operand& out) {
    const Operand largest = emit_largest(builder_, in);
    const Operand exps = look_up_below(builder_, "exps", in, largest, exponentials_);
    const Operand sums = builder_.inner("sum", DataType::Int32, one_of_each_row(in.extent));
    Operation reduce = builder_.start(ReduceSum, exps, sums);
    reduce.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(reduce));
    const Operand logarithms =
        builder_.reshaped(logarithm(packed(builder_, sums)), one_of_each_row(in.extent));
    // The negative of the result, which is not negative and may be rounded half up.
    const Operand less =
        wide(builder_, Add, look_up_below(builder_, "below", in, largest, below_), logarithms);
    const Operand steps = wide_shifted(builder_, less, 26 - kResultBits, Rounding::Natural);
    Operation last = wide_operation(builder_, Sub, steps, constant(127), out);
    last.ofm.zero_point = 0;  // the 127 has it
    last.reverse_operands = true;
    builder_.emit(std::move(last));
  }

 private:
  // log(x) in Q5.26 of x >= 1 in Q12.19: x = r * 2^n with r around 2^(-1/4), n a quarter above or below a whole number, whichever
  // r is less.
  Operand logarithm(const Operand& x) {
    constexpr int32_t kLog2 = 1488522236, kRootHalf = 1518500250, kFourthRootHalf = 1805811301;
    constexpr int32_t kOneQ6 = 1 << 25, kQuarterQ6 = 1 << 23;
    const Operand zeros = leading_zeros(x), less = wide(builder_, Sub, zeros, constant(1));
    const Operand root_zeros = leading_zeros(high(x, constant(kRootHalf)));
    const Operand whole = wide(builder_, ShiftLeft, x, less);
    const Operand above = twice(high(whole, constant(kRootHalf)));
    // As much as without the root, or twice that; products saturate.
    const Operand below = wide(builder_, Mul, whole, wide(builder_, Sub, root_zeros, less));
    const Operand r = wide(builder_, Minimum, above, below);
    const auto power_of = [&](const Operand& count, int32_t most) {
      return wide_difference(builder_, most, wide(builder_, ShiftLeft, count, constant(25)));
    };
    const Operand power =
        wide(builder_, Maximum, power_of(zeros, kAccumulationIntegerBits * kOneQ6 + kQuarterQ6),
             power_of(root_zeros, (kAccumulationIntegerBits + 1) * kOneQ6 - kQuarterQ6));

    // (r + 2^(-1/4) + 1) / 2, of an odd constant.
    const Operand mean = wide(builder_, Add, wide_shifted(builder_, r, 1, Rounding::Truncate),
                              constant((kFourthRootHalf + 1) / 2));
    const Operand q = twice(wide(builder_, Sub, r, constant(kFourthRootHalf)));
    const Operand square = high(q, q);
    const Operand numerator =
        wide(builder_, Add, high(q, r), high(high(q, square), constant(117049297)));
    const Operand inner = wide(builder_, Add, wide(builder_, Add, q, constant(1057819769)),
                               high(square, constant(127690142)));
    const Operand denominator =
        wide(builder_, Add, high(mean, inner), high(q, constant(638450708)));
    // 1 / (1 + denominator), which is not negative.
    const Operand half =
        wide(builder_, Add, wide_shifted(builder_, denominator, 1, Rounding::Truncate),
             constant(1 << 30));
    const Operand reciprocal = twice(emit_reciprocals(builder_, half));
    // Shifted right by 6 bits, halves away from zero: what a product does behind its high half.
    const Operand rounded = wide(builder_, Mul, twice(numerator), constant(1 << 30), 31 + 6);
    return twice(wide(builder_, Add, high(power, constant(kLog2)), high(rounded, reciprocal)));
  }

  Operand constant(int32_t value) { return wide_constant(builder_, value); }
  Operand high(const Operand& a, const Operand& b) { return wide(builder_, Mul, a, b, 31); }
  Operand twice(const Operand& x) { return wide(builder_, Add, x, x); }
  Operand leading_zeros(const Operand& x) {
    const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, x.extent);
    builder_.emit(builder_.start(CountLeadingZeros, x, zeros));
    return zeros;
  }

  Builder& builder_;
  int32_t exponentials_ = -1, below_ = -1;
};

}  // namespace

Reason refuses_log_softmax(const Site& site) {
  const int64_t depth = site.in().shape.back(), rows = element_count(site.in().shape) / depth;
  if (rows > kMostExtent) return fmt::format("{} rows are above {}", rows, kMostExtent);
  return std::nullopt;
}

void legalise_log_softmax(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  LogarithmsOfRows rows(builder, node.name, softmax_differences(scale_of(site.in())));
  emit_in_bands_of_rows(builder, node,
                        [&](const Operand& in, const Operand& out) { rows.emit(in, out); });
}

}  // namespace intarsia::targets::ethos_u
