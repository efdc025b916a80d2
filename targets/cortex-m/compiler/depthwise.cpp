// Depthwise convolution with one filter per channel.
#include <algorithm>
#include <cstdlib>

#include "intarsia/plugin/rounding.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kDspLanes = 4;

Depthwise read(const OpView& v) {
  const auto& a = v.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  const Range range = output_range(v, a.activation);
  Depthwise d;
  d.window = {in[0],
              in[1],
              in[2],
              in[3],
              out[1],
              out[2],
              out[3],
              weights[1],
              weights[2],
              a.stride_h,
              a.stride_w,
              a.dilation_h,
              a.padding.top,
              a.padding.left,
              v.in(0).quantization.zero_point[0],
              v.out().quantization.zero_point[0],
              range.low,
              range.high,
              a.dilation_w};
  const std::vector<int64_t> values = v.values(1);
  const auto channels = static_cast<size_t>(out[3]);
  d.rows.assign(channels, std::vector<int8_t>(values.size() / channels));
  for (size_t i = 0; i < values.size(); ++i)
    d.rows[i % channels][i / channels] = static_cast<int8_t>(values[i]);
  return d;
}

// The geometry of device/dsp_kernels.h.
struct DspLayout {
  int64_t phases, pairs, columns;
  explicit DspLayout(const Window& w)
      : phases(w.stride_h % 2 == 0 ? 1 : 2),
        pairs(phases == 1 ? (w.kernel_h + 1) / 2 : w.kernel_h / 2 + 1),
        columns((w.out_w - 1) * w.stride_w + w.kernel_w) {}
  int64_t scratch_bytes(const Window& w) const {
    return 16 * pairs * (phases * w.kernel_w + columns);
  }
};

// Zero above and below the window.
uint8_t weight_at(const Depthwise& d, int64_t channel, int64_t ky, int64_t kx) {
  if (ky < 0 || ky >= d.window.kernel_h) return 0;
  return static_cast<uint8_t>(
      d.rows[static_cast<size_t>(channel)][static_cast<size_t>(ky * d.window.kernel_w + kx)]);
}

std::vector<uint8_t> dsp_weights(const Depthwise& d, const DspLayout& layout) {
  const Window& w = d.window;
  std::vector<uint8_t> bytes;
  for (const int64_t block : blocks_of(w.out_c, kDspLanes))
    for (int64_t phase = 0; phase < layout.phases; ++phase)
      for (int64_t pair = 0; pair < layout.pairs; ++pair)
        for (int64_t kx = 0; kx < w.kernel_w; ++kx)
          for (int64_t two = 0; two < kDspLanes; two += 2)
            for (int64_t row = 0; row < 2; ++row)
              for (int64_t lane = 0; lane < 2; ++lane)
                bytes.push_back(weight_at(d, block + two + lane, 2 * pair + row - phase, kx));
  return bytes;
}

Stmt lower_dsp(OpLowering& op, const Depthwise& d, const Channels& channels) {
  const Window& w = d.window;
  const DspLayout layout(w);
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {layout.scratch_bytes(w)}, 4);
  const Shape extents{ceil_div(w.out_c, kDspLanes), layout.phases, layout.pairs, w.kernel_w,
                      2 * kDspLanes};
  const BufferId weights = op.constant("weights", DataType::Int8, extents, dsp_weights(d, layout),
                                       tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4}, channels.table(),
                                     tir::ConstantUse::Weights);
  const std::string kernel = dsp_kernel_for("intarsia_dsp_depthwise", channels, w);
  return call_kernel(op.b.func(),
                     {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
}

// Windows of three columns and two pairs of rows, whose weights fill registers (device/dsp_depthwise_3x3.c).
struct Dsp3x3Layout {
  static constexpr int64_t kTaps = 6;
  // Pairs of rows in scratch: all that there are, or what this many bytes hold. Each row of outputs that begins behind the
  // ones before, without a gap in the ring, saves a call.
  static constexpr int64_t kRingBytes = 2048;
  int64_t phases, pair_bytes, slots;
  explicit Dsp3x3Layout(const Window& w)
      : phases(w.stride_h == 1 ? 2 : 1),
        pair_bytes(4 * kDspLanes * ((w.out_w - 1) * w.stride_w + w.kernel_w)),
        slots(std::min(ceil_div(w.out_h, phases) + 1,
                       std::max<int64_t>(2, kRingBytes / pair_bytes))) {}
  static bool covers(const Window& w) {
    return w.kernel_w == 3 && w.stride_w <= 2 && w.pad_left < 3 &&
           ((w.stride_h == 1 && (w.kernel_h == 2 || w.kernel_h == 3)) ||
            (w.stride_h == 2 && (w.kernel_h == 3 || w.kernel_h == 4)));
  }
  int64_t scratch_bytes() const { return slots * pair_bytes; }
};

std::vector<uint8_t> dsp_3x3_weights(const Depthwise& d, const Dsp3x3Layout& layout) {
  const Window& w = d.window;
  std::vector<uint8_t> bytes;
  for (const int64_t block : blocks_of(w.out_c, kDspLanes))
    for (int64_t phase = 0; phase < layout.phases; ++phase)
      for (int64_t lane = 0; lane < kDspLanes; ++lane)
        for (int64_t taps = 0; taps < Dsp3x3Layout::kTaps; taps += 2)
          for (int64_t row = 0; row < 2; ++row)
            for (int64_t tap = taps; tap < taps + 2; ++tap)
              bytes.push_back(weight_at(d, block + lane, 2 * (tap / 3) + row - phase, tap % 3));
  return bytes;
}

Stmt lower_dsp_3x3(OpLowering& op, Depthwise d, const Channels& channels) {
  const Dsp3x3Layout layout(d.window);
  d.window.strip_h = layout.slots;
  const Window& w = d.window;
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {layout.scratch_bytes()}, 4);
  const Shape extents{ceil_div(w.out_c, kDspLanes), layout.phases, kDspLanes,
                      2 * Dsp3x3Layout::kTaps};
  const BufferId weights = op.constant("weights", DataType::Int8, extents,
                                       dsp_3x3_weights(d, layout), tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4}, channels.table(),
                                     tir::ConstantUse::Weights);
  const std::string kernel = dsp_kernel_for("intarsia_dsp_depthwise_3x3", channels, w);
  return call_kernel(op.b.func(),
                     {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
}

}  // namespace

LowerKernel depthwise_kernel(CoreClass core, const OpView& view, bool small) {
  if (!is_int8_dot_product(view)) return nullptr;
  if (view.in(0).shape[3] == 1) return conv_kernel(core, view, small);
  const Depthwise d = read(view);
  const auto multipliers =
      conv_multipliers(view.in(0).quantization, view.in(1).quantization, view.out().quantization);
  std::optional<Channels> channels = make_channels(view, d.rows, multipliers);
  if (!channels || !d.window.fits()) return nullptr;
  channels->shared = small;
  if (core == CoreClass::Thumb || core == CoreClass::Long)
    return thumb_depthwise_kernel(d, *channels);
  if (core == CoreClass::Mve) {
    if (LowerKernel kernel = mve_depthwise_kernel(d, d.window.dilation_w, *channels)) return kernel;
  }
  if (d.window.in_c != d.window.out_c || d.window.dilation_h != 1 || d.window.dilation_w != 1 ||
      d.window.out_c < kDspLanes)
    return nullptr;
  if (channels->quick && Dsp3x3Layout::covers(d.window)) {
    if (Dsp3x3Layout(d.window).scratch_bytes() > kMostScratch) return nullptr;
    return [d, channels = *channels](OpLowering& op) { return lower_dsp_3x3(op, d, channels); };
  }
  if (DspLayout(d.window).scratch_bytes(d.window) > kMostScratch) return nullptr;
  return [d, channels = *channels](OpLowering& op) { return lower_dsp(op, d, channels); };
}

}  // namespace intarsia::targets::cortex_m
