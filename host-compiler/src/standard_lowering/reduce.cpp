// Mean, sum and extremes over any set of axes.
#include <algorithm>
#include <functional>
#include <limits>

#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

Refusal refuses_reduce(const OpView& view) {
  using enum DataType;
  switch (view.node.kind) {
    case graph::OpKind::ReduceAny:
    case graph::OpKind::ReduceAll:
      return refuses_types(view, {{{Bool}, Bool}});
    case graph::OpKind::ReduceProd:
      return refuses_types(view, {{{Int32}, Int32}, {{Float32}, Float32}});
    default:
      break;
  }
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Int16}, Int16}, {{Float32}, Float32}}))
    return types;
  const int64_t count = element_count(view.in(0).shape) / element_count(view.out().shape);
  if (view.in(0).type == Int16 && count > 65535) return "more than 65535 int16 are added up";
  const bool is_sum = view.node.kind == graph::OpKind::Mean || view.node.kind == graph::OpKind::Sum;
  return is_sum ? refuses_quantization(view) : std::nullopt;
}

namespace {

// What becomes of the elements that are reduced into one.
struct Reduction {
  Expr start;
  std::function<Expr(Expr acc, Expr element)> step;
  std::function<Expr(Expr acc)> finish;
};

Reduction reduction(const OpView& v, int64_t count) {
  using graph::OpKind;
  const DataType type = v.out().type;
  const bool integer = is_integer(type);
  const OpKind kind = v.node.kind;
  const auto narrowed = [type](Expr x) { return x->type == type ? x : tir::cast(type, x); };
  if (kind == OpKind::ReduceAny || kind == OpKind::ReduceAll) {
    const bool is_any = kind == OpKind::ReduceAny;
    return {tir::int_imm(is_any ? 0 : 1),
            [is_any](Expr acc, Expr x) {
              const Expr one = tir::select(x, tir::int_imm(1), tir::int_imm(0));
              return is_any ? tir::max(acc, one) : tir::min(acc, one);
            },
            [](Expr acc) { return tir::binary(tir::BinaryOp::Ne, acc, tir::int_imm(0)); }};
  }
  if (kind == OpKind::ReduceProd) {
    if (!integer) return {tir::float_imm(1), [](Expr acc, Expr x) { return acc * x; }, narrowed};
    return {tir::int_imm(1),
            [](Expr acc, Expr x) {
              const DataType wide = DataType::UInt32;  // products wrap around
              return tir::cast(DataType::Int32, tir::cast(wide, acc) * tir::cast(wide, x));
            },
            narrowed};
  }
  if (kind == OpKind::ReduceMax || kind == OpKind::ReduceMin) {
    const bool largest = kind == OpKind::ReduceMax;
    constexpr float kMost = std::numeric_limits<float>::max();
    const Expr start = !integer
                           ? tir::float_imm(largest ? -kMost : kMost)
                           : tir::int_imm(largest ? type_range(type).low : type_range(type).high);
    return {start,
            [largest](Expr acc, Expr x) { return largest ? tir::max(acc, x) : tir::min(acc, x); },
            narrowed};
  }
  const auto add = [](Expr acc, Expr x) { return acc + x; };
  if (!integer) {
    if (kind == OpKind::Sum) return {tir::float_imm(0), add, narrowed};
    const Expr divisor = tir::float_imm(static_cast<float>(count));
    return {tir::float_imm(0), add, [divisor](Expr acc) {
              return tir::call(DataType::Float32, "intarsia_divide_f32", {acc, divisor});
            }};
  }
  const graph::Quantization &from = v.in(0).quantization, &to = v.out().quantization;
  const double in_scale = from.scale[0], out_scale = to.scale[0];
  const Multiplier m = kind == OpKind::Mean ? mean_multiplier(in_scale, out_scale, count)
                                            : quantize_multiplier(in_scale / out_scale);
  const int64_t zeros = from.zero_point[0] * count, zero = to.zero_point[0];
  return {tir::int_imm(0), add, [=](Expr acc) {
            return clamp(requantize(acc - zeros, m) + zero, type_range(type), type);
          }};
}

}  // namespace

Stmt lower_reduce(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape& in = v.in(0).shape;
  const std::vector<int64_t>& axes = v.node.attrs<graph::ReduceAttrs>().axes;
  const auto reduced = [&](size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
  };
  // Runs of axes that are reduced or kept together; extents of the two kinds of loops.
  Shape extents, kept, summed;
  std::vector<bool> run_is_reduced;
  for (const size_t first :
       axis_runs(in.size(), [&](size_t axis) { return reduced(axis) == reduced(axis - 1); })) {
    int64_t extent = 1;
    for (size_t axis = first; axis < in.size() && reduced(axis) == reduced(first); ++axis) {
      extent *= in[axis];
    }
    extents.push_back(extent);
    run_is_reduced.push_back(reduced(first));
    (reduced(first) ? summed : kept).push_back(extent);
  }
  if (kept.empty()) kept = {1};
  op.declare({extents}, kept);

  const int64_t count = element_count(summed);
  const bool is_bool = v.out().type == DataType::Bool;
  const bool integer = is_integer(v.out().type) || is_bool;
  const BufferId acc = b.register_("acc", integer ? DataType::Int32 : DataType::Float32);
  const Reduction reduces = reduction(v, count);
  return nested_loops(b, kept, [&](const std::vector<Expr>& place) {
    const Stmt sum = nested_loops(b, summed, [&](const std::vector<Expr>& position) {
      std::vector<Expr> indices;
      size_t next_kept = 0, next_summed = 0;
      for (const bool is_reduced : run_is_reduced) {
        indices.push_back(is_reduced ? position[next_summed++] : place[next_kept++]);
      }
      const Expr element = b.load(op.in(0), indices);
      return b.store(acc, {},
                     reduces.step(b.load(acc), integer && !is_bool ? to_i32(element) : element));
    });
    return tir::seq({b.store(acc, {}, reduces.start), sum,
                     b.store(op.out(), place, reduces.finish(b.load(acc)))});
  });
}

}  // namespace intarsia::standard_lowering
