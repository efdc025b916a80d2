// Products of two matrices of activations: device/matmul.h.
#include <algorithm>
#include <limits>

#include "intarsia/plugin/rounding.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

constexpr int64_t kMatrixScratch = 4096;

// Of a first matrix that is transposed as many rows at a time as this many bytes hold become rows in scratch.
constexpr int64_t kTurnedBytes = 2048;
// With Helium an offset in a vector has sixteen bits, of eight elements.
constexpr int64_t kMostTurned = std::numeric_limits<uint16_t>::max() / 8;

struct Matrices {
  int64_t rows, depth, columns;
  Multiplier multiplier;
  bool are_plain;  // activations of the type with one scale
};
bool turns(const OpView& view) {
  return view.node.attrs<graph::BatchMatmulAttrs>().transpose_a;
}
int64_t depth_of(const OpView& view) {
  const Shape& a = view.in(0).shape;
  return turns(view) ? a[a.size() - 2] : a.back();
}
// Rows that are turned at a time, where the first matrix is transposed; none where there is no room for one.
int64_t turned_rows(const OpView& view, int64_t rows, int64_t depth) {
  if (std::max(rows, depth) > kMostTurned) return 0;
  return std::min(rows, kTurnedBytes / (depth * (bits(view.in(0).type) / 8)));
}

Matrices read_matrices(const OpView& view, DataType type) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const auto is_plain = [type](const graph::Tensor& t) {
    return t.type == type && t.quantization.scale.size() == 1;
  };
  const int64_t rows = y.shape[y.shape.size() - 2], depth = depth_of(view);
  if (!is_plain(a) || !is_plain(b) || !is_plain(y) ||
      (turns(view) && turned_rows(view, rows, depth) == 0) ||
      view.node.inputs[0] == view.node.inputs[1])
    return {};
  return {rows, depth, y.shape.back(),
          conv_multipliers(a.quantization, b.quantization, y.quantization)[0], true};
}

// A call for each pair of matrices.
struct MatrixCall {
  std::string kernel;
  std::vector<int64_t> numbers;
  Shape scratch;
  DataType scratch_type;
};
// Rows of a matrix of so many, whose columns lie together, from `first` on.
Stmt turn(CoreClass core, OpLowering& op, const Expr& first, int64_t some, const Matrices& m,
          BufferId turned) {
  if (lacks_simd(core))
    return op.b.loop("row", some, [&](const Expr& row) {
      return op.b.loop("k", m.depth, [&](const Expr& k) {
        return op.b.store(turned, {row * m.depth + k},
                          op.b.load(op.in(0), {first + k * m.rows + row}));
      });
    });
  return tir::intrinsic(
      turn_of(op.view.in(0).type),
      {tir::BufferRun{op.in(0), {first}, (m.depth - 1) * m.rows + some, tir::Access::Read},
       tir::BufferRun{turned, {tir::int_imm(0)}, some * m.depth, tir::Access::Write},
       tir::int_imm(some), tir::int_imm(m.depth), tir::int_imm(m.rows), tir::int_imm(m.depth)});
}

LowerKernel by_matrices(CoreClass core, const OpView& view, const Matrices& m,
                        const MatrixCall& call) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const int64_t rows = m.rows, depth = m.depth, columns = m.columns;
  // Batches, each operand's with ones before them.
  const Shape batches(y.shape.begin(), y.shape.end() - 2);
  const auto batches_of = [&](const Shape& shape) {
    Shape own(shape.begin(), shape.end() - 2);
    own.insert(own.begin(), batches.size() - own.size(), 1);
    return own;
  };
  return [=, turned = turns(view), a_batches = batches_of(a.shape),
          b_batches = batches_of(b.shape)](OpLowering& op) {
    const auto whole = [](const Shape& batches, int64_t matrix) {
      return Shape{element_count(batches) * matrix};
    };
    op.declare({whole(a_batches, rows * depth), whole(b_batches, depth * columns)},
               whole(batches, rows * columns));
    const BufferId scratch =
        op.b.local("scratch", call.scratch_type, call.scratch, sizeof(int32_t));
    const int64_t together = turned ? turned_rows(op.view, rows, depth) : rows;
    const BufferId turned_part =
        turned ? op.b.local("turned", op.view.in(0).type, {together * depth}, sizeof(int32_t))
               : BufferId{};
    const auto product = [&](const tir::BufferRun& a_run, const Expr& b_at, const Expr& y_first,
                             int64_t some) {
      std::vector<std::variant<tir::BufferRun, Expr>> operands = {
          a_run,
          tir::BufferRun{op.in(1), {b_at * (depth * columns)}, depth * columns, tir::Access::Read},
          tir::BufferRun{op.out(), {y_first}, some * columns, tir::Access::Write},
          tir::BufferRun{scratch, {tir::int_imm(0)}, call.scratch[0], tir::Access::Write}};
      std::vector<int64_t> numbers = call.numbers;
      numbers[0] = some;
      for (const int64_t number : numbers) operands.push_back(tir::int_imm(number));
      return tir::intrinsic(call.kernel, std::move(operands));
    };
    // Rows of the first matrix that are turned, and meet the second one.
    const auto turned_product = [&](const Expr& a_at, const Expr& b_at, const Expr& y_at,
                                    const Expr& first, int64_t some) {
      return tir::seq(
          {turn(core, op, a_at * (rows * depth) + first, some, m, turned_part),
           product(tir::BufferRun{turned_part, {tir::int_imm(0)}, some * depth, tir::Access::Read},
                   b_at, y_at * (rows * columns) + first * columns, some)});
    };
    const std::function<Stmt(size_t, Expr, Expr, Expr)> from = [&](size_t axis, Expr a_at,
                                                                   Expr b_at, Expr y_at) -> Stmt {
      if (axis == batches.size()) {
        if (!turned)
          return product(
              tir::BufferRun{op.in(0), {a_at * (rows * depth)}, rows * depth, tir::Access::Read},
              b_at, y_at * (rows * columns), rows);
        const int64_t full = rows / together, rest = rows % together;
        return tir::seq(
            {op.b.loop("part", full,
                       [&](const Expr& part) {
                         return turned_product(a_at, b_at, y_at, part * together, together);
                       }),
             rest == 0 ? nullptr
                       : turned_product(a_at, b_at, y_at, tir::int_imm(full * together), rest)});
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
  const bool transposed = view.node.attrs<graph::BatchMatmulAttrs>().transpose_b;
  const int64_t run = round_up(m.depth, kVector), column = 2 * run;
  const int64_t room = kMatrixScratch / column / kTogether * kTogether;
  const int64_t block = transposed ? m.columns : std::min(round_up(m.columns, kTogether), room);
  const WideMultiplier wide = wide_multiplier(m.multiplier);
  if (!at_zero || block <= 0 || wide.shift < 1 || wide.shift > 62) return nullptr;
  if (!transposed && std::max(m.depth, m.columns) > kMostTurned) return nullptr;
  // A row by itself meets each column that is laid out once.
  constexpr int64_t kWorthACall = 8;
  if (m.rows == 1 && (!transposed || m.depth < kWorthACall)) return nullptr;
  return by_matrices(
      core, view, m,
      {"intarsia_matmul_s16",
       {m.rows, m.depth, m.columns, transposed ? 1 : 0, block, 0, 0, wide.value, 0, wide.shift, 0},
       {transposed ? kTogether : block * run},
       DataType::Int16});
}

// In single precision: device/float_conv.c.
LowerKernel real_matmul_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kLanes = 4, kLimits = 2, kFloat = 4;
  const graph::Tensor &a = view.in(0), &b = view.in(1), &y = view.out();
  const auto& attrs = view.node.attrs<graph::BatchMatmulAttrs>();
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || a.type != DataType::Float32 ||
      b.type != DataType::Float32 || view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  const Matrices m{y.shape[y.shape.size() - 2], depth_of(view), y.shape.back(), {}, true};
  if (attrs.transpose_a && turned_rows(view, m.rows, m.depth) == 0) return nullptr;
  const int64_t room = (kMatrixScratch / kFloat - kLimits) / (m.depth + 1) / kLanes * kLanes;
  const int64_t block = std::min(round_up(m.columns, kLanes), room);
  if (block <= 0) return nullptr;
  return by_matrices(
      core, view, m,
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
  return by_matrices(core, view, m,
                     {vectors ? "intarsia_mve_matmul_s8" : "intarsia_matmul_s8",
                      {m.rows, depth, m.columns, transposed ? 1 : 0, block, zero_point(view.in(0)),
                       zero_point(view.in(1)), m.multiplier.value,
                       last_bit / 2 + out_zero * last_bit, shift, out_zero},
                      {block * (bytes * run + beside) + bytes * run},
                      DataType::Int8});
}

}  // namespace intarsia::targets::cortex_m
