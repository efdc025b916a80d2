// Batches of matrix products: what the rules for operands of 8 and of 16 bits share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "legalise/builder.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

struct MatrixProduct {
  struct Batch {
    int64_t a = 0, b = 0;  // matrices of the operands
  };

  bool a_transposed, b_transposed;
  int64_t rows, shared, columns;
  int64_t a_matrices, b_matrices;
  std::vector<Batch> batches;  // of the output

  explicit MatrixProduct(const Site& site);
  int64_t all_rows() const { return rows * static_cast<int64_t>(batches.size()); }
};

// Rows that are multiplied together, with so many bytes of products for each pair of elements: these run much longer than an operation
// takes to begin, which is about a hundred cycles. Longer rows are alone.
inline constexpr int64_t kBytesTogether = 8192;
int64_t rows_together(const MatrixProduct& product, int64_t bytes);
// What the operations of a group of rows take: two of 8-bit operands, of about 20 words each, so that these have 640 KiB of them.
inline constexpr int64_t kMostGroups = 4096;
// The operand's one row, that many times one below the other.
Operand repeated_row(const Builder& builder, const Operand& row, int64_t count);
// Channels of a pixel as rows: `count` of them from the one at which the operand begins, whose pixels go on as columns.
Operand channels_as_rows(const Builder& builder, const Operand& pixels, int64_t count);

// What is said of the site in reasons.
std::string product_text(const Site& site);
// Groups whose commands are few whatever they multiply, as of copies elsewhere. With more, a group is to run longer than its
// operations take to begin, at a product a cycle.
inline constexpr int64_t kFewGroups = 64, kLeastProducts = 256;
// Extents beyond the registers'; and these, and groups of so many rows each that are too many or too short.
Reason refuses_extents(const Site& site, const MatrixProduct& product);
Reason refuses_groups(const Site& site, const MatrixProduct& product, int64_t together,
                      int64_t most_groups);

}  // namespace intarsia::targets::ethos_u
