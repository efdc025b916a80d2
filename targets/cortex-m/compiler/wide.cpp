// Int16 activations with int8 weights: device/wide.h.
#include <algorithm>
#include <limits>

#include "columns_together.h"
#include "conv.h"
#include "intarsia/plugin/rounding.h"
#include "kernel_costs.h"
#include "operators.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kMostTaps = 504;  // of a depthwise window: its sum fits 32 bits

// struct intarsia_wide.
struct Wide {
#define FIELD(name) int64_t name = 0;
#include "intarsia/targets/cortex_m/wide.def"
#undef FIELD

  std::vector<int64_t> values() const {
    return {
#define FIELD(name) name,
#include "intarsia/targets/cortex_m/wide.def"
#undef FIELD
    };
  }
  bool fits() const {
    const std::vector<int64_t> all = values();
    return std::all_of(all.begin(), all.end(), [](int64_t value) {
      return value >= std::numeric_limits<int16_t>::min() &&
             value <= std::numeric_limits<int16_t>::max();
    });
  }
};

struct WideOperator {
  Wide wide;
  std::vector<Multiplier> multipliers;
  WeightRows rows;  // per channel
};

template <typename Attributes>
Wide read_window(const OpView& v, const Attributes& a) {
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  return {in[0],      in[1],        in[2],        in[3],         out[1],
          out[2],     out[3],       weights[1],   weights[2],    a.stride_h,
          a.stride_w, a.dilation_h, a.dilation_w, a.padding.top, a.padding.left};
}

std::optional<WideOperator> read_wide(const OpView& v) {
  WideOperator op;
  graph::Activation activation{};
  const graph::Quantization &x = v.in(0).quantization, &w = v.in(1).quantization,
                            &y = v.out().quantization;
  switch (v.node.kind) {
    case graph::OpKind::Conv2d: {
      const auto& a = v.node.attrs<graph::Conv2dAttrs>();
      if (v.in(1).shape[3] != v.in(0).shape[3]) return std::nullopt;
      op.wide = read_window(v, a), activation = a.activation;
      op.rows = weight_rows(v, 1, op.wide.out_c);
      op.multipliers = conv_multipliers(x, w, y);
      break;
    }
    case graph::OpKind::DepthwiseConv2d: {
      const auto& a = v.node.attrs<graph::DepthwiseConv2dAttrs>();
      op.wide = read_window(v, a), activation = a.activation;
      const std::vector<int64_t> values = v.values(1);
      const auto channels = static_cast<size_t>(op.wide.out_c);
      op.rows.assign(channels, std::vector<int8_t>(values.size() / channels));
      for (size_t i = 0; i < values.size(); ++i)
        op.rows[i % channels][i / channels] = static_cast<int8_t>(values[i]);
      op.multipliers = conv_multipliers(x, w, y);
      break;
    }
    case graph::OpKind::FullyConnected: {
      const Shape& weights = v.in(1).shape;
      const int64_t rows = element_count(v.in(0).shape) / weights[1];
      op.wide = {1, 1, rows, weights[1], 1, rows, weights[0], 1, 1, 1, 1, 1, 1};
      activation = v.node.attrs<graph::FullyConnectedAttrs>().activation;
      op.rows = weight_rows(v, 1, weights[0]);
      op.multipliers = conv_multipliers(x, w, y);
      break;
    }
    default:
      return std::nullopt;
  }
  const Range range = activation_range(activation, DataType::Int16, y.scale[0], 0);
  op.wide.low = range.low, op.wide.high = range.high;
  op.wide.modular = v.has(2) && v.in(2).type == DataType::Int32 ? 1 : 0;
  // The loops leave out a factor of one; the kernels would carry sums beyond 2^30 out of 32 bits.
  if (op.wide.modular != 0 &&
      std::any_of(op.multipliers.begin(), op.multipliers.end(), is_identity))
    return std::nullopt;
  return op.wide.fits() ? std::optional(op) : std::nullopt;
}

// struct intarsia_wide_channel, one after another, `count` of them.
std::vector<uint8_t> table_of(const OpView& v, const WideOperator& op, int64_t count) {
  std::vector<uint8_t> bytes;
  const std::vector<int64_t> bias =
      v.has(2) ? v.values(2) : std::vector<int64_t>(op.rows.size(), 0);
  for (size_t c = 0; c < static_cast<size_t>(count); ++c) {
    const bool is_there = c < op.rows.size();
    const Multiplier m =
        is_there ? op.multipliers[op.multipliers.size() == 1 ? 0 : c] : Multiplier{0, -1};
    const WideMultiplier wide = wide_multiplier(m);
    const int64_t start = is_there ? bias[c] : 0;
    // Modulo 2^64, as the kernels add.
    const uint64_t scaled =
        static_cast<uint64_t>(start) * static_cast<uint64_t>(int64_t{wide.value}) +
        (uint64_t{1} << (wide.shift - 1));
    append_wide(bytes, op.wide.modular != 0 ? start : static_cast<int64_t>(scaled));
    append_word(bytes, op.wide.modular != 0 ? m.value : wide.value);
    append_word(bytes, op.wide.modular != 0 ? m.shift : wide.shift);
  }
  return bytes;
}

// The window as kernels on int8 know it.
Window window_of(const Wide& w) {
  Window window;
  window.batches = w.batches, window.in_h = w.in_h, window.in_w = w.in_w, window.in_c = w.in_c;
  window.out_h = w.out_h, window.out_w = w.out_w, window.out_c = w.out_c;
  window.kernel_h = w.kernel_h, window.kernel_w = w.kernel_w;
  window.stride_h = w.stride_h, window.stride_w = w.stride_w;
  window.dilation_h = w.dilation_h, window.dilation_w = w.dilation_w;
  window.pad_top = w.pad_top, window.pad_left = w.pad_left;
  window.low = w.low, window.high = w.high;
  return window;
}

// Of a convolution, as windows that see no padding where they need not, of `columns` results each.
WideOperator together(const WideOperator& op, int64_t columns) {
  WideOperator made = op;
  Window w = window_of(op.wide);
  made.rows = rows_together(op.rows, w, columns), w = columns_together(w, columns);
  leave_out_padding(w, made.rows);
  make_slide_one_way(w);
  Wide& wide = made.wide;
  wide.in_h = w.in_h, wide.in_w = w.in_w, wide.in_c = w.in_c;
  wide.out_h = w.out_h, wide.out_w = w.out_w, wide.out_c = w.out_c;
  wide.kernel_h = w.kernel_h, wide.kernel_w = w.kernel_w;
  wide.stride_h = w.stride_h, wide.stride_w = w.stride_w;
  wide.dilation_h = w.dilation_h, wide.dilation_w = w.dilation_w;
  wide.pad_top = w.pad_top, wide.pad_left = w.pad_left;
  return made;
}

std::string kernel(CoreClass core, const char* family) {
  return wide_prefix(core) + family;
}

// Elements of a window's axis that lie inside of the image, over all positions.
int64_t inside(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
               int64_t pad) {
  int64_t count = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = o * stride - pad + k * dilation;
      count += at >= 0 && at < in ? 1 : 0;
    }
  return count;
}

// The kernel gathers whole windows and multiplies four channels with what is padding too; the loops leave it
// out. Estimates in instructions, from counts.
bool is_worth_it(const Wide& w) {
  const int64_t pixels = w.batches * w.out_h * w.out_w, run = w.kernel_h * w.kernel_w * w.in_c;
  const int64_t seen = inside(w.in_h, w.out_h, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) *
                       inside(w.in_w, w.out_w, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left);
  const int64_t blocks = ceil_div(w.out_c, kWideLanes);
  const int64_t gathered = w.kernel_h * w.kernel_w > 1 ? 25 * w.kernel_h + 2 * run : 20;
  const int64_t ours = pixels * (gathered + blocks * (30 + 6 * run));
  const int64_t loops = 5 * w.batches * seen * w.in_c * w.out_c;
  return ours < loops + pixels * 8 * w.kernel_h;
}

// device/dsp_kernels.h. Fewer than four pixels are left to the kernel of one.
LowerKernel dsp_conv_of(const WideOperator& read, const std::vector<WideChannel>& channels) {
  constexpr int64_t kPixels = 4;
  Window w = window_of(read.wide);
  if (w.pixels() < kPixels || (w.dilation_w != 1 && w.kernel_w != 1)) return nullptr;
  const int64_t row = w.kernel_w * w.in_c, filled = round_up(row, 2);
  const int64_t run = round_up(w.kernel_h * filled, 4);
  const int64_t scratch_halves = kPixels * run + round_up(row, 2);
  if (2 * scratch_halves > kMostScratch || !w.fits()) return nullptr;
  return [read, channels, w, run, scratch_halves](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const int64_t rows = round_up(w.out_c, 2);
    ConvConstants made = dsp_wide_conv_constants({w, read.rows, channels});
    const BufferId scratch = op.b.local("scratch", DataType::Int16, {scratch_halves}, 4);
    const BufferId weights = op.constant("weights", DataType::Int8, {rows, run},
                                         std::move(made.weights), tir::ConstantUse::Weights);
    const BufferId constants = op.constant("channels", DataType::Int32, {rows, 4},
                                           std::move(made.channels), tir::ConstantUse::Weights);
    return call_kernel(
        op.b.func(),
        {"intarsia_dsp_conv_s16", w.values(), {op.in(0)}, op.out(), scratch, {weights, constants}});
  };
}

// Every window is one run of the image, which the kernel reads where it lies: device/wide_conv.c.
bool reads_in_image(CoreClass core, const Wide& w) {
  const int64_t run = w.kernel_w * w.in_c;
  return w.kernel_h == 1 && (w.dilation_w == 1 || w.kernel_w == 1) && w.pad_top == 0 &&
         w.pad_left == 0 && (w.out_h - 1) * w.stride_h < w.in_h &&
         (w.out_w - 1) * w.stride_w + w.kernel_w <= w.in_w &&
         (core == CoreClass::Mve || wide_run(core, run) == run);
}

// Where a window's columns are apart conv_of gathers every window by itself; by stages, results share what they see.
LowerKernel dilated_of(CoreClass core, const OpView& view, const Wide& w) {
  if (view.node.kind != graph::OpKind::Conv2d || w.kernel_w == 1 || w.dilation_w == 1)
    return nullptr;
  const char* other = core == CoreClass::Dsp ? "short_conv_s16" : "wide_conv_s16";
  return staged_wide_kernel(
      core, view,
      cycles_of_work(core == CoreClass::Mve ? CostCore::M55 : CostCore::M4,
                     work_of_call(core, kernel(core, other), w.values(), {})));
}

// `channels`: where sums fit 32 bits; only results differ.
LowerKernel conv_of(CoreClass core, const WideOperator& read,
                    const std::optional<std::vector<WideChannel>>& channels) {
  const Wide& w = read.wide;
  if (!is_worth_it(w)) return nullptr;
  const int64_t run = wide_run(core, w.kernel_h * w.kernel_w * w.in_c);
  if (2 * run > kMostScratch) return nullptr;
  const bool is_short = channels && core == CoreClass::Dsp;
  std::vector<uint8_t> rows;
  for (size_t c = 0; is_short && c < channels->size(); ++c) append_channel(rows, (*channels)[c]);
  return [core, read, run, is_short, rows](OpLowering& op) {
    constexpr int64_t kUnused = 2;
    const Wide& w = read.wide;
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const int64_t blocks = ceil_div(w.out_c, kWideLanes);
    const BufferId scratch =
        op.b.local("scratch", DataType::Int16, {reads_in_image(core, w) ? kUnused : run}, 4);
    const BufferId weights = op.constant("weights", DataType::Int8, {blocks, run * kWideLanes},
                                         wide_weights(core, read.rows), tir::ConstantUse::Weights);
    const BufferId table =
        op.constant("channels", DataType::Int32, {w.out_c, 4},
                    is_short ? rows : table_of(op.view, read, w.out_c), tir::ConstantUse::Weights);
    return call_kernel(op.b.func(), {kernel(core, is_short ? "short_conv_s16" : "wide_conv_s16"),
                                     w.values(),
                                     {op.in(0)},
                                     op.out(),
                                     scratch,
                                     {weights, table}});
  };
}

// [block][tap][lane]; Dsp: as SXTB16 makes pairs.
std::vector<uint8_t> depthwise_weights(CoreClass core, const WideOperator& read,
                                       const std::vector<int64_t>& blocks) {
  static const std::vector<int64_t> dsp = {0, 2, 1, 3}, mve = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<uint8_t> bytes;
  const auto channels = static_cast<int64_t>(read.rows.size());
  for (const int64_t first : blocks)
    for (size_t tap = 0; tap < read.rows[0].size(); ++tap)
      for (const int64_t lane : core == CoreClass::Mve ? mve : dsp)
        bytes.push_back(
            first + lane < channels
                ? static_cast<uint8_t>(read.rows[static_cast<size_t>(first + lane)][tap])
                : uint8_t{0});
  return bytes;
}

LowerKernel depthwise_of(CoreClass core, const WideOperator& read) {
  const Wide& w = read.wide;
  const bool mve = core == CoreClass::Mve;
  if (w.in_c != w.out_c || w.kernel_h * w.kernel_w > kMostTaps || (!mve && w.out_c < kWideLanes))
    return nullptr;
  constexpr int32_t kMostShift = 31;
  const auto is_far = [](Multiplier m) { return wide_multiplier(m).shift > kMostShift; };
  if (w.modular != 0 || std::any_of(read.multipliers.begin(), read.multipliers.end(), is_far))
    return nullptr;
  std::vector<int64_t> blocks;
  if (!mve) blocks = blocks_of(w.out_c, kWideLanes);
  for (int64_t first = 0; mve && first < w.out_c; first += 2 * kWideLanes) blocks.push_back(first);
  return [core, read, blocks](OpLowering& op) {
    const Wide& w = read.wide;
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    std::vector<uint8_t> bytes = depthwise_weights(core, read, blocks);
    const auto size = static_cast<int64_t>(bytes.size());
    const BufferId weights =
        op.constant("weights", DataType::Int8, {size}, std::move(bytes), tir::ConstantUse::Weights);
    const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4},
                                       table_of(op.view, read, w.out_c), tir::ConstantUse::Weights);
    return call_kernel(op.b.func(), {kernel(core, "wide_depthwise_s16"),
                                     w.values(),
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {weights, table}});
  };
}

// One stream for each block of eight channels: device/wide.h.
LowerKernel mve_depthwise_of(const WideOperator& read, const std::vector<WideChannel>& channels) {
  constexpr int64_t kLanes = 8, kMostBlock = 4096, kMostRuns = 16, kRunBytes = 24;
  const Wide& w = read.wide;
  const int64_t block_bytes = kLanes * (w.kernel_h * w.kernel_w + 12);
  if (w.out_c % w.in_c != 0 || block_bytes > kMostBlock) return nullptr;
  return [read, channels, block_bytes](OpLowering& op) {
    const Wide& w = read.wide;
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    std::vector<uint8_t> bytes;
    for (int64_t first = 0; first < w.out_c; first += kLanes) {
      const auto words = [&](int64_t WideChannel::*field) {
        for (const int64_t lane : {0, 2, 4, 6, 1, 3, 5, 7})
          append_word(bytes, first + lane < w.out_c
                                 ? channels[static_cast<size_t>(first + lane)].*field
                                 : 0);
      };
      words(&WideChannel::bias);
      const std::vector<uint8_t> weights = depthwise_weights(CoreClass::Mve, read, {first});
      bytes.insert(bytes.end(), weights.begin(), weights.end());
      words(&WideChannel::multiplier);
      words(&WideChannel::shift);
    }
    const int64_t runs = std::min(w.out_h * w.out_w, int64_t{kMostRuns});
    const BufferId scratch =
        op.b.local("scratch", DataType::Int8, {block_bytes + runs * kRunBytes}, 4);
    const auto count = static_cast<int64_t>(bytes.size()) / 4;
    const BufferId weights = op.constant("weights", DataType::Int32, {count}, std::move(bytes),
                                         tir::ConstantUse::Weights);
    const char* kernel =
        w.in_c == w.out_c ? "intarsia_mve_depthwise_s16" : "intarsia_mve_depthwise_shared_s16";
    return call_kernel(op.b.func(), {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights}});
  };
}

}  // namespace

LowerKernel wide_kernel(CoreClass core, const OpView& view, int64_t waits) {
  const graph::OpKind kind = view.node.kind;
  const bool is_depthwise = kind == graph::OpKind::DepthwiseConv2d;
  if (!has_wide_kernels(core) ||
      (!is_depthwise && kind != graph::OpKind::Conv2d && kind != graph::OpKind::FullyConnected) ||
      !is_wide_product(view))
    return nullptr;
  const std::optional<WideOperator> op = read_wide(view);
  if (!op) return nullptr;
  const std::optional<std::vector<WideChannel>> channels =
      short_channels(view, op->rows, op->multipliers);
  if (is_depthwise && op->wide.in_c != 1) {
    const Depthwise d{window_of(op->wide), op->rows};
    if (LowerKernel kernel = !channels                ? nullptr
                             : core == CoreClass::Mve ? mve_depthwise_of(*op, *channels)
                                                      : dsp_wide_depthwise_3x3_kernel(d, *channels))
      return kernel;
    if (channels && core == CoreClass::Dsp) {
      std::optional<double> others;
      if (depthwise_of(core, *op))
        others = cycles_of_work(CostCore::M4, work_of_call(core, kernel(core, "wide_depthwise_s16"),
                                                           op->wide.values(), {}));
      if (LowerKernel kernel = dsp_wide_depthwise_kernel(d, *channels, others)) return kernel;
    }
    return depthwise_of(core, *op);
  }
  if (channels) {
    const auto by_stages = [&](double below) { return staged_wide_kernel(core, view, below); };
    const WideOperator alone = together(*op, 1);
    const auto make = [&](int64_t columns) {
      const WideOperator several = together(alone, columns);
      std::vector<WideChannel> all;
      for (int64_t column = 0; column < columns; ++column)
        all.insert(all.end(), channels->begin(), channels->end());
      return core == CoreClass::Mve
                 ? mve_wide_conv_kernel({window_of(several.wide), several.rows, all},
                                        slow_constants(view, waits), by_stages)
                 : dsp_conv_of(several, all);
    };
    LowerKernel kernel = soonest_together(core, view, window_of(alone.wide), make);
    if (!kernel) kernel = dilated_of(core, view, op->wide);
    if (kernel) return kernel;
  }
  return conv_of(core, *op, channels);
}

}  // namespace intarsia::targets::cortex_m
