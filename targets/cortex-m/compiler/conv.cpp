// Convolution, fully connected, and depthwise convolution of a single channel, which is a convolution.
#include <algorithm>

#include "columns_together.h"
#include "kernel_costs.h"
#include "operators.h"
#include "shared_halfwords.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr size_t kEntry = 16;  // bytes of struct intarsia_channel

int8_t as_int8(int64_t value) {
  return static_cast<int8_t>(value);
}

void set_range(const OpView& v, graph::Activation activation, Window& w) {
  const Range range = output_range(v, activation);
  w.low = range.low, w.high = range.high;
  w.in_zero = v.in(0).quantization.zero_point[0];
  w.out_zero = v.out().quantization.zero_point[0];
}

// [channel][rest] as rows.
WeightRows rows_of(const OpView& v, int64_t channels) {
  const std::vector<int64_t> values = v.values(1);
  const size_t row = values.size() / static_cast<size_t>(channels);
  WeightRows rows(static_cast<size_t>(channels), std::vector<int8_t>(row));
  for (size_t i = 0; i < values.size(); ++i) rows[i / row][i % row] = as_int8(values[i]);
  return rows;
}

// Weights of a group's channels become those of all channels, zero elsewhere.
WeightRows ungrouped_rows(const WeightRows& rows, int64_t group_in, int64_t in_c) {
  const auto own = static_cast<size_t>(group_in), all = static_cast<size_t>(in_c),
             each = rows.size() / (all / own);
  WeightRows ungrouped;
  for (size_t c = 0; c < rows.size(); ++c) {
    std::vector<int8_t>& to = ungrouped.emplace_back(rows[c].size() / own * all, int8_t{0});
    for (size_t i = 0; i < rows[c].size(); ++i)
      to[i / own * all + c / each * own + i % own] = rows[c][i];
  }
  return ungrouped;
}

std::optional<Conv> read_conv2d(const OpView& v) {
  const auto& a = v.node.attrs<graph::Conv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  if (a.dilation_w != 1 && weights[2] != 1) return std::nullopt;
  Conv conv;
  conv.window = {in[0],      in[1],        in[2],         in[3],         out[1],
                 out[2],     out[3],       weights[1],    weights[2],    a.stride_h,
                 a.stride_w, a.dilation_h, a.padding.top, a.padding.left};
  conv.window.dilation_w = a.dilation_w;
  set_range(v, a.activation, conv.window);
  conv.rows = rows_of(v, out[3]);
  if (weights[3] != in[3]) conv.rows = ungrouped_rows(conv.rows, weights[3], in[3]);
  conv.multipliers =
      conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  return conv;
}

// Weights [1, kernel_h, kernel_w, out_c] of a depthwise convolution with one input channel.
std::optional<Conv> read_depthwise(const OpView& v) {
  const auto& a = v.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  if (in[3] != 1 || (a.dilation_w != 1 && weights[2] != 1)) return std::nullopt;
  Conv conv;
  conv.window = {in[0],         in[1],         in[2],      1,          out[1],     out[2],
                 out[3],        weights[1],    weights[2], a.stride_h, a.stride_w, a.dilation_h,
                 a.padding.top, a.padding.left};
  conv.window.dilation_w = a.dilation_w;
  set_range(v, a.activation, conv.window);
  const std::vector<int64_t> values = v.values(1);
  const auto channels = static_cast<size_t>(out[3]);
  conv.rows.assign(channels, std::vector<int8_t>(values.size() / channels));
  for (size_t i = 0; i < values.size(); ++i)
    conv.rows[i % channels][i / channels] = as_int8(values[i]);
  conv.multipliers =
      conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  return conv;
}

Conv read_fully_connected(const OpView& v) {
  const Shape& weights = v.in(1).shape;
  const int64_t rows = element_count(v.in(0).shape) / weights[1];
  Conv conv;
  conv.window = {1, 1, rows, weights[1], 1, rows, weights[0], 1, 1, 1, 1, 1};
  conv.window.dilation_w = 1;
  set_range(v, v.node.attrs<graph::FullyConnectedAttrs>().activation, conv.window);
  conv.rows = rows_of(v, weights[0]);
  conv.multipliers =
      conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  return conv;
}

std::optional<Conv> read(const OpView& v) {
  switch (v.node.kind) {
    case graph::OpKind::Conv2d:
      return read_conv2d(v);
    case graph::OpKind::DepthwiseConv2d:
      return read_depthwise(v);
    default:
      return read_fully_connected(v);
  }
}

// A pointwise convolution is a fully connected layer over its pixels: one long row.
void make_one_row(Window& w) {
  if (w.kernel_h != 1 || w.kernel_w != 1 || w.stride_h != 1 || w.stride_w != 1 ||
      w.in_h != w.out_h || w.in_w != w.out_w || w.pixels() > INT16_MAX)
    return;
  w.in_w = w.out_w = w.pixels();
  w.batches = w.in_h = w.out_h = 1;
}

// Rows of the window, each with zeros behind it.
WeightRows filled_kernel_rows(const WeightRows& rows, const Window& w) {
  const auto run = static_cast<size_t>(w.kernel_w * w.in_c);
  WeightRows filled;
  for (const std::vector<int8_t>& row : rows) {
    std::vector<int8_t>& to = filled.emplace_back();
    for (size_t ky = 0; ky < static_cast<size_t>(w.kernel_h); ++ky) {
      const auto from = row.begin() + static_cast<ptrdiff_t>(ky * run);
      to.insert(to.end(), from, from + static_cast<ptrdiff_t>(run));
      to.resize((ky + 1) * static_cast<size_t>(w.strip_w));
    }
  }
  return filled;
}

constexpr int64_t kFour = 4;

// By the code, for four pixels: 17 cycles for the 16 products of two channels and four pixels, 15 for those of four channels and two
// pixels; and what is around the loop. A block that overlaps another is a call more.
bool four_is_faster(int64_t channels, int64_t run) {
  if (channels < kFour) return false;
  const int64_t by_two = ceil_div(channels, 2) * (80 + 17 * run / 2);
  const int64_t by_four = 2 * ceil_div(channels, kFour) * (92 + 15 * run / 2);
  return by_four + (channels % kFour != 0 ? 80 : 0) <= by_two;
}

// Bytes of a kernel row in the columns of the DSP kernel: filled up to whole words, so that four pixels' rows are made into
// pairs where they lie, where that saves more than the products with the filling take, beyond what the estimate knows.
int64_t dsp_row_bytes(const Window& w, const Channels& channels) {
  constexpr double kSure = 0.97;
  const int64_t run = w.kernel_w * w.in_c, filled = round_up(run, kFour);
  const auto cycles = [&](int64_t row_bytes) {
    Window with = w;
    with.strip_w = row_bytes;
    const bool by_four =
        channels.quick && four_is_faster(w.out_c, round_up(w.kernel_h * row_bytes, kFour));
    return cycles_of_work(CostCore::M4, dsp_convolution(with, Way::Rectified, by_four)).value_or(0);
  };
  return filled != run && cycles(filled) <= kSure * cycles(run) ? filled : run;
}

Stmt lower_dsp(OpLowering& op, const Conv& conv, const Channels& channels, int64_t scratch_bytes) {
  const Window& w = conv.window;
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {scratch_bytes}, 4);
  std::optional<ConvConstants> by_four = dsp_conv_by_four_constants(conv, channels);
  const std::string kernel =
      dsp_kernel_for(by_four ? "intarsia_dsp_conv_by_four" : "intarsia_dsp_conv", channels, w);
  ConvConstants made = by_four ? std::move(*by_four) : dsp_conv_constants(conv, channels);
  const int64_t run = round_up(w.kernel_h * w.strip_w, 4);
  const auto rows = static_cast<int64_t>(made.channels.size() / kEntry);
  const BufferId weights = op.constant("weights", DataType::Int8, {rows, run},
                                       std::move(made.weights), tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {rows, 4},
                                     std::move(made.channels), tir::ConstantUse::Weights);
  return call_kernel(op.b.func(),
                     {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
}

}  // namespace

std::vector<uint8_t> paired_rows(const WeightRows& rows, int64_t run) {
  std::vector<uint8_t> bytes;
  for (size_t first = 0; first < rows.size(); first += 2)
    for (int64_t group = 0; group < run; group += 4)
      for (const int64_t element : {0, 2, 1, 3})
        for (const size_t row : {first, first + 1}) {
          const auto at = static_cast<size_t>(group + element);
          const bool there = row < rows.size() && at < rows[row].size();
          bytes.push_back(there ? static_cast<uint8_t>(rows[row][at]) : 0);
        }
  return bytes;
}

ConvConstants dsp_conv_constants(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  ConvConstants made{
      paired_rows(filled_kernel_rows(conv.rows, w), round_up(w.kernel_h * w.strip_w, 4)),
      channels.table()};
  made.channels.resize(static_cast<size_t>(round_up(w.out_c, 2)) * kEntry);
  return made;
}

std::optional<ConvConstants> dsp_conv_by_four_constants(const Conv& conv,
                                                        const Channels& channels) {
  const Window& w = conv.window;
  const int64_t run = round_up(w.kernel_h * w.strip_w, 4);
  if (!channels.quick || !four_is_faster(w.out_c, run) || !shared_sums_fit(conv.rows))
    return std::nullopt;
  std::optional<std::vector<uint8_t>> weights =
      shared_halfwords(filled_kernel_rows(conv.rows, w), run);
  if (!weights) return std::nullopt;
  return ConvConstants{std::move(*weights), shared_table(channels)};
}

namespace {

bool is_grouped(const OpView& view) {
  return view.node.kind == graph::OpKind::Conv2d && view.in(1).shape[3] != view.in(0).shape[3];
}

// Whether a grouped convolution is sooner done as one of all channels, most of whose weights are zero: groups of few channels take what is
// around their products several times. A byte more of weights has to save some cycles.
bool is_sooner_ungrouped(CoreClass core, const OpView& view, const LowerKernel& ungrouped,
                         const LowerKernel& grouped) {
  const Shape& weights = view.in(1).shape;
  const auto more =
      static_cast<double>(element_count(weights) * (view.in(0).shape[3] / weights[3] - 1));
  if (!grouped) return false;
  const std::optional<double> one = cycles_of_kernel(core, view, ungrouped),
                              several = cycles_of_kernel(core, view, grouped);
  return one && several && *one + kCyclesForAByte * more <= *several;
}

}  // namespace

LowerKernel grouped_kernel(CoreClass core, const OpView& view, bool small, int64_t waits) {
  LowerKernel grouped = staged_kernel(core, view, small);
  if (small || !is_grouped(view)) return grouped;
  const LowerKernel ungrouped = conv_kernel(core, view, small, waits);
  return ungrouped && is_sooner_ungrouped(core, view, ungrouped, grouped) ? ungrouped : grouped;
}

namespace {

LowerKernel kernel_of(CoreClass core, const OpView& view, Conv conv, bool small, int64_t waits) {
  std::optional<Channels> channels = make_channels(view, conv.rows, conv.multipliers);
  if (!channels || !conv.window.fits()) return nullptr;
  channels->shared = small;
  const Window& w = conv.window;
  const bool padded = w.pad_top != 0 || w.pad_left != 0 || (w.out_h - 1) * w.stride_h >= w.in_h ||
                      (w.out_w - 1) * w.stride_w >= w.in_w;
  const bool whole_window = !(padded && w.kernel_h * w.kernel_w == 1);
  if (core == CoreClass::Lanes) return lane_conv_kernel(conv, *channels);
  if (core == CoreClass::Rv32) return whole_window ? rv32_conv_kernel(conv, *channels) : nullptr;
  if (lacks_simd(core)) return whole_window ? thumb_conv_kernel(core, conv, *channels) : nullptr;
  if (core == CoreClass::Mve) {
    if (LowerKernel kernel = mve_conv_kernel(conv, *channels, slow_constants(view, waits)))
      return kernel;
  }
  if (LowerKernel kernel = dsp_dense_kernel(conv, *channels)) return kernel;
  conv.window.strip_w = dsp_row_bytes(w, *channels);
  const int64_t scratch =
      round_up(w.kernel_h * w.strip_w, 4) * ((w.pixels() >= 4 ? 8 : 2) + (w.in_c % 4 != 0 ? 1 : 0));
  // One row whose sums do not fit what a halfword of two weights leaves them is read where it lies, not widened first. Fewer than
  // four channels take as long as four there, and are worth it for the scratch alone.
  constexpr int64_t kMostForOneRow = 4096;
  if (w.pixels() == 1 && w.kernel_h * w.kernel_w == 1 && w.in_c % 4 == 0 && whole_window &&
      (w.out_c >= 4 || scratch > kMostForOneRow))
    return thumb_conv_kernel(core, conv, *channels);
  if (scratch > kMostScratch) return nullptr;
  const LowerKernel kernel = [conv, channels = *channels, scratch](OpLowering& op) {
    return lower_dsp(op, conv, channels, scratch);
  };
  const LowerKernel filled = small ? nullptr : dsp_filled_dense_kernel(conv, *channels);
  if (!filled) return kernel;
  const std::optional<double> cycles = cycles_of_kernel(core, view, kernel),
                              cycles_filled = cycles_of_kernel(core, view, filled);
  return cycles && cycles_filled && *cycles_filled < *cycles ? filled : kernel;
}

}  // namespace

LowerKernel conv_kernel(CoreClass core, const OpView& view, bool small, int64_t waits) {
  if (!is_int8_dot_product(view) || (core == CoreClass::Lanes && is_grouped(view))) return nullptr;
  const std::optional<Conv> read_conv = read(view);
  if (!read_conv) return nullptr;
  const auto simplified = [&](Conv conv) {
    if (core != CoreClass::Lanes) {
      leave_out_padding(conv.window, conv.rows);
      make_slide_one_way(conv.window);
    }
    make_one_row(conv.window);
    return conv;
  };
  const Conv alone = simplified(*read_conv);
  if (small || core == CoreClass::Lanes) return kernel_of(core, view, alone, small, waits);
  return soonest_together(core, view, alone.window, [&](int64_t columns) {
    Conv conv = alone;
    conv.rows = rows_together(conv.rows, conv.window, columns);
    conv.window = columns_together(conv.window, columns);
    return kernel_of(core, view, simplified(std::move(conv)), small, waits);
  });
}

}  // namespace intarsia::targets::cortex_m
