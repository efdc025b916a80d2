// Products of two activations of int8 with many short rows, whose commands would take longer than what they compute: some rows at a
// time in three operations. A convolution with weights of one gives each element of the first operand as many channels as the second has
// columns; one element-wise product with the second operand, the same for every row; one pool over what they share.
//
// Where products do not fit 16 bits, rows are twice as wide: the second half multiplies the second operand once more by what another zero
// point of the first one adds (batch_matmul.cpp).
#include "legalise/batch_matmul_rows.h"

#include <algorithm>

#include "hardware/limits.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {
namespace {

// Products of one piece: 16 bits each and 8 for the operand beside them, 48 KiB.
constexpr int64_t kPieceProducts = 16384;
constexpr int64_t kOperationsOfPiece = 4;

int64_t rows_of_piece(const MatrixProduct& s, bool fits) {
  const int64_t products = s.shared * s.columns * (fits ? 1 : 2);
  return std::clamp<int64_t>(kPieceProducts / products, 1, s.rows);
}

}  // namespace

bool pays_in_pieces(const MatrixProduct& s, bool fits) {
  const int64_t rows = rows_of_piece(s, fits);
  const int64_t pieces = static_cast<int64_t>(s.batches.size()) * ((s.rows + rows - 1) / rows);
  return !s.a_transposed && s.shared * (fits ? 1 : 2) <= kMostPoolElements &&
         rows * s.shared * s.columns >= kLeastProducts &&
         pieces * kOperationsOfPiece <= 2 * kMostRows;
}

RowPieces::RowPieces(Builder& builder, const graph::Node& node, const MatrixProduct& shape,
                     bool fits, const ChannelScale& scale)
    : builder_(builder), shape_(shape), fits_(fits), scale_(scale) {
  const MatrixProduct& s = shape_;
  a_ = builder.read_as(node.inputs.at(0), extent(s.a_matrices * s.rows, s.shared, 1));
  b_ = builder.read_as(node.inputs.at(1), s.b_transposed
                                              ? extent(s.b_matrices, s.columns, s.shared)
                                              : extent(s.b_matrices, s.shared, s.columns));
  if (s.b_transposed) b_ = builder.in_one_piece(b_);
  out_ = builder.write_as(node.outputs.at(0), extent(s.all_rows(), 1, s.columns));
}

void RowPieces::emit() {
  const int64_t most = rows_of_piece(shape_, fits_);
  for (size_t batch = 0; batch < shape_.batches.size(); ++batch) {
    const Operand b = matrix_of_b(shape_.batches[batch].b);
    for (int64_t row = 0; row < shape_.rows; row += most)
      emit_piece(static_cast<int64_t>(batch), row, std::min(most, shape_.rows - row), b);
  }
}

// As [shared, columns], and once more behind it where products do not fit.
Operand RowPieces::matrix_of_b(int64_t matrix) {
  const MatrixProduct& s = shape_;
  const Extent one = extent(1, s.shared, s.columns);
  Operand from = box(b_, extent(matrix, 0, 0), {1, b_.extent.width, b_.extent.depth});
  if (s.b_transposed) {
    const Operand turned =
        builder_.inner("turned", DataType::Int8, extent(s.shared, s.columns, 1), b_.zero_point);
    from = b_;
    from.walk = Walk{1, s.shared};
    from.origin = extent(0, 0, matrix * s.shared * s.columns);
    from.extent = turned.extent;
    builder_.copy(from, turned);
    from = builder_.reshaped(turned, one);
  }
  if (fits_) return from;
  const Operand twice =
      builder_.inner("twice", DataType::Int8, extent(1, 2 * s.shared, s.columns), b_.zero_point);
  for (const int64_t at : {int64_t{0}, s.shared})
    builder_.copy(from, box(twice, extent(0, at, 0), one));
  return twice;
}

void RowPieces::emit_piece(int64_t batch, int64_t row, int64_t rows, const Operand& b) {
  const MatrixProduct& s = shape_;
  const int32_t own = a_.zero_point, other = fits_ ? own : own > 0 ? 0 : -1;
  const Extent all = extent(rows, b.extent.width, s.columns),
               half = extent(rows, s.shared, s.columns);
  const Operand factors = builder_.inner("factors", DataType::Int8, all, other);
  const int64_t first = s.batches[static_cast<size_t>(batch)].a * s.rows + row;
  repeat_channel(builder_, box(a_, extent(first, 0, 0), extent(rows, s.shared, 1)),
                 box(factors, {0, 0, 0}, half));
  // What is to be other - own, less its zero point.
  if (!fits_)
    builder_.copy(box(factors, {0, 0, 0}, half), box(factors, extent(0, s.shared, 0), half),
                  2 * other - own);
  const Operand products = builder_.inner("products", DataType::Int16, all);
  Operation multiply = builder_.start(OperationKind::Mul, factors, products);
  multiply.ifm2 = b;
  multiply.ifm2_type = DataType::Int8;
  multiply.global_scale = ChannelScale{.multiplier = 1};
  builder_.emit(std::move(multiply));
  Operation sum =
      builder_.start(OperationKind::AveragePool, products,
                     box(out_, extent(batch * s.rows + row, 0, 0), extent(rows, 1, s.columns)));
  sum.kernel.width = products.extent.width;
  sum.global_scale = scale_;
  builder_.emit(std::move(sum));
}

}  // namespace intarsia::targets::ethos_u
