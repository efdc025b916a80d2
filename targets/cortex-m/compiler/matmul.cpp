// Products of two matrices of activations: device/matmul.h.
#include <algorithm>
#include <limits>

#include "intarsia/plugin/rounding.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

LowerKernel matmul_kernel(CoreClass core, const OpView& view) {
  const auto is_plain = [](const graph::Tensor& t) {
    return t.type == DataType::Int8 && t.quantization.scale.size() == 1;
  };
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const auto& attrs = view.node.attrs<graph::BatchMatmulAttrs>();
  if (!is_plain(a) || !is_plain(b) || !is_plain(y) || attrs.transpose_a ||
      view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  constexpr int64_t kScratch = 4096, kVector = 16;
  const int64_t rows = y.shape[y.shape.size() - 2], columns = y.shape.back(),
                depth = a.shape.back(), run = round_up(depth, kVector);
  // Of a column and of rows: halfwords with SMLAD. Beside a column: its start, with Helium its part of the table.
  const bool vectors = core == CoreClass::Mve;
  const int64_t bytes = core == CoreClass::Dsp ? 2 : 1, beside = vectors ? 20 : 4,
                together = vectors ? 8 : 4;
  const int64_t room = (kScratch - bytes * run) / (bytes * run + beside) / together * together;
  const int64_t block = std::min(round_up(columns, together), room);
  // The quick arithmetic of device/results.h.
  constexpr int64_t kMostSum = int64_t{1} << 30, kMostProduct = 255 * 255;
  constexpr int kMostShift = 22;
  const Multiplier m = conv_multipliers(a.quantization, b.quantization, y.quantization)[0];
  // Gathers have offsets of 16 bits.
  constexpr int64_t kMostColumns = std::numeric_limits<uint16_t>::max() / 8;
  if (block <= 0 || depth * kMostProduct >= kMostSum || m.shift > -1 || m.shift < -kMostShift ||
      columns > kMostColumns)
    return nullptr;
  const int64_t last_bit = int64_t{1} << -m.shift, out_zero = zero_point(y);
  const std::vector<int64_t> numbers = {
      rows,          depth,         columns, attrs.transpose_b ? 1 : 0,          block,
      zero_point(a), zero_point(b), m.value, last_bit / 2 + out_zero * last_bit, -m.shift,
      out_zero};
  const int64_t scratch_bytes = block * (bytes * run + beside) + bytes * run;
  // Batches, each operand's with ones before them.
  const Shape batches(y.shape.begin(), y.shape.end() - 2);
  const auto batches_of = [&](const Shape& shape) {
    Shape own(shape.begin(), shape.end() - 2);
    own.insert(own.begin(), batches.size() - own.size(), 1);
    return own;
  };
  return [=, a_batches = batches_of(a.shape), b_batches = batches_of(b.shape)](OpLowering& op) {
    const auto whole = [](const Shape& batches, int64_t matrix) {
      return Shape{element_count(batches) * matrix};
    };
    op.declare({whole(a_batches, rows * depth), whole(b_batches, depth * columns)},
               whole(batches, rows * columns));
    const BufferId scratch =
        op.b.local("scratch", DataType::Int8, {scratch_bytes}, sizeof(int32_t));
    const std::function<Stmt(size_t, Expr, Expr, Expr)> from = [&](size_t axis, Expr a_at,
                                                                   Expr b_at, Expr y_at) -> Stmt {
      if (axis == batches.size()) {
        std::vector<std::variant<tir::BufferRun, Expr>> operands = {
            tir::BufferRun{op.in(0), {a_at * (rows * depth)}, rows * depth, tir::Access::Read},
            tir::BufferRun{
                op.in(1), {b_at * (depth * columns)}, depth * columns, tir::Access::Read},
            tir::BufferRun{op.out(), {y_at * (rows * columns)}, rows * columns, tir::Access::Write},
            tir::BufferRun{scratch, {tir::int_imm(0)}, scratch_bytes, tir::Access::Write}};
        for (const int64_t number : numbers) operands.push_back(tir::int_imm(number));
        return tir::intrinsic(vectors ? "intarsia_mve_matmul_s8" : "intarsia_matmul_s8",
                              std::move(operands));
      }
      return op.b.loop("batch", batches[axis], [&](const Expr& i) {
        const auto next = [&](const Shape& own, const Expr& at) {
          return own[axis] == 1 ? at : at * own[axis] + i;
        };
        return from(axis + 1, next(a_batches, a_at), next(b_batches, b_at),
                    y_at * batches[axis] + i);
      });
    };
    const Expr none = tir::int_imm(0);
    return from(0, none, none, none);
  };
}

}  // namespace intarsia::targets::cortex_m
