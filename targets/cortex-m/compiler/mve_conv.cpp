// Convolution and fully connected layers on cores with Helium: device/mve_conv.h.
#include <algorithm>

#include "columns_together.h"
#include "conv.h"
#include "intarsia/plugin/rounding.h"
#include "kernel_costs.h"
#include "mve_deep_conv.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kVector = 16, kQuad = 4, kOctet = 8;
// Strips of more pixels gain little; wider ones cost memory.
constexpr int64_t kStripPixels = 8, kStripBytes = 2048;
// Of strips of int16, which have as many elements, and of strips and copied constants together, but where more costs no RAM.
constexpr int64_t kMostOfAll = 4096;

bool padded(const Window& w) {
  return w.pad_top != 0 || w.pad_left != 0 ||
         (w.out_h - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h >= w.in_h ||
         (w.out_w - 1) * w.stride_w + w.kernel_w > w.in_w;
}

int64_t strip_bytes(const Window& w, int64_t rows, int64_t pixels) {
  return rows * ((pixels - 1) * w.stride_w + w.kernel_w) * w.kernel_h * w.in_c;
}

// An even number of pixels, and not too few of them.
void choose_strips(Window& w, int64_t most) {
  w.strip_h = 1, w.strip_w = w.out_w;
  while (w.strip_h < w.out_h && (w.strip_w % 2 != 0 || w.strip_h * w.strip_w < kStripPixels) &&
         strip_bytes(w, w.strip_h + 1, w.strip_w) <= most)
    ++w.strip_h;
  while (w.strip_h == 1 && w.strip_w > 2 && strip_bytes(w, 1, w.strip_w) > most)
    w.strip_w = round_up(w.strip_w, 2) - 2;
}

// A run's weights lie [x][y][c] in a strip, [y][x][c] in a row of weights; [y] is one without strips.
std::vector<uint8_t> weights_of_run(const Conv& conv, const Window& w, int64_t channel,
                                    int64_t run) {
  std::vector<uint8_t> bytes;
  if (channel < w.out_c) {
    for (int64_t x = 0; x < w.kernel_w; ++x)
      for (int64_t y = 0; y < w.kernel_h; ++y)
        for (int64_t c = 0; c < w.in_c; ++c)
          bytes.push_back(static_cast<uint8_t>(conv.rows[static_cast<size_t>(
              channel)][static_cast<size_t>((y * w.kernel_w + x) * w.in_c + c)]));
  }
  bytes.resize(static_cast<size_t>(run), 0);
  return bytes;
}

// Runs at the input's end that reach beyond it when they are filled to whole vectors, and one more.
int64_t copied_runs(const Window& w, int64_t run) {
  const int64_t pitch = w.stride_h * w.in_w * w.in_c, step = w.stride_w * w.in_c,
                last = w.in_h * w.in_w * w.in_c - run;
  int64_t copied = 0;
  for (int64_t y = w.out_h - 1; y >= 0; --y)
    for (int64_t x = w.out_w - 1; x >= 0; --x, ++copied)
      if (y * pitch + x * step <= last) return copied == 0 ? 0 : copied + 1;
  return copied;
}

int64_t run_bytes(const Window& w) {
  return round_up(w.kernel_h * w.kernel_w * w.in_c, kVector);
}

// What the kernels read of four channels, in words: for sixteen bytes of a run, and of the table.
struct QuadWords {
  int64_t step, table;
  bool short_runs;  // device/mve_short_runs.h
  int64_t bytes(int64_t steps) const { return 4 * (steps * step + table); }
};
constexpr QuadWords kBytesQuad{16, 16, true}, kHalvesQuad{8, 12, false};

int64_t scratch_bytes(const Window& w, const QuadWords& quad) {
  const int64_t run = run_bytes(w), copies = w.group / kQuad * quad.bytes(run / kVector);
  return copies + (w.strip_h > 0 ? strip_bytes(w, w.strip_h, w.strip_w) + kVector
                                 : copied_runs(w, run) * run);
}

// Cycles that copies of constants save when each word that is read where they lie waits for `waits` cycles: all that the
// kernel's assembly would wait, less the copying, and strips and pairs of pixels that are gone through for each group.
int64_t saved_by_copies(const Window& w, const QuadWords& quad, int64_t waits) {
  constexpr int64_t kWords = kVector / 4, kCopied = 6, kPairOfGroup = 20;
  constexpr int64_t kRow = 20, kVectorOfColumn = 6, kPairOfColumn = 11;  // device/mve_strip.h
  const int64_t steps = run_bytes(w) / kVector, quads = ceil_div(w.out_c, kQuad);
  const int64_t row = w.strip_h == 0 ? w.pixels() : w.strip_h * w.strip_w;
  const int64_t pairs = ceil_div(w.pixels(), 2), groups = ceil_div(w.out_c, w.group);
  // Of short runs the first step's are in registers, the others' are read for each pixel.
  const int64_t weights =
      quad.short_runs && steps <= 4 && row >= 6 ? 2 * (steps - 1) * quad.step : steps * quad.step;
  const int64_t waited = pairs * quads * (weights + quad.table) * waits;
  const int64_t copied = quads * quad.bytes(steps) / kVector * (kCopied + kWords * waits);
  int64_t again = pairs * kPairOfGroup;
  if (w.strip_h > 0) {
    const int64_t strips = w.batches * w.out_h * ceil_div(w.out_w, w.strip_w);
    const int64_t columns = (w.strip_w - 1) * w.stride_w + w.kernel_w;
    const int64_t wide = w.in_c / (2 * kVector), single = ceil_div(w.in_c % (2 * kVector), kVector);
    // Few channels: several columns at once.
    const int64_t together = std::max<int64_t>(kVector / w.in_c, 1);
    again += strips * w.kernel_h *
             (wide * (kRow + columns * kPairOfColumn) +
              single * (kRow + ceil_div(columns, together) * kVectorOfColumn));
  }
  return waited - copied - (groups - 1) * again;
}

// As many channels at a time as scratch has room for, with strips as they are or smaller ones; none where that saves nothing.
void choose_copies(Window& w, const QuadWords& quad, SlowConstants slow) {
  const Window without = w;
  const int64_t quads = ceil_div(w.out_c, kQuad);
  const int64_t most_of_all = std::max(kMostOfAll, slow.free_scratch);
  int64_t best = 0;
  for (int64_t strips = kStripBytes; strips >= kStripBytes / 4; strips -= kStripBytes / 8) {
    Window with = without;
    if (with.strip_h > 0) choose_strips(with, strips);
    const int64_t room = most_of_all - scratch_bytes(with, quad);
    const int64_t most = std::min(quads, room / quad.bytes(run_bytes(w) / kVector));
    if (most <= 0) continue;
    with.group = kQuad * ceil_div(quads, ceil_div(quads, most));  // groups of one size
    const int64_t saved = saved_by_copies(with, quad, slow.waits);
    if (saved > best) best = saved, w = with;
    if (with.strip_h == 0) return;
  }
}

ConvConstants constants_of(const Conv& conv, const Channels& channels, const Window& w,
                           bool one_pixel) {
  const int64_t run = run_bytes(w);
  const int64_t lanes = one_pixel ? kOctet : kQuad;
  std::vector<uint8_t> bytes;
  for (int64_t first = 0; first < w.out_c; first += lanes) {
    std::vector<std::vector<uint8_t>> runs;
    for (int64_t c = first; c < first + lanes; ++c) runs.push_back(weights_of_run(conv, w, c, run));
    for (int64_t at = 0; at < run; at += kVector)
      for (const std::vector<uint8_t>& weights : runs)
        bytes.insert(bytes.end(), weights.begin() + at, weights.begin() + at + kVector);
  }
  return {std::move(bytes),
          channels.block_table(one_pixel ? std::vector<size_t>{0, 2, 4, 6, 1, 3, 5, 7}
                                         : std::vector<size_t>{0, 1, 2, 3})};
}

Stmt lower(OpLowering& op, const Conv& conv, const Channels& channels, const Window& w,
           bool one_pixel) {
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const int64_t run = run_bytes(w);
  const int64_t lanes = one_pixel ? kOctet : kQuad, count = ceil_div(w.out_c, lanes);
  ConvConstants made = constants_of(conv, channels, w, one_pixel);
  const int64_t filled = w.kernel_w * w.in_c % kVector == 0 ? 0 : run;
  const int64_t bytes = one_pixel ? filled : scratch_bytes(w, kBytesQuad);
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {std::max<int64_t>(bytes, 4)}, 4);
  const BufferId weights =
      op.constant("weights", DataType::Int8, {count, run / kVector, lanes, kVector},
                  std::move(made.weights), tir::ConstantUse::Weights);
  // Of one pixel the table is read as often as weights are: where channels are alike it is their biases alone.
  std::optional<std::vector<uint8_t>> shared;
  if (one_pixel) shared = channels.shared_table(static_cast<size_t>(lanes));
  if (shared) made.channels = std::move(*shared);
  const auto words = static_cast<int64_t>(made.channels.size()) / 4;
  const BufferId table =
      op.constant("channels", DataType::Int32, shared ? Shape{words} : Shape{count, 4 * lanes},
                  std::move(made.channels), tir::ConstantUse::Weights);
  const std::string kernel = shared      ? "intarsia_mve_dense_shared_s8"
                             : one_pixel ? "intarsia_mve_dense_s8"
                                         : "intarsia_mve_conv_s8";
  return call_kernel(op.b.func(),
                     {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
}

}  // namespace

ConvConstants mve_conv_constants(const Conv& conv, const Channels& channels) {
  return constants_of(conv, channels, conv.window, /*one_pixel=*/false);
}

namespace {

// Window and runs of int16 are counted in bytes.
constexpr int64_t kHalf = 2, kHalves = kVector / kHalf, kWideQuad = 4;

}  // namespace

// One stream: device/mve_conv.h.
std::vector<uint8_t> mve_wide_conv_stream(const WideConv& conv) {
  const Window& w = conv.window;
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, kHalves);
  std::vector<uint8_t> bytes;
  const auto words = [&](int64_t first, int64_t WideChannel::*field) {
    for (int64_t c = first; c < first + kWideQuad; ++c)
      append_word(bytes, c < w.out_c ? conv.channels[static_cast<size_t>(c)].*field : 0);
  };
  for (int64_t first = 0; first < w.out_c; first += kWideQuad) {
    words(first, &WideChannel::bias);
    std::vector<std::vector<uint8_t>> runs;
    for (int64_t c = first; c < first + kWideQuad; ++c)
      runs.push_back(weights_of_run({w, conv.rows, {}}, w, c, run));
    for (int64_t at = 0; at < run; at += kHalves)
      for (const std::vector<uint8_t>& weights : runs)
        bytes.insert(bytes.end(), weights.begin() + at, weights.begin() + at + kHalves);
    words(first, &WideChannel::multiplier);
    words(first, &WideChannel::shift);
  }
  return bytes;
}

LowerKernel mve_wide_conv_kernel(WideConv conv, SlowConstants slow,
                                 const std::function<LowerKernel(double)>& by_stages) {
  make_slide_one_way(conv.window);
  // One row whose columns are apart: as a column, whose rows may be, or by stages.
  Window& elements = conv.window;
  const bool dilated = elements.dilation_w != 1 && elements.kernel_w != 1;
  if (dilated) {
    if (elements.in_h != 1 || elements.kernel_h != 1 || elements.pad_top != 0 ||
        elements.out_h != 1)
      return nullptr;
    std::swap(elements.in_h, elements.in_w), std::swap(elements.out_h, elements.out_w);
    std::swap(elements.kernel_h, elements.kernel_w), std::swap(elements.pad_top, elements.pad_left);
    std::swap(elements.stride_h, elements.stride_w);
    std::swap(elements.dilation_h, elements.dilation_w);
  }
  Window w = conv.window;
  w.in_c *= kHalf;
  const bool in_place = w.kernel_h == 1 && !padded(w);
  if (!in_place) choose_strips(w, kMostOfAll - kVector);
  if (!w.fits() || strip_bytes(w, w.strip_h, w.strip_w) > kMostScratch) return nullptr;
  if (dilated) {
    const auto cycles = cycles_of_work(CostCore::M55, {mve_convolution(w, /*wide=*/true)});
    if (LowerKernel kernel = by_stages(cycles.value_or(0))) return kernel;
  }
  const bool one_pixel = in_place && w.pixels() == 1;
  if (!one_pixel && slow.waits > 0) choose_copies(w, kHalvesQuad, slow);
  return [conv, w, one_pixel](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c / kHalf}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const int64_t bytes = one_pixel ? 0 : scratch_bytes(w, kHalvesQuad);
    const BufferId scratch = one_pixel ? BufferId{}
                                       : op.b.local("scratch", DataType::Int16,
                                                    {std::max<int64_t>(bytes / kHalf, kHalf)}, 4);
    std::vector<uint8_t> stream = mve_wide_conv_stream(conv);
    const auto count = static_cast<int64_t>(stream.size()) / 4;
    const BufferId weights = op.constant("weights", DataType::Int32, {count}, std::move(stream),
                                         tir::ConstantUse::Weights);
    const char* kernel = one_pixel ? "intarsia_mve_dense_s16" : "intarsia_mve_conv_s16";
    return call_kernel(op.b.func(), {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights}});
  };
}

LowerKernel mve_conv_kernel(const Conv& conv, const Channels& channels, SlowConstants slow) {
  if (!channels.quick) return nullptr;
  Window w = conv.window;
  make_slide_one_way(w);
  const bool in_place = w.kernel_h == 1 && !padded(w);
  if (!in_place) choose_strips(w, kStripBytes);
  if (!w.fits() || strip_bytes(w, w.strip_h, w.strip_w) > kMostScratch) return nullptr;
  const bool one_pixel = in_place && w.pixels() == 1;
  if (!one_pixel && slow.waits > 0) choose_copies(w, kBytesQuad, slow);
  // Shared: a kernel more for what another one can do is code.
  if (!one_pixel && !channels.shared) {
    Conv deep = conv;
    make_slide_one_way(deep.window);
    const int64_t bytes = ceil_div(w.out_c, kQuad) * kBytesQuad.bytes(run_bytes(w) / kVector);
    if (LowerKernel kernel = mve_deep_conv_kernel(deep, channels, w, bytes, slow.waits))
      return kernel;
  }
  return [conv, channels, w, one_pixel](OpLowering& op) {
    return lower(op, conv, channels, w, one_pixel);
  };
}

}  // namespace intarsia::targets::cortex_m
