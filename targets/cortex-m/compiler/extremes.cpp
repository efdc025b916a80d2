// The larger or the smaller of two elements: device/extremes.h, and with a constant of one element device/clamp.h.
#include "intarsia/plugin/quantization.h"
#include "kernels.h"
#include "repeats.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

bool is_int8_or_int16(const graph::Tensor& tensor) {
  return tensor.type == DataType::Int8 || tensor.type == DataType::Int16;
}

LowerKernel limited_kernel(const OpView& view, size_t constant, int64_t limit) {
  const bool wide = view.out().type == DataType::Int16;
  Range range = type_range(view.out().type);
  (view.node.kind == graph::OpKind::Maximum ? range.low : range.high) = limit;
  const int64_t count = element_count(view.out().shape);
  return [=](OpLowering& op) {
    std::vector<std::optional<Shape>> inputs(2);
    inputs[1 - constant] = Shape{count};
    op.declare(std::move(inputs), Shape{count});
    op.allow_in_place();
    return call_kernel(op.b.func(), {wide ? "intarsia_each_clamp_s16" : "intarsia_each_clamp_s8",
                                     {count, range.low, range.high},
                                     {op.in(1 - constant)},
                                     op.out(),
                                     {},
                                     {}});
  };
}

}  // namespace

LowerKernel extreme_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kFewest = 16;  // fewer are sooner compared one by one than in a call
  if (lacks_simd(core) || core == CoreClass::Lanes || !is_int8_or_int16(view.out()) ||
      view.node.inputs[0] == view.node.inputs[1] || element_count(view.out().shape) < kFewest)
    return nullptr;
  for (const size_t constant : {0, 1})
    if (view.is_constant(constant) && element_count(view.in(constant).shape) == 1)
      return limited_kernel(view, constant, view.values(constant).at(0));
  const auto axes = repeated_axes(view.in(0).shape, view.in(1).shape, view.out().shape);
  if (!axes) return nullptr;
  const bool larger = view.node.kind == graph::OpKind::Maximum;
  const std::string name = std::string("intarsia_each_") + (larger ? "larger" : "smaller") +
                           (view.out().type == DataType::Int16 ? "_s16" : "_s8");
  const RowKernel kernel{name, [](int64_t count) { return std::vector<int64_t>{count}; }};
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

}  // namespace intarsia::targets::cortex_m
