// Products of two activations of int8. The NPU's MAC array takes weights from an encoded stream alone, so every row of the
// first operand is an element-wise product with the whole second operand, and a sum over what they share: over the columns
// of a row (a pool) where the second operand lies as [shared, columns], over channels (a sum over the depth) where it lies
// transposed. Short rows are multiplied together.
//
// Sums are TFLite's to the last bit, since nothing is rounded before the sum is whole. Products of int8 less their zero
// points fit 16 bits where the zero points leave that; else, with pools, the first operand takes another zero point and what
// that adds to a sum lies beside the products, the same for every row; and with sums over the depth, products have 32 bits.
#include <algorithm>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/batch_matmul_int16.h"
#include "legalise/matrix_product.h"
#include "legalise/operators.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kMostProduct16 = (1 << 15) - 1, kMostInt8Distance = 255;
constexpr int64_t kMostSum32 = (int64_t{1} << 31) - 1;

int64_t largest_distance(const graph::Tensor& tensor) {
  const int64_t zero = zero_point_of(tensor);
  return std::max(127 - zero, zero + 128);
}

bool fits_16_bits(const Site& site) {
  return largest_distance(site.in(0)) * largest_distance(site.in(1)) <= kMostProduct16;
}

// Groups: a product and a sum for some rows. Where products do not fit 16 bits and are summed by pools, what another zero point
// adds is a product, too: of rows that are long enough for that once for all of them, each by itself then, of shorter ones
// beside each row.
enum class Way : uint8_t { Groups, CorrectedRows, CorrectedGroups };

Way way_of(const MatrixProduct& product, bool fits) {
  if (fits || product.b_transposed) return Way::Groups;
  return product.shared * product.columns < kLeastProducts ? Way::CorrectedGroups
                                                           : Way::CorrectedRows;
}

int64_t rows_of_group(const MatrixProduct& product, Way way, bool fits) {
  return way == Way::CorrectedRows
             ? 1
             : rows_together(product, way == Way::CorrectedGroups || !fits ? 4 : 2);
}

FixedFactor product_factor_of(const Site& site) {
  return fixed_factor(scale_of(site.in(0)) * scale_of(site.in(1)) / scale_of(site.out()));
}

// Rows of products and the sums over them.
class ProductEmitter {
 public:
  ProductEmitter(Builder& builder, const Node& node)
      : builder_(builder),
        site_{builder.module(), builder.function(), node},
        shape_(site_),
        fits_(fits_16_bits(site_)),
        factor_(product_factor_of(site_)) {
    const MatrixProduct& s = shape_;
    one_row_ = s.b_transposed ? extent(1, s.columns, s.shared) : extent(1, s.shared, s.columns);
    b_ = builder.read_as(node.inputs.at(1),
                         {static_cast<int32_t>(s.b_matrices), one_row_.width, one_row_.depth});
    a_ = builder.read_as(node.inputs.at(0), s.a_transposed ? extent(s.a_matrices, s.shared, s.rows)
                                            : s.b_transposed
                                                ? extent(s.a_matrices * s.rows, 1, s.shared)
                                                : extent(s.a_matrices * s.rows, s.shared, 1));
    out_ =
        builder.write_as(node.outputs.at(0), s.b_transposed ? extent(s.all_rows(), s.columns, 1)
                                                            : extent(s.all_rows(), 1, s.columns));
  }

  void emit() {
    if (shape_.b_transposed && !fits_) sums_ = builder_.inner("sums", DataType::Int32, out_.extent);
    const Way way = way_of(shape_, fits_);
    // Arm's compiler never reads a row again as the next one.
    const int64_t most = builder_.confirmed_only() ? 1 : rows_of_group(shape_, way, fits_);
    for (int64_t batch = 0; batch < std::ssize(shape_.batches); ++batch) {
      if (way == Way::CorrectedRows) {
        emit_corrected_rows(batch);
        continue;
      }
      for (int64_t row = 0; row < shape_.rows; row += most) {
        const int64_t count = std::min(most, shape_.rows - row);
        if (way == Way::Groups)
          emit_group(batch, row, count);
        else
          emit_corrected_group(batch, row, count);
      }
    }
    if (sums_.tensor < 0) return;
    builder_.emit(wide_operation(builder_, OperationKind::Mul, sums_,
                                 wide_constant(builder_, factor_.value), out_,
                                 31 - factor_.exponent));
  }

 private:
  // Rows of the first operand, as their elements meet those of the second.
  Operand rows_of_a(int64_t batch, int64_t row, int64_t count) {
    const auto matrix = static_cast<int32_t>(shape_.batches[static_cast<size_t>(batch)].a);
    const auto at = static_cast<int32_t>(row), shared = static_cast<int32_t>(shape_.shared);
    if (!shape_.a_transposed)
      return box(a_, {matrix * static_cast<int32_t>(shape_.rows) + at, 0, 0},
                 {static_cast<int32_t>(count), a_.extent.width, a_.extent.depth});
    const Operand first = box(a_, {matrix, 0, at}, {1, shared, 1});
    const Operand columns = count == 1 ? first : channels_as_rows(builder_, first, count);
    if (!shape_.b_transposed) return columns;
    const Operand dense = builder_.inner("rows", DataType::Int8, columns.extent, a_.zero_point);
    builder_.copy(columns, dense);
    return builder_.reshaped(dense, extent(count, 1, shared));
  }

  Operand matrix_of_b(int64_t batch) const {
    const auto matrix = static_cast<int32_t>(shape_.batches[static_cast<size_t>(batch)].b);
    return box(b_, {matrix, 0, 0}, one_row_);
  }

  Operand rows_of_out(const Operand& all, int64_t batch, int64_t row, int64_t count) const {
    return box(all, {static_cast<int32_t>(batch * shape_.rows + row), 0, 0},
               {static_cast<int32_t>(count), all.extent.width, all.extent.depth});
  }

  void emit_products(const Operand& b, const Operand& a, const Operand& to) {
    Operation op = builder_.start(OperationKind::Mul, b, to);
    op.ifm2 = a;
    op.ifm2_type = DataType::Int8;
    op.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(op));
  }

  // Over a window of so many rows.
  void emit_sum(const Operand& products, const Operand& to, int32_t height) {
    const bool over_depth = shape_.b_transposed;
    Operation op = builder_.start(
        over_depth ? OperationKind::ReduceSum : OperationKind::AveragePool, products, to);
    if (!over_depth) {
      op.kernel.height = height;
      op.kernel.width = products.extent.width;
    }
    op.global_scale =
        to.tensor == sums_.tensor ? ChannelScale{.multiplier = 1} : *channel_scale(factor_);
    builder_.emit(std::move(op));
  }

  // The second operand lies once and is read again for each row.
  void emit_group(int64_t batch, int64_t row, int64_t count) {
    const Operand b = repeated_row(builder_, matrix_of_b(batch), count);
    const Operand products =
        builder_.inner("products", fits_ ? DataType::Int16 : DataType::Int32, b.extent);
    emit_products(b, rows_of_a(batch, row, count), products);
    emit_sum(products, rows_of_out(sums_.tensor < 0 ? out_ : sums_, batch, row, count), 1);
  }

  // Sum (a - z)(b - y) = sum (a - w)(b - y) + sum (w - z)(b - y), with w such that both kinds of products fit 16 bits.
  int32_t other_zero() const { return a_.zero_point > 0 ? 0 : -1; }
  void emit_correction(const Operand& b, const Operand& to) {
    Operation op = builder_.start(OperationKind::Mul, b, to);
    op.ifm2_scalar = other_zero() - a_.zero_point;
    op.ifm2_type = DataType::Int8;
    op.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(op));
  }

  // Of the products' three rows the one in the middle is what another zero point adds, once for all. The others take turns: while one
  // is summed, with that in the middle, the next one is multiplied.
  void emit_corrected_rows(int64_t batch) {
    const Operand b = matrix_of_b(batch);
    const Operand products =
        builder_.inner("products", DataType::Int16, {3, one_row_.width, one_row_.depth});
    emit_correction(b, box(products, {1, 0, 0}, one_row_));
    for (int64_t row = 0; row < shape_.rows; ++row) {
      const bool is_above = row % 2 == 0;
      Operand a = rows_of_a(batch, row, 1);
      a.zero_point = other_zero();
      emit_products(b, a, box(products, {is_above ? 0 : 2, 0, 0}, one_row_));
      const Operand both =
          box(products, {is_above ? 0 : 1, 0, 0}, {2, one_row_.width, one_row_.depth});
      emit_sum(both, rows_of_out(out_, batch, row, 1), 2);
    }
  }

  // Both beside each other in each row, which is twice as wide.
  void emit_corrected_group(int64_t batch, int64_t row, int64_t count) {
    const Operand b = repeated_row(builder_, matrix_of_b(batch), count);
    const int64_t width = one_row_.width;
    const Operand products =
        builder_.inner("products", DataType::Int16, extent(count, 2 * width, one_row_.depth));
    emit_correction(b, box(products, extent(0, width, 0), b.extent));
    Operand a = rows_of_a(batch, row, count);
    a.zero_point = other_zero();
    emit_products(b, a, box(products, {0, 0, 0}, b.extent));
    emit_sum(products, rows_of_out(out_, batch, row, count), 1);
  }

  Builder& builder_;
  Site site_;
  MatrixProduct shape_;
  bool fits_;
  FixedFactor factor_;
  Extent one_row_;
  Operand a_, b_, out_, sums_;
};

}  // namespace

Reason refuses_batch_matmul(const Site& site) {
  if (site.in(0).constant.valid() && site.in(1).constant.valid())
    return std::string("both operands are constant");
  if (site.in(0).type == DataType::Int16) return refuses_batch_matmul_int16(site);
  const MatrixProduct s(site);
  const auto product = [&] { return product_text(site); };
  const bool fits = fits_16_bits(site), pools = !s.b_transposed;
  // TFLite's sums have 32 bits, which the factor's exponent shifts left; with a product of each kind an element.
  const int64_t largest = kMostInt8Distance * kMostInt8Distance;
  const FixedFactor factor = product_factor_of(site);
  if (!channel_scale(factor) || s.shared * largest > kMostSum32 >> std::max(factor.exponent, 0))
    return fmt::format("{}: sums of {} products, scaled, may have more than 32 bits", product(),
                       s.shared);
  if (pools && s.shared * (fits ? 1 : 2) > kMostPoolElements)
    return fmt::format("{}: a sum of {} products is above {}", product(), s.shared,
                       kMostPoolElements / (fits ? 1 : 2));
  return refuses_groups(site, s, rows_of_group(s, way_of(s, fits), fits), kMostGroups);
}

void legalise_batch_matmul(Builder& builder, const Node& node) {
  if (builder.tensor(node.inputs.at(0)).type == DataType::Int16)
    return legalise_batch_matmul_int16(builder, node);
  ProductEmitter(builder, node).emit();
}

}  // namespace intarsia::targets::ethos_u
