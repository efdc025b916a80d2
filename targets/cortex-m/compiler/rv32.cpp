// Kernels for RV32 with multiplication: device/rv32_conv.h, device/rv32_depthwise.h.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "intarsia/plugin/rounding.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kWord = 4, kPixels = 4;
constexpr int64_t kLanes = 2;  // channels at once

int64_t magnitude(int8_t weight) {
  return std::abs(static_cast<int64_t>(weight));
}

// What is taken off a weight, which is a product of its own.
struct Excess {
  int64_t element;
  int8_t weight;
};

// The weights of a channel in one part, in blocks whose products add up in 16 bits with any inputs.
struct Lane {
  std::vector<int8_t> weights;
  std::vector<Excess> excesses;
};

// Takes off a block what its weights exceed by, of the largest ones first.
void fit_block(Lane& lane, int64_t begin, int64_t end) {
  constexpr int64_t kLargestInput = 128, kMost = 32767 / kLargestInput;
  int64_t sum = 0;
  std::vector<int64_t> elements;
  for (int64_t i = begin; i < end; ++i) {
    sum += magnitude(lane.weights[static_cast<size_t>(i)]);
    elements.push_back(i);
  }
  std::stable_sort(elements.begin(), elements.end(), [&](int64_t a, int64_t b) {
    return magnitude(lane.weights[static_cast<size_t>(a)]) >
           magnitude(lane.weights[static_cast<size_t>(b)]);
  });
  for (const int64_t element : elements) {
    if (sum <= kMost) break;
    int8_t& weight = lane.weights[static_cast<size_t>(element)];
    const int64_t off = std::min(sum - kMost, magnitude(weight));
    const auto excess = static_cast<int8_t>(weight < 0 ? -off : off);
    lane.excesses.push_back({element, excess});
    weight = static_cast<int8_t>(weight - excess);
    sum -= off;
  }
}

// An odd four comes first where blocks are of eight.
Lane fitted(const std::vector<int8_t>& row, int64_t begin, int64_t end, int64_t block) {
  Lane lane;
  const auto first = row.begin() + static_cast<ptrdiff_t>(begin);
  lane.weights.assign(first, row.begin() + static_cast<ptrdiff_t>(end));
  const int64_t count = round_up(end - begin, kWord);
  lane.weights.resize(static_cast<size_t>(count));
  int64_t at = count % block;
  if (at > 0) fit_block(lane, 0, at);
  for (; at < count; at += block) fit_block(lane, at, at + block);
  std::sort(lane.excesses.begin(), lane.excesses.end(),
            [](const Excess& a, const Excess& b) { return a.element < b.element; });
  return lane;
}

// Elements since the one before, and the weight; a product with zero leads over a long way.
std::vector<uint8_t> listed(const std::vector<Excess>& excesses) {
  constexpr int64_t kFurthest = 255;
  std::vector<uint8_t> bytes;
  int64_t at = 0;
  for (const Excess& excess : excesses) {
    for (; excess.element - at > kFurthest; at += kFurthest)
      bytes.insert(bytes.end(), {kFurthest, 0});
    bytes.push_back(static_cast<uint8_t>(excess.element - at));
    bytes.push_back(static_cast<uint8_t>(excess.weight));
    at = excess.element;
  }
  return bytes;
}

constexpr size_t kExcessBytes = 2;
constexpr size_t kMostExcesses = 32767;

// Two channels of a part. By the code: instructions of a block, of an excess.
struct Pair {
  std::vector<uint8_t> bytes;
  int64_t instructions = 0;
  bool fits = true;
};

Pair pair_of(const Lane& a, const Lane& b, int64_t block) {
  const std::vector<uint8_t> of_a = listed(a.excesses), of_b = listed(b.excesses);
  const auto count = static_cast<int64_t>(a.weights.size());
  const size_t in_a = of_a.size() / kExcessBytes, in_b = of_b.size() / kExcessBytes;
  Pair pair;
  pair.fits = in_a <= kMostExcesses && in_b <= kMostExcesses;
  pair.instructions = 63 * (block == kWord ? count / kWord : count / kWord % 2) +
                      (block == kWord ? 0 : 111 * (count / block)) +
                      19 * static_cast<int64_t>(in_a + in_b);
  const auto half = [&](size_t value, bool mark) {
    pair.bytes.push_back(static_cast<uint8_t>(value));
    pair.bytes.push_back(static_cast<uint8_t>(value >> 8 | (mark ? 128 : 0)));
  };
  half(in_a, false), half(in_b, block != kWord);
  for (int64_t first = 0; first < count; first += kWord)
    for (const Lane* lane : {&a, &b})
      for (int64_t i = first; i < first + kWord; ++i)
        pair.bytes.push_back(static_cast<uint8_t>(lane->weights[static_cast<size_t>(i)]));
  pair.bytes.insert(pair.bytes.end(), of_a.begin(), of_a.end());
  pair.bytes.insert(pair.bytes.end(), of_b.begin(), of_b.end());
  return pair;
}

Pair best_pair(const std::vector<int8_t>& a, const std::vector<int8_t>& b, int64_t begin,
               int64_t end) {
  Pair best;
  for (const int64_t block : {kWord, 2 * kWord}) {
    Pair pair = pair_of(fitted(a, begin, end, block), fitted(b, begin, end, block), block);
    if (block == kWord || (pair.fits && pair.instructions < best.instructions))
      best = std::move(pair);
  }
  return best;
}

// Channels in pairs: those with large weights together, so that others may have longer blocks. An odd one is there twice.
std::vector<size_t> order_of(const WeightRows& rows) {
  std::vector<int64_t> sums;
  for (const std::vector<int8_t>& row : rows)
    sums.push_back(std::accumulate(row.begin(), row.end(), int64_t{0},
                                   [](int64_t sum, int8_t w) { return sum + magnitude(w); }));
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sums[a] < sums[b]; });
  if (order.size() % kLanes != 0) order.push_back(order.back());
  return order;
}

struct Made {
  Window window;
  std::string family = "intarsia_rv32_conv";
  int64_t scratch_bytes;
  std::vector<uint8_t> weights, table;
};

std::optional<Made> made_by_fours(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  const Parts parts = parts_of(w, round_up(w.out_c, kLanes), kLanes);
  if (parts.rows == 0 || w.pixels() < kPixels) return std::nullopt;
  Made made{w, "intarsia_rv32_conv", parts.bytes, {}, {}};
  made.window.strip_h = parts.rows;
  const std::vector<size_t> order = order_of(conv.rows);
  const int64_t run = w.kernel_h * w.kernel_w * w.in_c, part = parts.rows * w.kernel_w * w.in_c;
  int64_t instructions = 0;
  std::vector<int64_t> of_pairs(order.size() / kLanes);
  for (int64_t begin = 0; begin < run; begin += part)
    for (size_t i = 0; i < order.size(); i += kLanes) {
      const Pair pair = best_pair(conv.rows[order[i]], conv.rows[order[i + 1]], begin,
                                  std::min(begin + part, run));
      if (!pair.fits) return std::nullopt;
      made.weights.insert(made.weights.end(), pair.bytes.begin(), pair.bytes.end());
      instructions += pair.instructions;
      of_pairs[i / kLanes] += pair.instructions;
    }
  // Pixel by pixel four products take 13.
  if (instructions > 13 * round_up(run, kWord) * w.out_c) return std::nullopt;
  constexpr size_t kEntry = 16, kShift = 12;  // of struct intarsia_channel
  const std::vector<uint8_t> table = channels.table();
  for (size_t i = 0; i < order.size(); ++i) {
    const auto entry = table.begin() + static_cast<ptrdiff_t>(order[i] * kEntry);
    made.table.insert(made.table.end(), entry, entry + kEntry);
    uint8_t* shift = &made.table[made.table.size() - kEntry + kShift];
    const int64_t of_four = of_pairs[i / kLanes] / ceil_div(run, kWord);
    shift[1] = static_cast<uint8_t>(std::min<int64_t>(of_four, 255));  // for estimates
    shift[2] = static_cast<uint8_t>(order[i]), shift[3] = static_cast<uint8_t>(order[i] >> 8);
  }
  return made;
}

Made made_by_pixels(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, kWord);
  const bool direct = w.kernel_h == 1 && w.kernel_w == 1 && w.in_c % kWord == 0;
  return {w, "intarsia_rv32_conv", direct ? kWord : run, filled_rows(conv.rows, run),
          channels.table()};
}

Stmt lower(OpLowering& op, const Made& made, const Channels& channels) {
  const Window& w = made.window;
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {made.scratch_bytes}, kWord);
  const BufferId weights =
      op.constant("weights", DataType::Int8, {static_cast<int64_t>(made.weights.size())},
                  made.weights, tir::ConstantUse::Weights);
  const BufferId table =
      op.constant("channels", DataType::Int32, {static_cast<int64_t>(made.table.size()) / kWord},
                  made.table, tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel_for(made.family, channels, w),
                                   w.values(),
                                   {op.in(0)},
                                   op.out(),
                                   scratch,
                                   {weights, table}});
}

}  // namespace

LowerKernel rv32_conv_kernel(const Conv& conv, const Channels& channels) {
  const std::optional<Made> fours = made_by_fours(conv, channels);
  const Made made = fours ? *fours : made_by_pixels(conv, channels);
  if (made.scratch_bytes > kMostScratch) return nullptr;
  return [made, channels](OpLowering& op) { return lower(op, made, channels); };
}

LowerKernel rv32_depthwise_kernel(const Depthwise& given, const Channels& channels) {
  constexpr int64_t kSide = 3, kTaps = kSide * kSide;
  const auto covers = [](const Window& w) {
    return w.kernel_h == kSide && w.kernel_w == kSide && w.dilation_h == 1 && w.dilation_w == 1 &&
           w.in_c == w.out_c && w.stride_w <= 2 && w.pad_left <= 1;
  };
  // Each row of results begins with loads of its own: few long rows.
  Depthwise d = given;
  if (given.window.out_h > given.window.out_w) {
    Depthwise turned = transposed(given);
    if (covers(turned.window)) d = std::move(turned);
  }
  if (!covers(d.window)) return nullptr;
  return [d, channels](OpLowering& op) {
    const Window& w = d.window;
    return lower(
        op, {w, "intarsia_rv32_depthwise_3x3", kWord, filled_rows(d.rows, kTaps), channels.table()},
        channels);
  };
}

}  // namespace intarsia::targets::cortex_m
