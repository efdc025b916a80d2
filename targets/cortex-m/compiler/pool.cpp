// Average and maximum over windows: device/pool_softmax.h.
#include <algorithm>

#include "channels.h"
#include "intarsia/plugin/rounding.h"
#include "kernel_costs.h"
#include "operators.h"

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

// What is made of an image's rows before its columns (device/pool_softmax.h).
enum class Pooling { Average, Max, WideMax };

// A line of the columns that some outputs see, of sums or maxima, and sometimes another.
struct Lines {
  int64_t strip, bytes;
};
Lines lines_of(const Window& w, Pooling pooling) {
  constexpr int64_t kMostBytes = 2048, kFewChannels = 16;
  const bool average = pooling == Pooling::Average;
  const int64_t element_bytes = pooling == Pooling::Max ? 1 : 2;
  const bool two_lines = !average && w.stride_w > 1 && w.in_c < kFewChannels;
  const bool padded = w.pad_left > 0 || (w.out_w - 1) * w.stride_w + w.kernel_w > w.in_w;
  const bool one_way = w.kernel_h == 1 || (w.kernel_w == 1 && w.stride_w == 1);
  if (!average && one_way && !padded && !two_lines) return {w.out_w, 0};
  const int64_t column = (two_lines ? 2 : 1) * w.in_c * element_bytes;
  const int64_t columns = kMostBytes / column;
  const int64_t most = columns < w.kernel_w ? 1 : (columns - w.kernel_w) / w.stride_w + 1;
  const int64_t strip = std::min(w.out_w, most);
  return {strip, ((strip - 1) * w.stride_w + w.kernel_w) * column};
}

// By the code: what loops of known bounds take at least.
double loop_cycles(const Window& w) {
  constexpr double kOutput = 15, kLoopTap = 6;
  return static_cast<double>(w.pixels() * w.out_c) *
         (kOutput + kLoopTap * static_cast<double>(w.kernel_h * w.kernel_w));
}

// Averages of few taps: the division takes most of the time, unless many channels share what a pixel takes. What is saved has to be
// worth the kernel's code, some 700 bytes, by the measure of the kernels that take rows first.
bool small_averages_pay(const Window& w) {
  constexpr double kWorthItsCode = 2048;
  const auto cycles =
      cycles_of_work(CostCore::M4, {pool(CoreClass::Dsp, w, /*average=*/true, /*wide=*/false)});
  return cycles && *cycles + kWorthItsCode <= loop_cycles(w);
}

// Whether they save so much that their two kilobytes are worth it, of the kernel that takes pixel by pixel or, without one, of loops.
bool rows_pay(CoreClass core, const Window& w, Pooling pooling, bool by_pixel) {
  constexpr double kLeastSaved = 8192;
  const CostCore cost_core = core_of_class(core);
  const bool average = pooling == Pooling::Average, wide = pooling == Pooling::WideMax;
  const double loops = loop_cycles(w);
  const double others =
      by_pixel ? cycles_of_work(cost_core, {pool(core, w, average, wide)}).value_or(loops) : loops;
  const KernelWork work = average ? rows_average_pool(core, w) : rows_max_pool(core, w, wide);
  const std::optional<double> cycles = cycles_of_work(cost_core, {work});
  return cycles && *cycles + kLeastSaved <= others;
}

// Empty where they do not pay.
LowerKernel rows_kernel(CoreClass core, Window w, Pooling pooling, bool by_pixel) {
  const Lines lines = lines_of(w, pooling);
  w.strip_w = lines.strip;
  if (lines.bytes > kMostScratch || !rows_pay(core, w, pooling, by_pixel)) return nullptr;
  return [w, pooling, lines](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    constexpr int64_t kWord = 4;
    const bool wide = pooling == Pooling::WideMax;
    const BufferId buffer = op.b.local("scratch", wide ? DataType::Int16 : DataType::Int8,
                                       {std::max(lines.bytes, kWord) / (wide ? 2 : 1)}, kWord);
    const char* kernel = pooling == Pooling::Average ? "intarsia_rows_average_pool_s8"
                         : wide                      ? "intarsia_rows_max_pool_s16"
                                                     : "intarsia_rows_max_pool_s8";
    return call_kernel(op.b.func(), {kernel, w.values(), {op.in(0)}, op.out(), buffer, {}});
  };
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

LowerKernel pool_kernel(CoreClass core, const OpView& view, bool small) {
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
  if (average && taps > kMostTaps && !lanes) return nullptr;
  const bool pays =
      !average || core != CoreClass::Dsp || taps > 4 || (!wide && small_averages_pay(w));
  const bool by_pixel = w.in_c >= least_channels && pays;
  if (!lanes && !small && !(average && wide)) {
    const Pooling pooling = average ? Pooling::Average : wide ? Pooling::WideMax : Pooling::Max;
    if (LowerKernel kernel = rows_kernel(core, w, pooling, by_pixel)) return kernel;
  }
  if (!by_pixel) return nullptr;
  return [w, average, wide, lanes](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const std::string kernel = std::string(lanes ? "intarsia_lanes_" : "intarsia_") +
                               (average ? "average_pool_" : "max_pool_") + (wide ? "s16" : "s8");
    return call_kernel(op.b.func(), {kernel, w.values(), {op.in(0)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
