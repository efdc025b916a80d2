// Depthwise convolution with one filter per channel.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "intarsia/plugin/rounding.h"
#include "kernel_costs.h"
#include "operators.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kDspLanes = 4;

Window read_window(const OpView& v) {
  const auto& a = v.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  const Range range = output_range(v, a.activation);
  return {in[0],
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
}

Depthwise read(const OpView& v) {
  Depthwise d;
  d.window = read_window(v);
  const std::vector<int64_t> values = v.values(1);
  const auto channels = static_cast<size_t>(d.window.out_c);
  d.rows.assign(channels, std::vector<int8_t>(values.size() / channels));
  for (size_t i = 0; i < values.size(); ++i)
    d.rows[i % channels][i / channels] = static_cast<int8_t>(values[i]);
  return d;
}

// The geometry of device/dsp_kernels.h.
struct DspLayout {
  int64_t lanes, results, phases, pairs, segments, chunks, taps, columns;
  explicit DspLayout(const Window& w)
      : lanes(std::min(w.out_c, kDspLanes)),
        phases(w.stride_h % 2 == 0 ? 1 : 2),
        pairs(phases == 1 ? (w.kernel_h + 1) / 2 : w.kernel_h / 2 + 1),
        segments(std::min(w.stride_w, w.kernel_w)) {
    // Passes of 1, 3, 5 or 7 taps: seven cycles each, and ten around them.
    const int64_t widest = ceil_div(w.kernel_w, w.stride_w);
    const auto cycles = [&](int64_t some) { return ceil_div(widest, some) * (10 + 7 * some); };
    taps = 7;
    for (const int64_t some : {5, 3, 1})
      if (cycles(some) < cycles(taps)) taps = some;
    chunks = ceil_div(widest, taps);
    columns = round_up(ceil_div(w.out_w, w.dilation_w), 4) + chunks * taps - 1;
    results = dsp_results_together(w, phases * lane_taps());
  }
  int64_t passes() const { return pairs * segments * chunks; }
  int64_t lane_taps() const { return round_up(passes() * taps, 2); }
  int64_t scratch_bytes() const {
    return 4 * (phases * results * lanes * lane_taps() + pairs * segments * columns * kDspLanes +
                passes());
  }
  static bool covers(const Window& w) {
    const bool dilated = w.dilation_h != 1 || w.dilation_w != 1;
    // Rows by themselves may be any number apart.
    const bool by_one = (w.group > 0 || w.stride_h == 1) && w.stride_w == 1;
    return w.out_c % w.in_c == 0 && (!dilated || by_one) && w.dilation_w * w.out_c <= UINT16_MAX;
  }
};

// Zero above and below the window.
uint8_t weight_at(const Depthwise& d, int64_t channel, int64_t ky, int64_t kx) {
  if (ky < 0 || ky >= d.window.kernel_h) return 0;
  return static_cast<uint8_t>(
      d.rows[static_cast<size_t>(channel)][static_cast<size_t>(ky * d.window.kernel_w + kx)]);
}

// The output's channels of each block: of several results those first that are the first of their channels.
std::vector<std::vector<int64_t>> dsp_blocks(const Window& w, const DspLayout& layout) {
  std::vector<std::vector<int64_t>> blocks;
  for (const int64_t block : blocks_of(w.out_c / layout.results, layout.lanes)) {
    std::vector<int64_t>& channels = blocks.emplace_back();
    for (int64_t result = 0; result < layout.results; ++result)
      for (int64_t lane = 0; lane < layout.lanes; ++lane)
        channels.push_back((block + lane) * layout.results + result);
  }
  return blocks;
}

// A table with a row for each channel, in the order in which the kernel's blocks have them.
std::vector<uint8_t> in_blocks(const Window& w, const std::vector<uint8_t>& table) {
  const DspLayout layout(w);
  if (layout.results == 1) return table;
  const size_t row = table.size() / static_cast<size_t>(w.out_c);
  std::vector<uint8_t> rows;
  for (const std::vector<int64_t>& block : dsp_blocks(w, layout))
    for (const int64_t channel : block) {
      const auto from = table.begin() + channel * static_cast<int64_t>(row);
      rows.insert(rows.end(), from, from + static_cast<int64_t>(row));
    }
  return rows;
}

// Pairs of taps below each other, lane by lane, in the order of the passes.
struct Taps {
  int16_t upper = 0, lower = 0;
};
template <typename Weight>
std::vector<Taps> dsp_taps(const Window& w, const DspLayout& layout, const Weight& weight) {
  std::vector<Taps> taps;
  for (const std::vector<int64_t>& block : dsp_blocks(w, layout))
    for (int64_t phase = 0; phase < layout.phases; ++phase)
      for (const int64_t channel : block) {
        std::vector<Taps> all;
        for (int64_t pair = 0; pair < layout.pairs; ++pair)
          for (int64_t segment = 0; segment < layout.segments; ++segment)
            for (int64_t tap = 0; tap < layout.chunks * layout.taps; ++tap) {
              const int64_t kx = segment + tap * w.stride_w;
              if (kx >= w.kernel_w)
                all.push_back({});
              else
                all.push_back({weight(channel, 2 * pair - phase, kx),
                               weight(channel, 2 * pair + 1 - phase, kx)});
            }
        all.resize(static_cast<size_t>(layout.lane_taps()));
        taps.insert(taps.end(), all.begin(), all.end());
      }
  return taps;
}

std::vector<uint8_t> dsp_weights(const Depthwise& d, const DspLayout& layout) {
  const std::vector<Taps> taps =
      dsp_taps(d.window, layout, [&](int64_t channel, int64_t ky, int64_t kx) -> int16_t {
        return weight_at(d, channel, ky, kx);
      });
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < taps.size(); i += 2)
    for (const int16_t weight :
         {taps[i].upper, taps[i + 1].upper, taps[i].lower, taps[i + 1].lower})
      bytes.push_back(static_cast<uint8_t>(weight));
  return bytes;
}

// The call of a kernel for four channels at a time: its scratch, and its weights as bytes of those extents.
struct DspCall {
  const char* kernel;
  int64_t scratch_bytes;
  Shape extents;
  std::vector<uint8_t> weights;
  bool in_blocks = false;  // the table of channels too
};

BufferId dsp_table(OpLowering& op, const Window& w, const DspCall& call,
                   std::vector<uint8_t> table) {
  constexpr int64_t kNumbers = 4;
  if (call.in_blocks) table = in_blocks(w, table);
  const auto words = static_cast<int64_t>(table.size() / sizeof(int32_t));
  return op.constant("channels", DataType::Int32, {words / kNumbers, kNumbers}, std::move(table),
                     tir::ConstantUse::Weights);
}

Stmt call_dsp(OpLowering& op, const Window& w, const Channels& channels, DspCall call) {
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {call.scratch_bytes}, 4);
  const BufferId weights = op.constant("weights", DataType::Int8, call.extents,
                                       std::move(call.weights), tir::ConstantUse::Weights);
  const BufferId table = dsp_table(op, w, call, channels.table());
  const std::string kernel = dsp_kernel_for(call.kernel, channels, w);
  return call_kernel(op.b.func(),
                     {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
}

// Of int16, with a channel each.
Stmt call_wide_dsp(OpLowering& op, const Window& w, const std::vector<WideChannel>& channels,
                   DspCall call) {
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {call.scratch_bytes}, 4);
  std::vector<uint8_t> table;
  for (const WideChannel& channel : channels) append_channel(table, channel);
  const auto size = static_cast<int64_t>(call.weights.size());
  const BufferId weights = op.constant("weights", DataType::Int8, {size}, std::move(call.weights),
                                       tir::ConstantUse::Weights);
  const BufferId constants = dsp_table(op, w, call, std::move(table));
  const std::string range = w.high != INT16_MAX || (w.low != 0 && w.low != INT16_MIN) ? "_limited"
                            : w.low == 0                                              ? "_rectified"
                                                                                      : "";
  return call_kernel(op.b.func(), {call.kernel + range + "_s16",
                                   w.values(),
                                   {op.in(0)},
                                   op.out(),
                                   scratch,
                                   {weights, constants}});
}

// The bytes from a result of int16 to the next one of a row, of so many elements without dilation, share a word with their number.
bool wide_row_fits(const Window& w, int64_t step) {
  constexpr int64_t kHalf = 2;
  return w.fits() && kHalf * w.dilation_w * step <= UINT16_MAX;
}

Stmt lower_dsp(OpLowering& op, Depthwise d, const Channels& channels) {
  const DspLayout layout(d.window);
  d.window.strip_w = layout.taps;
  std::vector<uint8_t> weights = dsp_weights(d, layout);
  const int64_t channel_bytes = 2 * layout.lane_taps(),
                rows = static_cast<int64_t>(weights.size()) / channel_bytes;
  return call_dsp(op, d.window, channels,
                  {"intarsia_dsp_depthwise",
                   layout.scratch_bytes(),
                   {rows, channel_bytes},
                   std::move(weights),
                   true});
}

// Windows of three columns and two pairs of rows, whose weights fill registers (device/dsp_depthwise_3x3.c).
struct Dsp3x3Layout {
  static constexpr int64_t kTaps = 6;
  // Pairs of rows in scratch: all that there are, or what this many bytes hold. Each row of outputs that begins behind the
  // ones before, without a gap in the ring, saves a call.
  static constexpr int64_t kRingBytes = 2048;
  int64_t phases, pair_bytes, slots;
  // Of dilated windows the first grid: no other is larger.
  explicit Dsp3x3Layout(const Window& whole) {
    const Window w = dilated_grid(whole, 0, 0);
    phases = w.stride_h == 1 ? 2 : 1;
    pair_bytes = 4 * kDspLanes * ((w.out_w - 1) * w.stride_w + w.kernel_w);
    slots = std::min(ceil_div(w.out_h, phases) + 1, std::max<int64_t>(2, kRingBytes / pair_bytes));
  }
  static bool covers(const Window& whole) {
    const Window w = dilated_grid(whole, 0, 0);
    const int64_t out_step =
        whole.dilation_w * (whole.transposed != 0 ? whole.out_h : 1) * whole.out_c;
    const bool plain = whole.dilation_h == 1 && whole.dilation_w == 1;
    return w.out_c % w.in_c == 0 && (plain || w.in_c == w.out_c) && w.out_c >= kDspLanes &&
           out_step <= UINT16_MAX &&
           (plain || (w.stride_h == 1 && w.stride_w == 1 && whole.in_w >= whole.dilation_w)) &&
           w.kernel_w == 3 && w.stride_w <= 2 && w.pad_left < 3 &&
           ((w.stride_h == 1 && (w.kernel_h == 2 || w.kernel_h == 3)) ||
            (w.stride_h == 2 && (w.kernel_h == 3 || w.kernel_h == 4)));
  }
  int64_t scratch_bytes() const { return slots * pair_bytes; }
  // Of four channels and a grid, by the code: rows of outputs, by fours, twos and ones; and pairs of rows that are merged.
  static int64_t cycles(const Window& whole) {
    const Window w = dilated_grid(whole, 0, 0);
    const int64_t row = 24 + 78 * (w.out_w / 4) + 50 * (w.out_w / 2 % 2) + 33 * (w.out_w % 2);
    const int64_t pairs = w.stride_h == 1 ? w.out_h / 2 + 1 : w.out_h + 1;
    return kDspLanes * w.out_h * row + pairs * (50 + 18 * w.in_w);
  }
};

// As it is, or with rows and columns in each other's place, where that is faster: images that are higher than wide.
Depthwise best_orientation(const Depthwise& d) {
  const Window w = transposed(d.window);
  constexpr int64_t kScratch = 4096;
  if (!Dsp3x3Layout::covers(w) || Dsp3x3Layout(w).scratch_bytes() > kScratch ||
      (Dsp3x3Layout::covers(d.window) && Dsp3x3Layout::cycles(w) >= Dsp3x3Layout::cycles(d.window)))
    return d;
  return transposed(d);
}

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

const char* dsp_3x3_family(const Window& w) {
  if (w.in_c != w.out_c) return "intarsia_dsp_depthwise_3x3_multiplied";
  return w.dilation_h == 1 && w.dilation_w == 1 ? "intarsia_dsp_depthwise_3x3"
                                                : "intarsia_dsp_depthwise_3x3_dilated";
}

Stmt lower_dsp_3x3(OpLowering& op, Depthwise d, const Channels& channels) {
  const Dsp3x3Layout layout(d.window);
  d.window.strip_h = layout.slots;
  return call_dsp(
      op, d.window, channels,
      {dsp_3x3_family(d.window),
       layout.scratch_bytes(),
       {ceil_div(d.window.out_c, kDspLanes), layout.phases, kDspLanes, 2 * Dsp3x3Layout::kTaps},
       dsp_3x3_weights(d, layout)});
}

// Without wait states, on a Cortex-M4.
double cycles_of(const char* family, const Window& w, const Channels& channels) {
  const std::string kernel = dsp_kernel_for(family, channels, w);
  return cycles_of_work(CostCore::M4, work_of_call(CoreClass::Dsp, kernel, w.values(), {}))
      .value_or(0);
}

double dsp_cycles(Window w, const Channels& channels) {
  w.strip_w = DspLayout(w).taps;
  return cycles_of("intarsia_dsp_depthwise", w, channels);
}

double dsp_3x3_cycles(Window w, const Channels& channels) {
  w.strip_h = Dsp3x3Layout(w).slots;
  return cycles_of(dsp_3x3_family(w), w, channels);
}

bool is_column(const Window& w) {
  return w.in_w == 1 && w.kernel_w == 1 && w.out_w == 1;
}

// A column of pixels is a row, byte by byte; there, outputs are beside each other.
Depthwise column_as_row(const Depthwise& d) {
  Depthwise row = transposed(d);
  row.window.transposed = 0;
  return row;
}

// Windows of one row: neighbouring columns are pairs, where rows would have nothing below them.
std::optional<Depthwise> by_pairs_of_columns(const Depthwise& d) {
  const Window& w = d.window;
  const bool by_one = w.stride_w == 1, by_twos = w.stride_w % 2 == 0 && w.dilation_w == 1;
  if (w.kernel_h != 1 || w.kernel_w == 1 || w.pad_top != 0 || (!by_one && !by_twos))
    return std::nullopt;
  Depthwise pairs{w, {}};
  Window& to = pairs.window;
  to.group = w.dilation_w;
  to.kernel_h = 2, to.kernel_w = ceil_div(w.kernel_w, int64_t{2});
  to.stride_h = 2 * w.stride_h, to.dilation_h = 1;
  to.stride_w = by_one ? 1 : w.stride_w / 2;
  to.dilation_w = by_one ? 2 * w.dilation_w : 1;
  for (const std::vector<int8_t>& row : d.rows) {
    std::vector<int8_t>& halves = pairs.rows.emplace_back();
    for (const int64_t second : {0, 1})
      for (int64_t tap = second; tap < 2 * to.kernel_w; tap += 2)
        halves.push_back(tap < w.kernel_w ? row[static_cast<size_t>(tap)] : int8_t{0});
  }
  return pairs;
}

// As it is, a column as a row, or by pairs of columns: what takes the fewest cycles.
template <typename Cycles>
Depthwise along_rows(const Depthwise& d, const Cycles& cycles) {
  Depthwise best = d;
  const auto consider = [&](const Depthwise& other) {
    if (DspLayout::covers(other.window) && other.window.fits() &&
        cycles(other.window) < cycles(best.window))
      best = other;
  };
  if (is_column(d.window)) consider(column_as_row(d));
  // A single row of windows begins on an even row.
  Window& plain = best.window;
  if (plain.out_h == 1 && plain.dilation_h == 1 && plain.dilation_w == 1) plain.stride_h = 2;
  if (const std::optional<Depthwise> pairs = by_pairs_of_columns(best)) consider(*pairs);
  return best;
}

Depthwise along_rows(const Depthwise& d, const Channels& channels) {
  return along_rows(d, [&](const Window& w) { return dsp_cycles(w, channels); });
}

double loop_cycles(CoreClass core, const Window& w) {
  struct Cycles {
    int64_t output, product;
  };
  const Cycles loops = core == CoreClass::Thumb  ? Cycles{120, 18}
                       : core == CoreClass::Long ? Cycles{38, 12}
                                                 : Cycles{35, 10};
  return static_cast<double>(w.pixels() * w.out_c *
                             (loops.output + loops.product * w.kernel_h * w.kernel_w));
}

// Whether the kernel that takes pixel by pixel saves what its code is worth beside the others, where they cover the window.
bool pixels_are_worth_it(const Depthwise& d, const Channels& channels) {
  constexpr double kWorthItsCode = 8192;
  const std::optional<double> pixels = dsp_depthwise_pixels_cycles(d.window, channels);
  if (!pixels) return false;
  double others = loop_cycles(CoreClass::Dsp, d.window);
  const Depthwise best = best_orientation(d);
  if (channels.quick && Dsp3x3Layout::covers(best.window))
    others = std::min(others, dsp_3x3_cycles(best.window, channels));
  else if (DspLayout::covers(d.window))
    others = std::min(others, dsp_cycles(along_rows(d, channels).window, channels));
  return *pixels + kWorthItsCode <= others;
}

// Weights of nine bits: with Helium as sums of two bytes, else the kernel for windows of any size, whose weights become halfwords in
// scratch anyway.
LowerKernel shifted_depthwise_kernel(CoreClass core, const OpView& view, int64_t waits) {
  constexpr int64_t kHalfwords = 1;
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) ||
      !is_int8_dot_product(view, DataType::Int16))
    return nullptr;
  Window w = read_window(view);
  const DspLayout layout(w);
  const std::vector<int64_t> values = view.values(1);
  std::vector<std::vector<int16_t>> rows(static_cast<size_t>(w.out_c));
  for (size_t i = 0; i < values.size(); ++i)
    rows[i % rows.size()].push_back(static_cast<int16_t>(values[i]));
  const std::optional<Channels> channels = make_channels(
      view, rows,
      conv_multipliers(view.in(0).quantization, view.in(1).quantization, view.out().quantization));
  if (!channels || !w.fits()) return nullptr;
  if (core == CoreClass::Mve) {
    Window dsp = w;
    dsp.strip_w = layout.taps, dsp.strip_h = kHalfwords;
    const std::string kernel = dsp_kernel_for("intarsia_dsp_depthwise", *channels, dsp);
    const double others =
        cycles_of_work(CostCore::M55, work_of_call(core, kernel, dsp.values(), {})).value_or(0);
    if (LowerKernel vectors =
            mve_shifted_depthwise_kernel(w, rows, *channels, slow_constants(view, waits), others))
      return vectors;
  }
  w.strip_w = layout.taps, w.strip_h = kHalfwords;
  if (!w.fits() || !DspLayout::covers(w) || layout.scratch_bytes() > kMostScratch) return nullptr;
  const std::vector<Taps> taps =
      dsp_taps(w, layout, [&](int64_t channel, int64_t ky, int64_t kx) -> int16_t {
        if (ky < 0 || ky >= w.kernel_h) return 0;
        return rows[static_cast<size_t>(channel)][static_cast<size_t>(ky * w.kernel_w + kx)];
      });
  std::vector<uint8_t> bytes;
  for (const Taps& tap : taps)
    append_word(bytes, int64_t{static_cast<uint16_t>(tap.upper)} | int64_t{tap.lower} << 16);
  return [=, channels = *channels](OpLowering& op) {
    return call_dsp(op, w, channels,
                    {"intarsia_dsp_depthwise",
                     layout.scratch_bytes(),
                     {static_cast<int64_t>(bytes.size())},
                     bytes,
                     true});
  };
}

}  // namespace

bool loops_are_faster(CoreClass core, const Window& w, double cycles) {
  return cycles > loop_cycles(core, w);
}

Window dilated_grid(const Window& w, int64_t y, int64_t x) {
  Window grid = w;
  grid.dilation_h = grid.dilation_w = 1;
  grid.pad_top = ceil_div(std::max<int64_t>(w.pad_top - y, 0), w.dilation_h);
  grid.pad_left = ceil_div(std::max<int64_t>(w.pad_left - x, 0), w.dilation_w);
  const int64_t row = grid.pad_top * w.dilation_h + y - w.pad_top,
                column = grid.pad_left * w.dilation_w + x - w.pad_left;
  grid.in_h = std::max<int64_t>(ceil_div(w.in_h - row, w.dilation_h), 0);
  grid.in_w = std::max<int64_t>(ceil_div(w.in_w - column, w.dilation_w), 0);
  grid.out_h = ceil_div(w.out_h - y, w.dilation_h);
  grid.out_w = ceil_div(w.out_w - x, w.dilation_w);
  return grid;
}

Window transposed(Window w) {
  std::swap(w.in_h, w.in_w), std::swap(w.out_h, w.out_w), std::swap(w.kernel_h, w.kernel_w);
  std::swap(w.stride_h, w.stride_w), std::swap(w.pad_top, w.pad_left);
  std::swap(w.dilation_h, w.dilation_w);
  w.transposed = 1;
  return w;
}

Depthwise transposed(const Depthwise& d) {
  Depthwise turned{transposed(d.window), {}};
  const Window& w = turned.window;
  for (const std::vector<int8_t>& row : d.rows) {
    std::vector<int8_t>& to = turned.rows.emplace_back();
    for (int64_t y = 0; y < w.kernel_h; ++y)
      for (int64_t x = 0; x < w.kernel_w; ++x)
        to.push_back(row[static_cast<size_t>(x * w.kernel_h + y)]);
  }
  return turned;
}

LowerKernel dsp_wide_depthwise_3x3_kernel(const Depthwise& d,
                                          const std::vector<WideChannel>& channels) {
  Depthwise best = best_orientation(d);
  Window& window = best.window;
  const Dsp3x3Layout layout(window);
  const int64_t step = (window.transposed != 0 ? window.out_h : 1) * window.out_c;
  if (!Dsp3x3Layout::covers(window) || layout.scratch_bytes() > kMostScratch ||
      !wide_row_fits(window, step))
    return nullptr;
  window.strip_h = layout.slots;
  return [best, channels, layout](OpLowering& op) {
    return call_wide_dsp(
        op, best.window, channels,
        {dsp_3x3_family(best.window), layout.scratch_bytes(), {}, dsp_3x3_weights(best, layout)});
  };
}

LowerKernel dsp_wide_depthwise_kernel(const Depthwise& d, const std::vector<WideChannel>& channels,
                                      std::optional<double> others) {
  constexpr double kWorthItsCode = 8192;
  const auto cycles = [](Window w) {
    w.strip_w = DspLayout(w).taps;
    const std::vector<KernelWork> work =
        work_of_call(CoreClass::Dsp, "intarsia_dsp_depthwise_s16", w.values(), {});
    return cycles_of_work(CostCore::M4, work).value_or(0);
  };
  Depthwise of = along_rows(d, cycles);
  const DspLayout layout(of.window);
  of.window.strip_w = layout.taps;
  if (!DspLayout::covers(of.window) || layout.scratch_bytes() > kMostScratch ||
      !wide_row_fits(of.window, of.window.out_c) ||
      cycles(of.window) + kWorthItsCode > others.value_or(loop_cycles(CoreClass::Dsp, d.window)))
    return nullptr;
  return [of, channels, layout](OpLowering& op) {
    return call_wide_dsp(
        op, of.window, channels,
        {"intarsia_dsp_depthwise", layout.scratch_bytes(), {}, dsp_weights(of, layout), true});
  };
}

LowerKernel depthwise_kernel(CoreClass core, const OpView& view, bool small, int64_t waits) {
  if (view.in(1).type == DataType::Int16) return shifted_depthwise_kernel(core, view, waits);
  if (!is_int8_dot_product(view)) return nullptr;
  if (view.in(0).shape[3] == 1) return conv_kernel(core, view, small, waits);
  const Depthwise d = read(view);
  const auto multipliers =
      conv_multipliers(view.in(0).quantization, view.in(1).quantization, view.out().quantization);
  std::optional<Channels> channels = make_channels(view, d.rows, multipliers);
  if (!channels || !d.window.fits()) return nullptr;
  channels->shared = small;
  if (core == CoreClass::Lanes) return lane_depthwise_kernel(d, *channels);
  if (core == CoreClass::Rv32) {
    if (LowerKernel kernel = rv32_depthwise_kernel(d, *channels)) return kernel;
  }
  if (lacks_simd(core)) return thumb_depthwise_kernel(core, d, *channels);
  if (core == CoreClass::Mve) {
    if (LowerKernel kernel =
            mve_depthwise_kernel(d, d.window.dilation_w, *channels, slow_constants(view, waits)))
      return kernel;
  }
  const bool may_be_loops = core == CoreClass::Dsp && !small;
  if (may_be_loops && pixels_are_worth_it(d, *channels))
    return dsp_depthwise_pixels_kernel(d, *channels);
  const Depthwise best = best_orientation(d);
  if (channels->quick && Dsp3x3Layout::covers(best.window)) {
    if (Dsp3x3Layout(best.window).scratch_bytes() > kMostScratch ||
        (may_be_loops &&
         loops_are_faster(core, best.window, dsp_3x3_cycles(best.window, *channels))))
      return nullptr;
    return
        [best, channels = *channels](OpLowering& op) { return lower_dsp_3x3(op, best, channels); };
  }
  if (!DspLayout::covers(d.window)) return nullptr;
  const Depthwise row = along_rows(d, *channels);
  if (DspLayout(row.window).scratch_bytes() > kMostScratch ||
      (may_be_loops && loops_are_faster(core, row.window, dsp_cycles(row.window, *channels))))
    return nullptr;
  return [row, channels = *channels](OpLowering& op) { return lower_dsp(op, row, channels); };
}

}  // namespace intarsia::targets::cortex_m
