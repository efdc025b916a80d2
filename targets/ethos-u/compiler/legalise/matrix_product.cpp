#include "legalise/matrix_product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"

namespace intarsia::targets::ethos_u {
namespace {

// The operand's matrix for the output's i-th: axes of one element repeat.
int64_t matrix_of(const Shape& operand, const Shape& out, int64_t i) {
  int64_t index = 0, stride = 1;
  const size_t missing = out.size() - operand.size();
  for (size_t axis = out.size() - 2; axis-- > missing;) {
    const int64_t extent = operand[axis - missing];
    index += extent == 1 ? 0 : i % out[axis] * stride;
    stride *= extent;
    i /= out[axis];
  }
  return index;
}

}  // namespace

MatrixProduct::MatrixProduct(const Site& site) {
  const auto& attributes = site.node.attrs<graph::BatchMatmulAttrs>();
  a_transposed = attributes.transpose_a;
  b_transposed = attributes.transpose_b;
  const Shape &a = site.in(0).shape, &b = site.in(1).shape, &out = site.out().shape;
  rows = out[out.size() - 2];
  columns = out.back();
  shared = a_transposed ? a[a.size() - 2] : a.back();
  a_matrices = element_count(a) / (rows * shared);
  b_matrices = element_count(b) / (shared * columns);
  const int64_t count = element_count(out) / (rows * columns);
  for (int64_t i = 0; i < count; ++i)
    batches.push_back({matrix_of(a, out, i), matrix_of(b, out, i)});
}

std::string product_text(const Site& site) {
  return fmt::format("multiplying [{}] with [{}]", fmt::join(site.in(0).shape, ","),
                     fmt::join(site.in(1).shape, ","));
}

Reason refuses_extents(const Site& site, const MatrixProduct& product) {
  for (const int64_t extent :
       {product.all_rows(), product.a_matrices * product.rows, product.b_matrices})
    if (extent > kMostExtent)
      return fmt::format("{}: an extent of {} is above {}", product_text(site), extent,
                         kMostExtent);
  return std::nullopt;
}

Reason refuses_rows(const Site& site, const MatrixProduct& product, int64_t most_rows) {
  if (Reason reason = refuses_extents(site, product)) return reason;
  const int64_t rows = product.all_rows(), products = product.shared * product.columns;
  if (rows > most_rows)
    return fmt::format("{} takes the commands of {} rows, above {}", product_text(site), rows,
                       most_rows);
  if (rows > kFewRows && products < kLeastProducts)
    return fmt::format("{} takes {} rows of {} products, which begin longer than they run",
                       product_text(site), rows, products);
  return std::nullopt;
}

}  // namespace intarsia::targets::ethos_u
