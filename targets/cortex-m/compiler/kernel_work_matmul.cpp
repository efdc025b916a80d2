// Products of matrices, block by block as device/matmul.c and device/mve_matmul.c compute them.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"

namespace intarsia::targets::cortex_m {
namespace {

#define FIELD(name) int64_t name = take();
struct Matmul : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/matmul.def"
};
#undef FIELD

}  // namespace

// Columns of the second matrix are laid out some at a time, and meet every row of the first.
std::vector<KernelWork> products_of_matrices(CoreClass core, const std::vector<int64_t>& numbers) {
  const Matmul m(numbers);
  const bool vectors = core == CoreClass::Mve, pairs = core == CoreClass::Dsp;
  if (m.rows == 1 && (vectors || pairs)) {
    const int64_t products = m.columns * m.depth;
    const bool turned = m.transposed != 0;
    return {{KernelFamily::MatrixRow,
             {1, number(m.depth), number(turned ? 0 : m.columns), number(turned ? 0 : products),
              number(turned ? m.columns : 0), number(turned ? products : 0)}}};
  }
  const int64_t unit = vectors ? 16 : pairs ? 8 : 4, run = round_up(m.depth, unit);
  const int64_t together = vectors ? 8
                           : pairs ? 2
                                   : 4,
                rows = pairs ? ceil_div(m.rows, int64_t{2}) : m.rows;
  int64_t blocks = 0, octets = 0;
  std::vector<KernelWork> all;
  for (int64_t first = 0; first < m.columns; first += m.block) {
    const int64_t count = std::min(m.columns - first, m.block);
    ++blocks;
    octets += ceil_div(count, together);
    if (!vectors) continue;
    Window w;
    w.batches = w.out_h = w.out_w = w.kernel_h = w.kernel_w = w.stride_h = w.stride_w = 1;
    w.in_h = w.in_w = 1;
    w.in_c = m.depth, w.out_c = count, w.out_zero = m.out_zero, w.low = -128, w.high = 127;
    KernelWork row = mve_dense(w);
    for (double& amount : row.amounts) amount *= number(m.rows);
    all.push_back(std::move(row));
  }
  const bool sums = m.b_zero != 0, copies = run != m.depth;
  all.push_back(
      {KernelFamily::Matrices,
       {1, number(blocks), number(m.columns), number(m.transposed != 0 ? 0 : m.columns * m.depth),
        number(m.transposed != 0 ? m.columns * ceil_div(m.depth, vectors ? 16 : int64_t{4}) : 0),
        number(blocks * rows), number(sums ? blocks * m.rows * ceil_div(m.depth, unit) : 0),
        number(copies && !vectors ? blocks * m.rows * m.depth : 0),
        number(vectors ? (sums ? m.rows : 1) * octets : rows * octets),
        number(vectors ? 0 : rows * octets * run), number(m.rows * m.columns)}});
  return all;
}

// Two columns at a time, and the results one by one.
std::vector<KernelWork> real_products_of_matrices(const std::vector<int64_t>& numbers) {
  const Matmul m(numbers);
  std::vector<KernelWork> all;
  for (int64_t first = 0; first < m.columns; first += m.block) {
    const int64_t count = std::min(m.columns - first, m.block);
    Window w;
    w.kernel_w = w.out_h = 1;
    w.out_w = m.rows, w.in_c = 4 * m.depth, w.out_c = 4 * count;
    all.push_back(real_convolution(w));
    all.push_back({KernelFamily::Element, {number(round_up(count, int64_t{4}) * m.depth)}, 0});
  }
  return all;
}

// With Helium two rows and columns at a time, else one row and two columns.
KernelWork wide_products_of_matrices(CoreClass core, const std::vector<int64_t>& numbers) {
  const Matmul m(numbers);
  const bool vectors = core == CoreClass::Mve;
  const int64_t unit = vectors ? 8 : 2, words = ceil_div(m.depth, unit),
                rows = vectors ? ceil_div(m.rows, int64_t{2}) : m.rows;
  int64_t lines = 0, turned = 0, blocks = 0, pairs = 0;
  for (int64_t first = 0; first < m.columns; first += m.block) {
    const int64_t count = std::min(m.columns - first, m.block);
    ++blocks, pairs += rows * ceil_div(count, int64_t{2});
    if (m.transposed != 0) continue;
    // Along the longer side (device/copy_rows.c).
    const int64_t shorter = std::min(count, m.depth), longer = std::max(count, m.depth);
    lines += shorter, turned += shorter * (vectors ? ceil_div(longer, unit) : longer);
  }
  return {KernelFamily::WideMatrices,
          {1, number(lines), number(turned), number(blocks * rows), number(pairs),
           number(pairs * words)}};
}

}  // namespace intarsia::targets::cortex_m
