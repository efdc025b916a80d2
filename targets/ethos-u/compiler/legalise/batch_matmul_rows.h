// Products of two activations of int8 with many short rows, some of them at a time.
#pragma once

#include "legalise/builder.h"
#include "legalise/matrix_product.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

// Whether the operations of a piece run longer than they take to begin, and are not too many. `fits`: products have 16 bits.
bool pays_in_pieces(const MatrixProduct& product, bool fits);

class RowPieces {
 public:
  RowPieces(Builder& builder, const graph::Node& node, const MatrixProduct& shape, bool fits,
            const ChannelScale& scale);
  void emit();

 private:
  Operand matrix_of_b(int64_t matrix);
  void emit_piece(int64_t batch, int64_t row, int64_t rows, const Operand& b);

  Builder& builder_;
  const MatrixProduct& shape_;
  bool fits_;
  ChannelScale scale_;
  Operand a_, b_, out_;
};

}  // namespace intarsia::targets::ethos_u
