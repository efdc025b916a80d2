// Products of two activations of int16, whose sums TFLite has in 64 bits and scales by 15 bits with one rounding. Here they are
// made in halves: a = 256 h + l, both parts of 8 bits and a sign, so that sums of their products with b fit 32 bits; and what
// is scaled is taken in three digits, from the last one on, each with the carry of the one behind it. Only the last step rounds, as
// TFLite's only one does: every step before it is exact, or a quotient rounded down whose rest the last one cannot see.
#include "legalise/batch_matmul_int16.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "legalise/matrix_product.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

// Bits of the lower half of a, and of the last digit of a sum.
constexpr int kHalfBits = 8, kDigitBits = 16;
// The sums of both halves' products and their carry in 32 bits: products of 2^7 and 2^15.
constexpr int64_t kMostProducts = 510;
constexpr int64_t kProductBytes = 4;
// A group of rows takes twice as many operations as one of int8.
constexpr int64_t kMostWideGroups = kMostGroups / 2;
// TFLite's shifts right are taken from here on, to 46, which is its most; and so many bits of them behind the last digit, beyond
// which the digits before it are two. With these, what saturates in 32 bits on the way is beyond 16 bits as a result.
constexpr int kLeastTaken = 18, kMostLastShift = 16;

// TFLite's factor of the sums.
std::optional<ChannelScale> wide_factor_of(const Site& site) {
  return reduced_channel_scale(scale_of(site.in(0)) * scale_of(site.in(1)) / scale_of(site.out()));
}

class WideProduct {
  using enum OperationKind;

 public:
  WideProduct(Builder& builder, const graph::Node& node)
      : builder_(builder),
        site_{builder.module(), builder.function(), node},
        shape_(site_),
        factor_(*wide_factor_of(site_)) {
    const MatrixProduct& s = shape_;
    const Operand a = builder.read_as(node.inputs.at(0),
                                      s.a_transposed ? extent(s.a_matrices, s.shared, s.rows)
                                                     : extent(s.a_matrices * s.rows, 1, s.shared));
    high_ = builder.inner("high_half", DataType::Int16, a.extent);
    low_ = builder.inner("low_half", DataType::Int16, a.extent);
    emit_halves(a);
    b_ = read_b(node.inputs.at(1));
    out_ = builder.write_as(node.outputs.at(0), extent(s.all_rows(), s.columns, 1));
  }

  // Some rows at a time, of which sums are scaled together: whole groups.
  void emit() {
    const int64_t group = rows_of_group();
    const int64_t least =
        std::clamp<int64_t>(ceil_div(2 * kLeastBandElements, shape_.columns), 1, shape_.rows);
    const int64_t together = round_up(least, group);
    for (size_t batch = 0; batch < shape_.batches.size(); ++batch)
      for (int64_t row = 0; row < shape_.rows; row += together)
        emit_band(batch, row, std::min(together, shape_.rows - row));
  }

 private:
  // a = 256 h + l with h rounded half up, so that -128 <= l <= 127.
  void emit_halves(const Operand& a) {
    Operation high = builder_.start(AveragePool, a, high_);
    high.global_scale = ChannelScale{.multiplier = 1, .shift = kHalfBits};
    high.rounding = Rounding::Natural;
    builder_.emit(std::move(high));
    Operation low = builder_.start(Sub, a, low_);
    low.ifm2 = high_;
    low.ifm2_type = DataType::Int16;
    low.ifm_scale = ChannelScale{.multiplier = 1};
    low.ifm2_scale = ChannelScale{.multiplier = 1u << kHalfBits};
    low.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(low));
  }

  // The second operand's matrices, what is summed as channels.
  Operand read_b(graph::TensorId id) {
    const MatrixProduct& s = shape_;
    if (s.b_transposed) return builder_.read_as(id, extent(s.b_matrices, s.columns, s.shared));
    const Operand in =
        builder_.in_one_piece(builder_.read_as(id, extent(s.b_matrices, s.shared, s.columns)));
    const Operand turned =
        builder_.inner("columns", DataType::Int16, extent(s.b_matrices * s.columns, s.shared, 1));
    for (int64_t matrix = 0; matrix < s.b_matrices; ++matrix) {
      Operand from = in;
      from.walk = Walk{1, s.columns};
      from.origin = extent(0, 0, matrix * s.shared * s.columns);
      from.extent = extent(s.columns, s.shared, 1);
      builder_.copy(from, box(turned, extent(matrix * s.columns, 0, 0), from.extent));
    }
    return builder_.reshaped(turned, extent(s.b_matrices, s.columns, s.shared));
  }

  // Arm's compiler never reads a row again as the next one.
  int64_t rows_of_group() const {
    return builder_.confirmed_only() ? 1 : rows_together(shape_, kProductBytes);
  }

  Operand rows_of(const Operand& half, int64_t matrix, int64_t row, int64_t count) {
    if (!shape_.a_transposed)
      return box(half, extent(matrix * shape_.rows + row, 0, 0), extent(count, 1, shape_.shared));
    const Operand columns = channels_as_rows(
        builder_, box(half, extent(matrix, 0, row), extent(1, shape_.shared, 1)), count);
    const Operand dense = builder_.inner("rows", DataType::Int16, columns.extent);
    builder_.copy(columns, dense);
    return builder_.reshaped(dense, extent(count, 1, shape_.shared));
  }

  void emit_sums(const Operand& rows, const Operand& b, const Operand& to) {
    const Operand products = builder_.inner("products", DataType::Int32, b.extent);
    Operation multiply = builder_.start(Mul, b, products);
    multiply.ifm2 = rows;
    multiply.ifm2_type = DataType::Int16;
    multiply.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(multiply));
    Operation sum = builder_.start(ReduceSum, products, to);
    sum.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(sum));
  }

  void emit_band(size_t batch, int64_t first, int64_t count) {
    const MatrixProduct::Batch& matrices = shape_.batches[batch];
    const Operand b = box(b_, extent(matrices.b, 0, 0), extent(1, shape_.columns, shape_.shared));
    const Extent all = extent(count, shape_.columns, 1);
    const Operand highs = builder_.inner("high_sums", DataType::Int32, all);
    const Operand lows = builder_.inner("low_sums", DataType::Int32, all);
    const int64_t most = rows_of_group();
    for (int64_t i = 0; i < count; i += most) {
      const int64_t rows = std::min(most, count - i);
      const Operand repeated = repeated_row(builder_, b, rows);
      const Extent group = extent(rows, shape_.columns, 1);
      emit_sums(rows_of(high_, matrices.a, first + i, rows), repeated,
                box(highs, extent(i, 0, 0), group));
      emit_sums(rows_of(low_, matrices.a, first + i, rows), repeated,
                box(lows, extent(i, 0, 0), group));
    }
    const int64_t at = static_cast<int64_t>(batch) * shape_.rows + first;
    emit_scaled(packed(builder_, highs), packed(builder_, lows), box(out_, extent(at, 0, 0), all));
  }

  // The sum is 2^8 highs + lows. Its digits: `upper` from 2^16 on, and `last`, of 16 bits and a sign.
  void emit_scaled(const Operand& highs, const Operand& lows, const Operand& to) {
    const auto [carry, low] = digits(lows, kHalfBits);
    const Operand high = wide(builder_, Add, highs, carry);
    const auto [upper, middle] = digits(high, kHalfBits);
    const Operand last = wide(builder_, Add, times(middle, 1 << kHalfBits), low);

    const int shift = factor_.shift - kDigitBits;           // behind the last digit
    const int split = std::max(shift - kMostLastShift, 0);  // bits of the digit before it
    // Rounded down, as half of the divisor less, to the nearest. What the next digit is to lose for that goes along.
    const int64_t half = (int64_t{1} << (kDigitBits - 1)) +
                         (split > 0 ? int64_t{1} << (kDigitBits + split - 1) : int64_t{0});
    Operand rest = halved(Add, scaled(last), constant(-half), kDigitBits);
    Operand digit = upper;
    if (split > 0) {
      const auto [first, second] = digits(upper, split);
      rest = halved(Add, scaled(second), rest, split);
      digit = first;
    }
    const Operand out = builder_.reshaped(to, digit.extent);
    Operation op = wide_operation(builder_, Add, scaled(digit), rest, out, shift - split);
    op.rounding = Rounding::Natural;
    builder_.emit(std::move(op));
  }

  // x = 2^bits first + second, the first rounded half up.
  std::pair<Operand, Operand> digits(const Operand& x, int bits) {
    const Operand first = halved(Mul, x, constant(1), bits);
    return {first, wide(builder_, Sub, x, times(first, 1 << bits))};
  }
  // The operation, rounded half up by `shift` bits.
  Operand halved(OperationKind kind, const Operand& a, const Operand& b, int shift) {
    const Operand out = builder_.inner("wide", DataType::Int32, a.extent);
    Operation op = wide_operation(builder_, kind, a, b, out, shift);
    op.rounding = Rounding::Natural;
    builder_.emit(std::move(op));
    return out;
  }
  Operand scaled(const Operand& digit) {
    return times(digit, static_cast<int32_t>(factor_.multiplier));
  }
  Operand times(const Operand& x, int32_t factor) {
    return wide(builder_, Mul, x, constant(factor));
  }
  Operand constant(int64_t value) { return wide_constant(builder_, static_cast<int32_t>(value)); }

  Builder& builder_;
  Site site_;
  MatrixProduct shape_;
  ChannelScale factor_;
  Operand high_, low_, b_, out_;
};

}  // namespace

Reason refuses_batch_matmul_int16(const Site& site) {
  const MatrixProduct s(site);
  if (s.shared > kMostProducts)
    return fmt::format("{}: sums of {} products of 16 bits are above {}", product_text(site),
                       s.shared, kMostProducts);
  const std::optional<ChannelScale> factor = wide_factor_of(site);
  if (factor && factor->multiplier == 0)  // TFLite's factor for what would all be zero
    return fmt::format("{}: the output's scale is too large for the operands' scales",
                       product_text(site));
  // TFLite's results wrap around beyond 32 bits.
  if (!factor || factor->shift < kLeastTaken ||
      std::ldexp(static_cast<double>(s.shared * factor->multiplier), 30 - factor->shift) >
          INT32_MAX)
    return fmt::format("{}: the output's scale is too small for the operands' scales",
                       product_text(site));
  return refuses_groups(site, s, rows_together(s, kProductBytes), kMostWideGroups);
}

void legalise_batch_matmul_int16(Builder& builder, const graph::Node& node) {
  WideProduct(builder, node).emit();
}

}  // namespace intarsia::targets::ethos_u
