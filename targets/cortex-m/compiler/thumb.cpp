// Kernels for cores without SIMD.
#include <algorithm>
#include <cstdlib>

#include "kernel_costs.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kWord = 4;
constexpr int64_t kPixels = 4;  // of device/thumb_pairs.h

// Whether products of these weights add up in 16 bits with any inputs.
bool fits_half(const std::vector<int8_t>& row, int64_t begin, int64_t end) {
  constexpr int64_t kLargestInput = 128, kLargestSum = 32767;
  int64_t magnitudes = 0;
  for (int64_t i = begin; i < end; ++i)
    magnitudes += std::abs(static_cast<int64_t>(row[static_cast<size_t>(i)]));
  return magnitudes * kLargestInput <= kLargestSum;
}

// The first two of each row of a depthwise window, the next two, and so on.
bool twos_fit(const std::vector<int8_t>& row, const Window& w) {
  for (int64_t begin = 0; begin < w.kernel_h * w.kernel_w; begin += w.kernel_w)
    for (int64_t kx = 0; kx + 1 < w.kernel_w; kx += 2)
      if (!fits_half(row, begin + kx, begin + kx + 2)) return false;
  return true;
}

// The most weights, 4 or 2, that add up in 16 bits with any inputs, in every block of that many counted from the end of
// each part; 0 if not even two do.
int64_t block_of(const std::vector<int8_t>& row, const Window& w, const Parts& parts) {
  const auto run = static_cast<int64_t>(row.size()), part = parts.rows * w.kernel_w * w.in_c;
  const auto holds = [&](int64_t block) {
    for (int64_t begin = 0; begin < run; begin += part) {
      const int64_t end = begin + round_up(std::min(part, run - begin), kWord);
      for (int64_t last = end; last > begin; last -= block)
        if (!fits_half(row, std::max(last - block, begin), std::min(last, run))) return false;
    }
    return true;
  };
  for (const int64_t block : {4, 2})
    if (holds(block)) return block;
  return 0;
}

// The blocks of all channels; none where four pixels at a time are not possible.
std::vector<int64_t> blocks_of_rows(const WeightRows& rows, const Window& w, const Parts& parts) {
  std::vector<int64_t> blocks;
  if (parts.rows == 0 || w.pixels() < kPixels) return blocks;
  for (const std::vector<int8_t>& row : rows) {
    blocks.push_back(block_of(row, w, parts));
    if (blocks.back() == 0) return {};
  }
  return blocks;
}

// device/thumb_depthwise.h: sums of a row of outputs, expanded weights of a channel, and rows with what lies in front of them
// for pairs.
constexpr int64_t kMostRows = 15, kOutputs = 4;

int64_t ring_bytes(const Window& w) {
  const int64_t taps = w.kernel_h * w.kernel_w, rows = (w.kernel_h - 1) * w.dilation_h + 1;
  const int64_t outputs = round_up(w.out_w, kOutputs);
  const int64_t columns = (outputs - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
  const int64_t before = 2 * w.stride_w;
  return kWord * (outputs + taps * w.out_c / w.in_c + rows * (columns + before));
}

// By rows, or by columns where those make fewer fours of outputs: images that are higher than wide, and few columns.
Depthwise best_orientation(const Depthwise& d) {
  constexpr int64_t kScratch = 4096;
  // In outputs: what a row of them and one that is left over take.
  const auto work = [](const Window& w) { return w.out_h * (1 + 4 * ceil_div(w.out_w, kOutputs)); };
  Depthwise turned = transposed(d);
  const Window& w = turned.window;
  const bool fits = w.kernel_h <= kMostRows && ring_bytes(w) <= kScratch;
  return fits && work(w) < work(d.window) ? turned : d;
}

struct Layout {
  std::string family;
  int64_t scratch_bytes;
  int64_t row;                      // bytes of one channel's weights
  std::vector<int64_t> marks = {};  // of channels: the second byte of the shift
};

std::vector<uint8_t> table_of(const Channels& channels, const std::vector<int64_t>& marks) {
  constexpr size_t kEntry = 16, kSecondByteOfShift = 13;  // of struct intarsia_channel
  std::vector<uint8_t> table = channels.table();
  for (size_t c = 0; c < marks.size(); ++c) {
    uint8_t* shift = &table[c * kEntry + kSecondByteOfShift];
    shift[0] = static_cast<uint8_t>(marks[c]), shift[1] = shift[2] = 0;
  }
  return table;
}

Stmt lower(OpLowering& op, const Window& w, const WeightRows& rows, const Channels& channels,
           const Layout& layout) {
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {layout.scratch_bytes}, kWord);
  const BufferId weights = op.constant("weights", DataType::Int8, {w.out_c, layout.row},
                                       filled_rows(rows, layout.row), tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4},
                                     table_of(channels, layout.marks), tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel_for(layout.family, channels, w),
                                   w.values(),
                                   {op.in(0)},
                                   op.out(),
                                   scratch,
                                   {weights, table}});
}

// Rows are laid out for four outputs at a time, which few outputs do not repay.
bool loops_beat_fours(CoreClass core, const Window& w, const Channels& channels,
                      const Layout& layout) {
  const bool is_long = core == CoreClass::Long;
  if (!is_long && core != CoreClass::Thumb) return false;
  const std::vector<KernelWork> work = work_of_call(core, kernel_for(layout.family, channels, w),
                                                    w.values(), table_of(channels, layout.marks));
  const double cycles = cycles_of_work(is_long ? CostCore::M3 : CostCore::M0, work).value_or(0);
  return loops_are_faster(core, w, cycles);
}

}  // namespace

Parts parts_of(const Window& w, int64_t channels, int64_t channels_at_once) {
  constexpr int64_t kMostBytes = 4096;
  const int64_t row = w.kernel_w * w.in_c;
  const bool padded = w.kernel_h * w.kernel_w > 1;
  for (int64_t count = 1; count <= w.kernel_h; ++count) {
    const int64_t rows = ceil_div(w.kernel_h, count);
    if (rows < w.kernel_h && row % kWord != 0) return {};
    const int64_t kept = kPixels * kWord * (rows < w.kernel_h ? channels : channels_at_once);
    const int64_t bytes =
        kept + 2 * kWord * round_up(rows * row, kWord) + (padded ? kPixels * row : 0);
    if (bytes <= kMostBytes) return {rows, bytes};
  }
  return {};
}

LowerKernel thumb_conv_kernel(CoreClass core, const Conv& conv, const Channels& channels) {
  constexpr int64_t kBlock = 6;  // pixels of device/long_conv.h
  const Window& w = conv.window;
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, kWord);
  const bool direct = w.kernel_h == 1 && w.kernel_w == 1 && w.in_c % kWord == 0;
  const int64_t one = direct ? kWord : run, paired = 2 * kBlock * run + (direct ? 0 : 2 * run);
  const bool pairs = core == CoreClass::Long && w.pixels() >= kBlock && paired <= kMostScratch;
  Layout layout =
      pairs ? Layout{"intarsia_long_conv", paired, run} : Layout{"intarsia_thumb_conv", one, run};
  Conv made = conv;
  const Parts parts = parts_of(w, w.out_c, 1);
  std::vector<int64_t> blocks = blocks_of_rows(conv.rows, w, parts);
  if (!blocks.empty()) {
    layout = {"intarsia_thumb_conv", parts.bytes, run, std::move(blocks)};
    made.window.strip_h = parts.rows;
  }
  return [made, channels, layout](OpLowering& op) {
    return lower(op, made.window, made.rows, channels, layout);
  };
}

LowerKernel thumb_depthwise_kernel(CoreClass core, const Depthwise& given,
                                   const Channels& channels) {
  const Depthwise d = best_orientation(given);
  const Window& w = d.window;
  Layout layout{"intarsia_thumb_depthwise", ring_bytes(w), w.kernel_h * w.kernel_w};
  for (const std::vector<int8_t>& row : d.rows) layout.marks.push_back(twos_fit(row, w) ? 1 : 0);
  if (w.kernel_h > kMostRows || layout.scratch_bytes > kMostScratch ||
      (!channels.shared && loops_beat_fours(core, w, channels, layout)))
    return nullptr;
  return [d, channels, layout](OpLowering& op) {
    return lower(op, d.window, d.rows, channels, layout);
  };
}

}  // namespace intarsia::targets::cortex_m
