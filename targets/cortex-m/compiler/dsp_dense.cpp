// Fully connected layers of one row on cores with the DSP extension: device/dsp_kernels.h.
#include <limits>

#include "intarsia/plugin/rounding.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kLanes = 4, kGroup = 4;

// Nothing when two weights do not fit a halfword.
std::optional<std::vector<uint8_t>> packed_weights(const WeightRows& rows, int64_t inputs) {
  std::vector<uint8_t> bytes;
  bool fits = true;
  const auto append = [&](int64_t channel, int64_t input) {
    const auto weight = [&](int64_t c) {
      return rows[static_cast<size_t>(c)][static_cast<size_t>(input)];
    };
    const int halfword = 256 * weight(channel + 1) + weight(channel);
    fits &= halfword >= std::numeric_limits<int16_t>::min();
    bytes.push_back(static_cast<uint8_t>(halfword));
    bytes.push_back(static_cast<uint8_t>(halfword >> 8));
  };
  for (const int64_t first : blocks_of(static_cast<int64_t>(rows.size()), kLanes))
    for (int64_t group = 0; group < inputs; group += kGroup)
      for (const int64_t start : {group, group + 1})
        for (const int64_t channel : {first, first + 2})
          for (const int64_t input : {start, start + 2}) append(channel, input);
  if (!fits) return std::nullopt;
  return bytes;
}

}  // namespace

LowerKernel dsp_dense_kernel(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  if (w.pixels() != 1 || w.in_h != 1 || w.in_w != 1 || w.kernel_h != 1 || w.kernel_w != 1 ||
      w.pad_top != 0 || w.pad_left != 0 || w.in_c % kGroup != 0 || w.out_c < kLanes)
    return nullptr;
  std::optional<std::vector<uint8_t>> packed = packed_weights(conv.rows, w.in_c);
  if (!packed) return nullptr;
  return [w, channels, packed = std::move(*packed)](OpLowering& op) {
    op.declare({Shape{1, 1, 1, w.in_c}}, Shape{1, 1, 1, w.out_c});
    const int64_t blocks = ceil_div(w.out_c, kLanes);
    const BufferId weights =
        op.constant("weights", DataType::Int8, {blocks, w.in_c / kGroup, kLanes * kGroup}, packed,
                    tir::ConstantUse::Weights);
    const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4}, channels.table(),
                                       tir::ConstantUse::Weights);
    return call_kernel(op.b.func(), {kernel_for("intarsia_dsp_dense", channels, w),
                                     w.values(),
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {weights, table}});
  };
}

}  // namespace intarsia::targets::cortex_m
