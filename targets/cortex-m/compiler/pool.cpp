// Average and maximum over windows: device/pool_softmax.h.
#include "channels.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// Each window sees the input: none lies in the padding alone.
bool sees_input(int64_t in, int64_t out, int64_t filter, int64_t stride, int64_t before) {
  return before < filter && (out - 1) * stride - before < in;
}

// The middle axis as the only window of each of `outer` images of one row.
Window window_of_all(const ReducedShape& shape) {
  Window w;
  w.batches = shape.outer, w.in_h = 1, w.in_w = shape.count, w.in_c = w.out_c = shape.inner;
  w.out_h = w.out_w = w.kernel_h = 1, w.kernel_w = shape.count;
  w.stride_h = w.stride_w = w.dilation_h = w.dilation_w = 1;
  return w;
}

}  // namespace

LowerKernel reduce_max_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kFewest = 4;  // elements of a window: fewer are sooner compared one by one
  const DataType type = view.in(0).type;
  const bool wide = type == DataType::Int16;
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || (type != DataType::Int8 && !wide))
    return nullptr;
  const std::optional<ReducedShape> shape = reduced_shape(view);
  if (!shape || shape->inner < kFewest || shape->count < kFewest) return nullptr;
  Window w = window_of_all(*shape);
  const Range range = type_range(type);
  w.low = range.low, w.high = range.high;
  if (!w.fits()) return nullptr;
  return [w, wide](OpLowering& op) {
    op.declare({Shape{w.batches, 1, w.in_w, w.in_c}}, Shape{w.batches, 1, 1, w.out_c});
    return call_kernel(op.b.func(), {wide ? "intarsia_max_pool_s16" : "intarsia_max_pool_s8",
                                     w.values(),
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {}});
  };
}

LowerKernel pool_kernel(CoreClass core, const OpView& view) {
  const bool lanes = core == CoreClass::Lanes;
  if (core != CoreClass::Dsp && core != CoreClass::Mve && !lanes)
    return nullptr;  // loops of known bounds are faster
  const graph::Tensor &in = view.in(0), &out = view.out();
  const bool wide = in.type == DataType::Int16;
  if (in.type != out.type || (in.type != DataType::Int8 && (!wide || lanes))) return nullptr;
  const auto& a = view.node.attrs<graph::Pool2dAttrs>();
  const Range range = activation_range(a.activation, out.type, out.quantization.scale[0],
                                       out.quantization.zero_point[0]);
  Window w;
  w.batches = in.shape[0], w.in_h = in.shape[1], w.in_w = in.shape[2],
  w.in_c = w.out_c = in.shape[3];
  w.out_h = out.shape[1], w.out_w = out.shape[2];
  w.kernel_h = a.filter_h, w.kernel_w = a.filter_w, w.stride_h = a.stride_h,
  w.stride_w = a.stride_w;
  w.pad_top = a.padding.top, w.pad_left = a.padding.left;
  w.dilation_h = w.dilation_w = 1;
  w.low = range.low, w.high = range.high;
  if (!w.fits() || !sees_input(w.in_h, w.out_h, w.kernel_h, w.stride_h, w.pad_top) ||
      !sees_input(w.in_w, w.out_w, w.kernel_w, w.stride_w, w.pad_left))
    return nullptr;
  const bool average = view.node.kind == graph::OpKind::AveragePool2d;
  constexpr int64_t kMostTaps = 255;
  const int64_t least_channels = lanes ? 16 : wide ? 2 : 4;
  const int64_t taps = w.kernel_h * w.kernel_w;
  const bool pays =
      !average || core != CoreClass::Dsp || taps > 4;  // the division takes most of small windows
  if (w.in_c < least_channels || !pays || (average && taps > kMostTaps && !lanes)) return nullptr;
  return [w, average, wide, lanes](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const std::string kernel = std::string(lanes ? "intarsia_lanes_" : "intarsia_") +
                               (average ? "average_pool_" : "max_pool_") + (wide ? "s16" : "s8");
    return call_kernel(op.b.func(), {kernel, w.values(), {op.in(0)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
