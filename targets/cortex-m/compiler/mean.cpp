// Mean and sum over neighbouring axes: device/mean.h.
#include <algorithm>

#include "intarsia/plugin/quantization.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// What is around the sums costs more than loops where they are short. Without SIMD only words of channels are
// added faster than bytes.
bool pays(CoreClass core, const ReducedShape& shape, bool wide) {
  const int64_t count = shape.count, inner = shape.inner;
  constexpr int64_t kLeastCount = 9, kLeastRow = 64, kLeastOfRows = 8, kLeastOfAllRows = 512,
                    kLanes = 16, kLeastOfWords = 4, kLeastOfVectors = 2;
  const int64_t least_row_of_vectors = wide ? 32 : 16;
  if (core == CoreClass::Lanes) return inner >= kLanes || (inner == 1 && count >= kLanes);
  if (lacks_simd(core)) return inner % 4 == 0 && count >= kLeastCount;
  if (inner == 1 && core == CoreClass::Mve) return count >= least_row_of_vectors;
  if (inner == 1)  // of many short rows the kernel's code is worth what each saves
    return count >= kLeastRow || (count >= kLeastOfRows && shape.outer * count >= kLeastOfAllRows);
  return inner >= 4 && count >= (core == CoreClass::Mve ? kLeastOfVectors : kLeastOfWords);
}

}  // namespace

std::optional<ReducedShape> reduced_shape(const OpView& view) {
  const Shape& in = view.in(0).shape;
  const std::vector<int64_t>& axes = view.node.attrs<graph::ReduceAttrs>().axes;
  ReducedShape s;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced =
        std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
    if (in[axis] == 1) continue;
    if (reduced && s.inner > 1) return std::nullopt;  // one more group of axes
    (reduced ? s.count : s.count > 1 ? s.inner : s.outer) *= in[axis];
  }
  return s;
}

LowerKernel mean_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &in = view.in(0), &out = view.out();
  const bool wide = in.type == DataType::Int16;
  if (in.type != out.type || (in.type != DataType::Int8 && !wide) ||
      (wide && (lacks_simd(core) || core == CoreClass::Lanes)))
    return nullptr;
  const std::optional<ReducedShape> shape = reduced_shape(view);
  if (!shape) return nullptr;
  const int64_t outer = shape->outer, count = shape->count, inner = shape->inner;
  if (!pays(core, *shape, wide)) return nullptr;
  const graph::Quantization &from = in.quantization, &to = out.quantization;
  const double in_scale = from.scale[0], out_scale = to.scale[0];
  const Multiplier m = view.node.kind == graph::OpKind::Mean
                           ? mean_multiplier(in_scale, out_scale, count)
                           : quantize_multiplier(in_scale / out_scale);
  const int64_t most_count = int64_t{1} << (wide ? 13 : 21);  // device/mean.h
  if (count > most_count >> std::max(m.shift, 0)) return nullptr;
  const std::vector<int64_t> numbers = {
      outer, count, inner, from.zero_point[0] * count, m.value, m.shift, to.zero_point[0]};
  const std::string name = core == CoreClass::Lanes ? "intarsia_lanes_mean_s8"
                           : wide                   ? "intarsia_mean_s16"
                                                    : "intarsia_mean_s8";
  return [=](OpLowering& op) {
    op.declare({Shape{outer * count * inner}}, Shape{outer * inner});
    return call_kernel(op.b.func(), {name, numbers, {op.in(0)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
