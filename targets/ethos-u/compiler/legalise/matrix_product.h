// Batches of matrix products: what the rules for operands of 8 and of 16 bits share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// Operands of [1, 1, depth] and the like, from extents of 64 bits.
inline Extent extent(int64_t height, int64_t width, int64_t depth) {
  return {static_cast<int32_t>(height), static_cast<int32_t>(width), static_cast<int32_t>(depth)};
}

// A product of 8-bit operands takes two operations a row, of about 20 words each: so many rows have 160 KiB of them.
inline constexpr int64_t kMostRows = 1024;
// What is said of the site in reasons.
std::string product_text(const Site& site);
// Rows whose commands are few whatever they multiply, as of copies elsewhere. With more, a row is to run longer than its
// operations take to begin, which is about a hundred cycles each, at a product a cycle.
inline constexpr int64_t kFewRows = 64, kLeastProducts = 256;
// Extents beyond the registers'; and these, and rows that are too many or too short.
Reason refuses_extents(const Site& site, const MatrixProduct& product);
Reason refuses_rows(const Site& site, const MatrixProduct& product, int64_t most_rows);

}  // namespace intarsia::targets::ethos_u
