// Rows divided by their lengths: TFLite's fixed point on 32 bits, with one over the square root of a row's sum of squares. The
// results, in steps of 1/128, are rounded once where a row's shift is to the left, and twice beyond.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/inverse_roots.h"
#include "legalise/softmax_rows.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

constexpr int64_t kMostSquares = int64_t{1} << 29;  // sums that begin without a shift to the right
// Below 2^21 there are four pairs of leading zeros and more, which the results are shifted left by.
constexpr int32_t kPairsBeforeRight = 4;
constexpr int64_t kMostLeftSquares = int64_t{1} << 21;

int64_t most_squares(const Site& site) {
  const int64_t zero = zero_point_of(site.in()), most = std::max(zero + 128, 127 - zero);
  return site.in().shape.back() * most * most;
}

class RowsByLength {
 public:
  RowsByLength(Builder& builder, bool may_shift_right)
      : builder_(builder), may_shift_right_(may_shift_right) {}

  void emit(const Operand& in, const Operand& out) {
    const Extent one = one_of_each_row(in.extent);
    const Operand sums = builder_.inner("sum_of_squares", DataType::Int32, one);
    Operation reduce = builder_.start(ReduceSum, squares(in), sums);
    reduce.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(reduce));
    const InverseRoots roots = emit_inverse_roots(builder_, packed(builder_, sums));
    const auto of_row = [&](const Operand& x) { return builder_.reshaped(x, one); };

    Operand left = wide(builder_, Sub, roots.pairs, constant(kPairsBeforeRight));
    if (may_shift_right_) left = wide(builder_, Maximum, left, constant(0));
    const Operand shifted = wide(builder_, ShiftLeft, widened(builder_, in, 0), of_row(left));
    const Operand mantissa = of_row(roots.mantissa);
    if (!may_shift_right_)
      return builder_.emit(wide_operation(builder_, Mul, shifted, mantissa, out, 31));
    // Times 2^(pairs + 1), at most 2^5: behind the half that TFLite's high product takes there are four bits to round.
    const Operand product = wide(builder_, Mul, shifted, mantissa, 31);
    const Operand right =
        wide(builder_, Add, wide(builder_, Minimum, roots.pairs, constant(kPairsBeforeRight)),
             constant(1));
    builder_.emit(wide_operation(builder_, Mul, wide(builder_, ShiftLeft, product, of_row(right)),
                                 constant(1 << 30), out, 31 + kPairsBeforeRight));
  }

 private:
  Operand squares(const Operand& in) {
    const Operand result = builder_.inner("squares", DataType::Int32, in.extent);
    Operation op = builder_.start(Mul, in, result);
    op.ifm2 = in;
    op.ifm2_type = DataType::Int8;
    op.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(op));
    return result;
  }
  Operand constant(int32_t value) { return wide_constant(builder_, value); }

  Builder& builder_;
  bool may_shift_right_;
};

}  // namespace

Reason refuses_l2_normalization(const Site& site) {
  const int64_t depth = site.in().shape.back(), rows = element_count(site.in().shape) / depth;
  if (rows > kMostExtent) return fmt::format("{} rows are above {}", rows, kMostExtent);
  if (most_squares(site) >= kMostSquares)
    return fmt::format("the squares of {} elements may be {} together, which is not below {}",
                       depth, most_squares(site), kMostSquares);
  return std::nullopt;
}

void legalise_l2_normalization(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  RowsByLength rows(builder, most_squares(site) >= kMostLeftSquares);
  emit_in_bands_of_rows(builder, node,
                        [&](const Operand& in, const Operand& out) { rows.emit(in, out); });
}

}  // namespace intarsia::targets::ethos_u
