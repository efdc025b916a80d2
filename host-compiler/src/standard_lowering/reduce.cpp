// Mean over any set of axes.
#include <algorithm>

#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

Refusal refuses_mean(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Float32}, Float32}})) return types;
  return refuses_quantization(view);
}

Stmt lower_mean(OpLowering& op) {
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
  const bool integer = is_integer(v.out().type);
  const BufferId acc = b.register_("acc", integer ? DataType::Int32 : DataType::Float32);
  const auto result = [&]() -> Expr {
    if (!integer) {
      const Expr divisor = tir::float_imm(static_cast<float>(count));
      return tir::call(DataType::Float32, "intarsia_divide_f32", {b.load(acc), divisor});
    }
    const graph::Quantization &from = v.in(0).quantization, &to = v.out().quantization;
    const Expr sum = b.load(acc) - from.zero_point[0] * count;
    const Expr mean = requantize(sum, mean_multiplier(from.scale[0], to.scale[0], count));
    return clamp(mean + to.zero_point[0], type_range(v.out().type), v.out().type);
  };
  return nested_loops(b, kept, [&](const std::vector<Expr>& place) {
    const Stmt sum = nested_loops(b, summed, [&](const std::vector<Expr>& position) {
      std::vector<Expr> indices;
      size_t next_kept = 0, next_summed = 0;
      for (const bool is_reduced : run_is_reduced) {
        indices.push_back(is_reduced ? position[next_summed++] : place[next_kept++]);
      }
      const Expr element = b.load(op.in(0), indices);
      return accumulate(b, acc, integer ? to_i32(element) : element);
    });
    const Expr start = integer ? tir::int_imm(0) : tir::float_imm(0.0f);
    return tir::seq({b.store(acc, {}, start), sum, b.store(op.out(), place, result())});
  });
}

}  // namespace intarsia::standard_lowering
