// Grouped, dilated and transposed convolutions of int16 activations, made of plain ones: device/staged_conv.h.
#include "conv.h"
#include "intarsia/plugin/quantization.h"
#include "staged_conv.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kHalfBytes = 2;

// Bytes that the convolution itself works in.
int64_t own_wide_scratch(CoreClass core, const Staged& s) {
  constexpr int64_t kPixels = 4;
  const int64_t run = s.kernel_h * s.kernel_w * s.group_in / kHalfBytes;
  return core == CoreClass::Mve
             ? kHalfBytes * 2
             : kHalfBytes * (kPixels * round_up(round_up(run, 2), 4) + round_up(run, 2));
}

void append_wide_group(CoreClass core, StagedCall& call, WideConv conv) {
  if (core == CoreClass::Dsp) {
    ConvConstants made = dsp_wide_conv_constants(conv);
    append_group(call, made.weights, made.channels);
    return;
  }
  append_group(call, mve_wide_conv_stream(conv), {});
}

std::optional<StagedCall> make_wide_call(CoreClass core, const OpView& v, const StagedPart& part,
                                         Range range) {
  StagedCall call{
      core == CoreClass::Mve ? "intarsia_staged_mve_conv_s16" : "intarsia_staged_dsp_conv_s16",
      part.staged,
      {},
      {},
      0};
  const std::vector<int64_t> values = v.values(1);
  const WeightRows rows =
      staged_rows(part, v.in(1).shape, std::vector<int8_t>(values.begin(), values.end()));
  const auto channels = short_channels(
      v, rows, conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization));
  if (!channels) return std::nullopt;
  Staged& s = call.staged;
  s.low = range.low, s.high = range.high;
  const std::optional<int64_t> scratch =
      choose_pieces(s, [&](int64_t) { return own_wide_scratch(core, s); });
  if (!scratch) return std::nullopt;
  call.scratch = *scratch;
  WideConv conv;
  conv.window.kernel_h = 1, conv.window.kernel_w = s.kernel_w;
  conv.window.in_c = s.kernel_h * s.group_in / kHalfBytes,
  conv.window.out_c = s.group_out / kHalfBytes;
  const auto count = conv.window.out_c;
  for (auto first = int64_t{0}; first < static_cast<int64_t>(rows.size()); first += count) {
    conv.rows.assign(rows.begin() + first, rows.begin() + first + count);
    conv.channels.assign(channels->begin() + first, channels->begin() + first + count);
    append_wide_group(core, call, conv);
  }
  // What the kernels see as the image of a piece.
  conv.window.in_c *= kHalfBytes;
  conv.window.in_w = (s.pixels - 1) * s.column_stride + s.kernel_w;
  conv.window.in_h = s.band + kHalfBytes * 8;
  return conv.window.fits() && s.fits() ? std::optional(std::move(call)) : std::nullopt;
}

}  // namespace

LowerKernel staged_wide_kernel(CoreClass core, const OpView& view, std::optional<double> below) {
  if (!has_wide_kernels(core) || !is_wide_product(view)) return nullptr;
  const graph::Activation activation =
      view.node.kind == graph::OpKind::TransposeConv2d
          ? view.node.attrs<graph::TransposeConv2dAttrs>().activation
          : view.node.attrs<graph::Conv2dAttrs>().activation;
  std::optional<std::vector<StagedCall>> calls =
      cheapest_calls(core, view, kHalfBytes, [&](const StagedPart& part) {
        return make_wide_call(core, view, part, activation_limits(view, activation));
      });
  if (!calls) return nullptr;
  if (below) {
    const std::optional<double> cycles = cycles_of_calls(core, *calls);
    if (!cycles || *cycles >= *below) return nullptr;
  }
  return [calls = std::move(*calls)](OpLowering& op) { return lower_staged(op, calls); };
}

}  // namespace intarsia::targets::cortex_m
