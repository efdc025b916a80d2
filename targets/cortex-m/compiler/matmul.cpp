// Products of two matrices of activations: device/matmul.h.
#include <algorithm>
#include <limits>

#include "intarsia/plugin/rounding.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

constexpr int64_t kMatrixScratch = 4096;

struct Matrices {
  int64_t rows, depth, columns;
  Multiplier multiplier;
  bool are_plain;  // activations of the type with one scale, the first one not transposed
};
Matrices read_matrices(const OpView& view, DataType type) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const auto is_plain = [type](const graph::Tensor& t) {
    return t.type == type && t.quantization.scale.size() == 1;
  };
  if (!is_plain(a) || !is_plain(b) || !is_plain(y) ||
      view.node.attrs<graph::BatchMatmulAttrs>().transpose_a ||
      view.node.inputs[0] == view.node.inputs[1])
    return {};
  return {y.shape[y.shape.size() - 2], a.shape.back(), y.shape.back(),
          conv_multipliers(a.quantization, b.quantization, y.quantization)[0], true};
}

// A call for each pair of matrices.
struct MatrixCall {
  std::string kernel;
  std::vector<int64_t> numbers;
  Shape scratch;
  DataType scratch_type;
};
LowerKernel by_matrices(const OpView& view, const Matrices& m, const MatrixCall& call) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const int64_t rows = m.rows, depth = m.depth, columns = m.columns;
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
        op.b.local("scratch", call.scratch_type, call.scratch, sizeof(int32_t));
    const std::function<Stmt(size_t, Expr, Expr, Expr)> from = [&](size_t axis, Expr a_at,
                                                                   Expr b_at, Expr y_at) -> Stmt {
      if (axis == batches.size()) {
        std::vector<std::variant<tir::BufferRun, Expr>> operands = {
            tir::BufferRun{op.in(0), {a_at * (rows * depth)}, rows * depth, tir::Access::Read},
            tir::BufferRun{
                op.in(1), {b_at * (depth * columns)}, depth * columns, tir::Access::Read},
            tir::BufferRun{op.out(), {y_at * (rows * columns)}, rows * columns, tir::Access::Write},
            tir::BufferRun{scratch, {tir::int_imm(0)}, call.scratch[0], tir::Access::Write}};
        for (const int64_t number : call.numbers) operands.push_back(tir::int_imm(number));
        return tir::intrinsic(call.kernel, std::move(operands));
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

// Of int16, with sums of 64 bits: device/wide_matmul.c.
LowerKernel wide_matmul_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kTogether = 2, kVector = 8;
  const Matrices m = read_matrices(view, DataType::Int16);
  if (!m.are_plain || (core != CoreClass::Dsp && core != CoreClass::Mve)) return nullptr;
  const bool at_zero =
      zero_point(view.in(0)) == 0 && zero_point(view.in(1)) == 0 && zero_point(view.out()) == 0;
  const int64_t run = round_up(m.depth, kVector), column = 2 * run;
  const int64_t block =
      std::min(round_up(m.columns, kTogether), kMatrixScratch / column / kTogether * kTogether);
  const WideMultiplier wide = wide_multiplier(m.multiplier);
  if (!at_zero || block <= 0 || wide.shift < 1 || wide.shift > 62) return nullptr;
  const bool transposed = view.node.attrs<graph::BatchMatmulAttrs>().transpose_b;
  return by_matrices(
      view, m,
      {"intarsia_matmul_s16",
       {m.rows, m.depth, m.columns, transposed ? 1 : 0, block, 0, 0, wide.value, 0, wide.shift, 0},
       {block * run},
       DataType::Int16});
}

// In single precision: device/float_conv.c.
LowerKernel real_matmul_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kLanes = 4, kLimits = 2, kFloat = 4;
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const auto& attrs = view.node.attrs<graph::BatchMatmulAttrs>();
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || a.type != DataType::Float32 ||
      b.type != DataType::Float32 || attrs.transpose_a ||
      view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  const Matrices m{y.shape[y.shape.size() - 2], a.shape.back(), y.shape.back(), {}, true};
  const int64_t room = (kMatrixScratch / kFloat - kLimits) / (m.depth + 1) / kLanes * kLanes;
  const int64_t block = std::min(round_up(m.columns, kLanes), room);
  if (block <= 0) return nullptr;
  return by_matrices(
      view, m,
      {"intarsia_matmul_f32",
       {m.rows, m.depth, m.columns, attrs.transpose_b ? 1 : 0, block, 0, 0, 0, 0, 0, 0},
       {kLimits + block * (m.depth + 1)},
       DataType::Float32});
}

}  // namespace

LowerKernel matmul_kernel(CoreClass core, const OpView& view) {
  if (view.out().type == DataType::Float32) return real_matmul_kernel(core, view);
  if (view.out().type == DataType::Int16) return wide_matmul_kernel(core, view);
  const Matrices m = read_matrices(view, DataType::Int8);
  if (!m.are_plain) return nullptr;
  constexpr int64_t kVector = 16;
  const int64_t depth = m.depth, run = round_up(depth, kVector);
  // Of a column and of rows: halfwords with SMLAD. Beside a column: its start, with Helium its part of the table.
  const bool vectors = core == CoreClass::Mve;
  const int64_t bytes = core == CoreClass::Dsp ? 2 : 1, beside = vectors ? 20 : 4,
                together = vectors ? 8 : 4;
  const int64_t room =
      (kMatrixScratch - bytes * run) / (bytes * run + beside) / together * together;
  const int64_t block = std::min(round_up(m.columns, together), room);
  // The quick arithmetic of device/results.h.
  constexpr int64_t kMostSum = int64_t{1} << 30, kMostProduct = 255 * 255;
  constexpr int kMostShift = 22;
  // Gathers have offsets of 16 bits.
  constexpr int64_t kMostColumns = std::numeric_limits<uint16_t>::max() / 8;
  const int shift = -m.multiplier.shift;
  if (block <= 0 || depth * kMostProduct >= kMostSum || shift < 1 || shift > kMostShift ||
      m.columns > kMostColumns)
    return nullptr;
  const int64_t last_bit = int64_t{1} << shift, out_zero = zero_point(view.out());
  const bool transposed = view.node.attrs<graph::BatchMatmulAttrs>().transpose_b;
  return by_matrices(view, m,
                     {vectors ? "intarsia_mve_matmul_s8" : "intarsia_matmul_s8",
                      {m.rows, depth, m.columns, transposed ? 1 : 0, block, zero_point(view.in(0)),
                       zero_point(view.in(1)), m.multiplier.value,
                       last_bit / 2 + out_zero * last_bit, shift, out_zero},
                      {block * (bytes * run + beside) + bytes * run},
                      DataType::Int8});
}

}  // namespace intarsia::targets::cortex_m
