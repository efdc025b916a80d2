// Convolution of many channels on cores with Helium: device/mve_deep_conv.h.
#include <algorithm>

#include "conv.h"
#include "kernel_costs.h"
#include "mve_deep_conv.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kVector = 16, kFour = 4, kEight = 8, kMostRuns = 6, kMostScratch = 4096;
// Of the cycles by pairs of pixels, whose kernel most networks have anyway: what saves less is not worth another kernel's code.
constexpr double kMostOfPairs = 0.9;

int64_t scratch_bytes(const Window& w) {
  const DeepPlanes planes = deep_planes_of(w);
  const int64_t taps = (w.kernel_w - 1) / w.stride_w + 1;
  return (planes.count() * planes.fours() * planes.columns + taps) * kVector;
}

int64_t stream_bytes(const Window& w) {
  const DeepPlanes planes = deep_planes_of(w);
  return w.out_c * (4 * 4 + planes.rows * w.kernel_w * kVector);
}

// Without wait states, and with those of every word of constants.
std::optional<double> cycles(const KernelWork& work, int64_t bytes, int64_t waits) {
  const std::optional<double> made = cycles_of_work(CostCore::M55, {work});
  if (!made) return std::nullopt;
  return *made + work.reads * static_cast<double>(bytes / 4 * waits);
}

// Taps [kernel_h][in_c / 16] by as many neighbours of every stride-th as are taken together.
void append_taps(std::vector<uint8_t>& bytes, const Conv& conv, const Window& w, int64_t channel,
                 const DeepRun& run) {
  const std::vector<int8_t>& row = conv.rows[static_cast<size_t>(channel)];
  for (int64_t y = 0; y < w.kernel_h; ++y)
    for (int64_t from = 0; from < w.in_c; from += kVector)
      for (int64_t tap = 0; tap < run.taps; ++tap)
        for (int64_t c = from; c < from + kVector; ++c) {
          const int64_t x = run.first + tap * w.stride_w;
          const int64_t at = (y * w.kernel_w + x) * w.in_c + c;
          bytes.push_back(c < w.in_c ? static_cast<uint8_t>(row[static_cast<size_t>(at)]) : 0);
        }
}

std::vector<uint8_t> stream_of(const Conv& conv, const Channels& channels, const Window& w) {
  constexpr size_t kWord = 4;
  const std::vector<uint8_t> table = channels.block_table({0});
  const std::vector<DeepRun> runs = deep_runs(w);
  std::vector<uint8_t> bytes;
  for (int64_t channel = 0; channel < w.out_c; ++channel) {
    const auto entry = table.begin() + static_cast<std::ptrdiff_t>(channel * 4 * int64_t{kWord});
    bytes.insert(bytes.end(), entry, entry + kWord);
    for (const DeepRun& run : runs) append_taps(bytes, conv, w, channel, run);
    bytes.insert(bytes.end(), entry + kWord, entry + 4 * kWord);
  }
  bytes.resize(bytes.size() + kWord, 0);
  return bytes;
}

}  // namespace

std::vector<DeepRun> deep_runs(const Window& w) {
  constexpr int64_t kMost = 3;
  std::vector<DeepRun> runs;
  for (int64_t phase = 0; phase < deep_planes_of(w).phases; ++phase) {
    int64_t first = phase;
    for (int64_t left = (w.kernel_w - phase - 1) / w.stride_w + 1; left > 0;) {
      runs.push_back({first, left == kMost + 1 ? 2 : std::min(left, kMost)});
      first += runs.back().taps * w.stride_w;
      left -= runs.back().taps;
    }
  }
  return runs;
}

LowerKernel mve_deep_conv_kernel(const Conv& conv, const Channels& channels, const Window& pairs,
                                 int64_t pairs_bytes, int64_t waits) {
  Window w = conv.window;
  w.strip_h = 1;
  w.group = 0;
  if (w.out_w < kFour || std::ssize(deep_runs(w)) > kMostRuns) return nullptr;
  std::optional<double> least = cycles(mve_convolution(pairs), pairs_bytes, waits);
  if (least) *least *= kMostOfPairs;
  Window best;
  for (w.strip_w = kFour; least && w.strip_w <= std::min(kEight, w.out_w); ++w.strip_w) {
    if (scratch_bytes(w) > kMostScratch) continue;
    const std::optional<double> taken = cycles(mve_deep_convolution(w), stream_bytes(w), waits);
    if (taken && *taken < *least) least = taken, best = w;
  }
  if (best.strip_w == 0) return nullptr;
  return [conv, channels, w = best](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const BufferId scratch = op.b.local("scratch", DataType::Int8, {scratch_bytes(w)}, 4);
    std::vector<uint8_t> stream = stream_of(conv, channels, w);
    const auto count = static_cast<int64_t>(stream.size()) / 4;
    const BufferId weights = op.constant("weights", DataType::Int32, {count}, std::move(stream),
                                         tir::ConstantUse::Weights);
    return call_kernel(
        op.b.func(),
        {"intarsia_mve_deep_conv_s8", w.values(), {op.in(0)}, op.out(), scratch, {weights}});
  };
}

}  // namespace intarsia::targets::cortex_m
