// Depthwise convolution pixel by pixel on cores with the DSP extension: device/dsp_depthwise_pixels.c.
#include "depthwise.h"
#include "kernel_costs.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

constexpr int64_t kPixelChannels = 4;

std::string pixels_kernel_name(const Channels& channels) {
  return channels.quick ? "intarsia_dsp_depthwise_pixels_s8"
                        : "intarsia_dsp_depthwise_pixels_any_s8";
}

// [block][tap][lane].
std::vector<uint8_t> pixels_weights_of(const Depthwise& d) {
  std::vector<uint8_t> bytes;
  for (const int64_t block : blocks_of(d.window.out_c, kPixelChannels))
    for (size_t tap = 0; tap < d.rows[0].size(); ++tap)
      for (int64_t lane = 0; lane < kPixelChannels; ++lane)
        bytes.push_back(static_cast<uint8_t>(d.rows[static_cast<size_t>(block + lane)][tap]));
  return bytes;
}

}  // namespace

std::optional<double> dsp_depthwise_pixels_cycles(const Window& w, const Channels& channels) {
  if (w.in_c != w.out_c || w.out_c < kPixelChannels) return std::nullopt;
  return cycles_of_work(CostCore::M4,
                        work_of_call(CoreClass::Dsp, pixels_kernel_name(channels), w.values(), {}));
}

LowerKernel dsp_depthwise_pixels_kernel(const Depthwise& d, Channels channels) {
  // Elements less the zero point are multiplied, so that no sum of weights is in a bias.
  for (size_t c = 0; c < d.rows.size(); ++c)
    for (const int8_t weight : d.rows[c]) channels.list[c].bias += d.window.in_zero * weight;
  return [d, channels](OpLowering& op) {
    const Window& w = d.window;
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    std::vector<uint8_t> bytes = pixels_weights_of(d);
    const auto size = static_cast<int64_t>(bytes.size());
    const BufferId weights =
        op.constant("weights", DataType::Int8, {size}, std::move(bytes), tir::ConstantUse::Weights);
    const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4}, channels.table(),
                                       tir::ConstantUse::Weights);
    return call_kernel(
        op.b.func(),
        {pixels_kernel_name(channels), w.values(), {op.in(0)}, op.out(), {}, {weights, table}});
  };
}

}  // namespace intarsia::targets::cortex_m
