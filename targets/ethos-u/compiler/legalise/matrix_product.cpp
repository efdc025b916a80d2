#include "legalise/matrix_product.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

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

Reason refuses_groups(const Site& site, const MatrixProduct& product, int64_t together,
                      int64_t most_groups) {
  if (Reason reason = refuses_extents(site, product)) return reason;
  const int64_t groups = std::ssize(product.batches) * ceil_div(product.rows, together),
                products = product.shared * product.columns * together;
  if (groups > most_groups)
    return fmt::format("{} takes the commands of {} groups of rows, above {}", product_text(site),
                       groups, most_groups);
  if (groups > kFewGroups && products < kLeastProducts)
    return fmt::format("{} takes {} groups of {} products, which begin longer than they run",
                       product_text(site), groups, products);
  return std::nullopt;
}

int64_t rows_together(const MatrixProduct& product, int64_t bytes) {
  return std::clamp<int64_t>(kBytesTogether / (product.shared * product.columns * bytes), 1,
                             product.rows);
}

namespace {

// Where the operand begins, in steps of a pixel of its tensor.
Extent first_pixel(const Operand& operand, const Extent& whole) {
  INTARSIA_CHECK(!operand.walk, "what a walk goes over lies as its tensor does");
  return {0, operand.origin.height * whole.width + operand.origin.width, operand.origin.depth};
}

const Extent& whole_of(const Builder& builder, const Operand& operand) {
  return builder.program().tensors.at(static_cast<size_t>(operand.tensor)).extent;
}

}  // namespace

Operand repeated_row(const Builder& builder, const Operand& row, int64_t count) {
  if (count == 1) return row;
  const Extent& whole = whole_of(builder, row);
  Operand rows = row;
  rows.origin = first_pixel(row, whole);
  rows.walk = Walk{0, whole.depth};
  rows.extent.height = static_cast<int32_t>(count);
  return rows;
}

Operand channels_as_rows(const Builder& builder, const Operand& pixels, int64_t count) {
  const Extent& whole = whole_of(builder, pixels);
  Operand rows = pixels;
  rows.origin = first_pixel(pixels, whole);
  rows.walk = Walk{1, whole.depth};
  rows.extent = {static_cast<int32_t>(count), pixels.extent.width, 1};
  return rows;
}

}  // namespace intarsia::targets::ethos_u
