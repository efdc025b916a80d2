// Products of two activations of int8. The NPU's MAC array takes weights from an encoded stream alone, so every row of the
// first operand is an element-wise product with the whole second operand, and a sum over what they share: over the columns
// of a row (a pool) where the second operand lies as [shared, columns], over channels (a sum over the depth) where it lies
// transposed.
//
// Sums are TFLite's to the last bit, since nothing is rounded before the sum is whole. Products of int8 less their zero
// points fit 16 bits where the zero points leave that; else, with pools, the first operand takes another zero point and what
// that adds to a sum lies beside the products, the same for every row; and with sums over the depth, products have 32 bits.
#include <algorithm>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/batch_matmul_int16.h"
#include "legalise/batch_matmul_rows.h"
#include "legalise/matrix_product.h"
#include "legalise/operators.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kMostProduct16 = (1 << 15) - 1, kMostInt8Distance = 255;
constexpr int64_t kMostSum32 = (int64_t{1} << 31) - 1;
// Rows that share one copy of what another zero point adds: an eighth more work and memory.
constexpr int64_t kRowsPerCorrection = 8;

int64_t largest_distance(const graph::Tensor& tensor) {
  const int64_t zero = zero_point_of(tensor);
  return std::max(127 - zero, zero + 128);
}

bool fits_16_bits(const Site& site) {
  return largest_distance(site.in(0)) * largest_distance(site.in(1)) <= kMostProduct16;
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
    for (size_t batch = 0; batch < shape_.batches.size(); ++batch) {
      if (!shape_.b_transposed && !fits_)
        emit_corrected_rows(static_cast<int64_t>(batch));
      else
        for (int64_t row = 0; row < shape_.rows; ++row) emit_row(static_cast<int64_t>(batch), row);
    }
    if (sums_.tensor < 0) return;
    builder_.emit(wide_operation(builder_, OperationKind::Mul, sums_,
                                 wide_constant(builder_, factor_.value), out_,
                                 31 - factor_.exponent));
  }

 private:
  // A row of the first operand, as its elements meet those of the second.
  Operand row_of_a(int64_t batch, int64_t row) {
    const auto matrix = static_cast<int32_t>(shape_.batches[static_cast<size_t>(batch)].a);
    const auto at = static_cast<int32_t>(row), shared = static_cast<int32_t>(shape_.shared);
    if (!shape_.a_transposed)
      return box(a_, {matrix * static_cast<int32_t>(shape_.rows) + at, 0, 0},
                 {1, a_.extent.width, a_.extent.depth});
    const Operand column = box(a_, {matrix, 0, at}, {1, shared, 1});
    if (!shape_.b_transposed) return column;
    const Operand dense = builder_.inner("row", DataType::Int8, {1, shared, 1}, a_.zero_point);
    builder_.copy(column, dense);
    return builder_.reshaped(dense, {1, 1, shared});
  }

  Operand matrix_of_b(int64_t batch) const {
    const auto matrix = static_cast<int32_t>(shape_.batches[static_cast<size_t>(batch)].b);
    return box(b_, {matrix, 0, 0}, one_row_);
  }

  Operand row_of_out(const Operand& all, int64_t batch, int64_t row) const {
    return box(all, {static_cast<int32_t>(batch * shape_.rows + row), 0, 0},
               {1, all.extent.width, all.extent.depth});
  }

  void emit_products(const Operand& b, const Operand& a, const Operand& to) {
    Operation op = builder_.start(OperationKind::Mul, b, to);
    op.ifm2 = a;
    op.ifm2_type = DataType::Int8;
    op.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(op));
  }

  void emit_sum(const Operand& products, const Operand& to) {
    const bool over_depth = shape_.b_transposed;
    Operation op = builder_.start(
        over_depth ? OperationKind::ReduceSum : OperationKind::AveragePool, products, to);
    if (!over_depth) {
      op.kernel.height = products.extent.height;
      op.kernel.width = products.extent.width;
    }
    op.global_scale =
        to.tensor == sums_.tensor ? ChannelScale{.multiplier = 1} : *channel_scale(factor_);
    builder_.emit(std::move(op));
  }

  void emit_row(int64_t batch, int64_t row) {
    const Operand products =
        builder_.inner("products", fits_ ? DataType::Int16 : DataType::Int32, one_row_);
    emit_products(matrix_of_b(batch), row_of_a(batch, row), products);
    emit_sum(products, row_of_out(sums_.tensor < 0 ? out_ : sums_, batch, row));
  }

  // Sum (a - z)(b - y) = sum (a - w)(b - y) + sum (w - z)(b - y), with w such that both kinds of products fit 16 bits.
  void emit_corrected_rows(int64_t batch) {
    const int32_t own = a_.zero_point, other = own > 0 ? 0 : -1;
    const Operand b = matrix_of_b(batch);
    Operand products;
    for (int64_t row = 0; row < shape_.rows; ++row) {
      const int64_t place = row % kRowsPerCorrection;
      const auto at = static_cast<int32_t>(1 + place);
      if (place == 0) {
        const int64_t rows = 1 + std::min(kRowsPerCorrection, shape_.rows - row);
        products = builder_.inner("products", DataType::Int16,
                                  {static_cast<int32_t>(rows), one_row_.width, one_row_.depth});
        Operation op = builder_.start(OperationKind::Mul, b, box(products, {0, 0, 0}, one_row_));
        op.ifm2_scalar = other - own;
        op.ifm2_type = DataType::Int8;
        op.global_scale = ChannelScale{.multiplier = 1};
        builder_.emit(std::move(op));
      }
      Operand a = row_of_a(batch, row);
      a.zero_point = other;
      emit_products(b, a, box(products, {at, 0, 0}, one_row_));
      Operand both = box(products, {0, 0, 0}, {2, one_row_.width, one_row_.depth});
      both.step.height = at;
      emit_sum(both, row_of_out(out_, batch, row));
    }
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
  const Reason rows = refuses_rows(site, s, kMostRows);
  return rows && pays_in_pieces(s, fits) ? refuses_extents(site, s) : rows;
}

void legalise_batch_matmul(Builder& builder, const Node& node) {
  if (builder.tensor(node.inputs.at(0)).type == DataType::Int16)
    return legalise_batch_matmul_int16(builder, node);
  const Site site{builder.module(), builder.function(), node};
  const MatrixProduct product(site);
  if (refuses_rows(site, product, kMostRows))
    return RowPieces(builder, node, product, fits_16_bits(site),
                     *channel_scale(product_factor_of(site)))
        .emit();
  ProductEmitter(builder, node).emit();
}

}  // namespace intarsia::targets::ethos_u
