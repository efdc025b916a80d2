// Kernels for cores without SIMD.
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kWord = 4;

struct Layout {
  std::string family;
  int64_t scratch_bytes;
  int64_t row;  // bytes of one channel's weights
};

Stmt lower(OpLowering& op, const Window& w, const WeightRows& rows, const Channels& channels,
           const Layout& layout) {
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {layout.scratch_bytes}, kWord);
  const BufferId weights = op.constant("weights", DataType::Int8, {w.out_c, layout.row},
                                       filled_rows(rows, layout.row), tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4}, channels.table(),
                                     tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel_for(layout.family, channels, w),
                                   w.values(),
                                   {op.in(0)},
                                   op.out(),
                                   scratch,
                                   {weights, table}});
}

}  // namespace

LowerKernel thumb_conv_kernel(CoreClass core, const Conv& conv, const Channels& channels) {
  constexpr int64_t kBlock = 6;  // pixels of device/long_conv.h
  const Window& w = conv.window;
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, kWord);
  const bool direct = w.kernel_h == 1 && w.kernel_w == 1 && w.in_c % kWord == 0;
  const int64_t one = direct ? kWord : run, paired = 2 * kBlock * run + (direct ? 0 : 2 * run);
  const bool pairs = core == CoreClass::Long && w.pixels() >= kBlock && paired <= kMostScratch;
  const Layout layout =
      pairs ? Layout{"intarsia_long_conv", paired, run} : Layout{"intarsia_thumb_conv", one, run};
  return [conv, channels, layout](OpLowering& op) {
    return lower(op, conv.window, conv.rows, channels, layout);
  };
}

LowerKernel thumb_depthwise_kernel(const Depthwise& d, const Channels& channels) {
  constexpr int64_t kMostRows = 15, kOutputs = 4;
  const Window& w = d.window;
  const int64_t taps = w.kernel_h * w.kernel_w, rows = (w.kernel_h - 1) * w.dilation_h + 1;
  const int64_t columns =
      (round_up(w.out_w, kOutputs) - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
  const Layout layout{"intarsia_thumb_depthwise",
                      kWord * (taps * w.out_c / w.in_c + rows * columns), taps};
  if (w.kernel_h > kMostRows || layout.scratch_bytes > kMostScratch) return nullptr;
  return [d, channels, layout](OpLowering& op) {
    return lower(op, d.window, d.rows, channels, layout);
  };
}

}  // namespace intarsia::targets::cortex_m
