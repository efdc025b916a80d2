// Fully connected layers of one row on cores with the DSP extension: device/dsp_kernels.h.
#include "intarsia/plugin/rounding.h"
#include "operators.h"
#include "shared_halfwords.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kChannelsTogether = 4, kElementsTogether = 4;

}  // namespace

LowerKernel dsp_dense_kernel(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  if (w.pixels() != 1 || w.in_h != 1 || w.in_w != 1 || w.kernel_h != 1 || w.kernel_w != 1 ||
      w.pad_top != 0 || w.pad_left != 0 || w.in_c % kElementsTogether != 0 ||
      w.out_c < kChannelsTogether || !shared_sums_fit(conv.rows))
    return nullptr;
  std::optional<std::vector<uint8_t>> packed = shared_halfwords(conv.rows, w.in_c);
  if (!packed) return nullptr;
  return [w, channels, packed = std::move(*packed)](OpLowering& op) {
    op.declare({Shape{1, 1, 1, w.in_c}}, Shape{1, 1, 1, w.out_c});
    const int64_t blocks = ceil_div(w.out_c, kChannelsTogether);
    const BufferId weights =
        op.constant("weights", DataType::Int8,
                    {blocks, w.in_c / kElementsTogether, kChannelsTogether * kElementsTogether},
                    packed, tir::ConstantUse::Weights);
    const BufferId table = op.constant("channels", DataType::Int32, {blocks * kChannelsTogether, 4},
                                       shared_table(channels), tir::ConstantUse::Weights);
    return call_kernel(op.b.func(), {kernel_for("intarsia_dsp_dense", channels, w),
                                     w.values(),
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {weights, table}});
  };
}

}  // namespace intarsia::targets::cortex_m
