// Depthwise convolutions, row by row as device/ computes them.
#include <algorithm>

#include "depthwise.h"
#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"

namespace intarsia::targets::cortex_m {
namespace {

constexpr int64_t kLanes = 4, kOutputs = 4;

}  // namespace

int64_t dsp_results_together(const Window& w, int64_t words) {
  constexpr int64_t kMostTogether = 1024;
  const int64_t results = w.out_c / w.in_c;
  return w.in_c >= kLanes && results * kLanes * words <= kMostTogether ? results : 1;
}

KernelWork dsp_depthwise_3x3(const Window& w, Way way) {
  if (w.dilation_h != 1 || w.dilation_w != 1) {
    KernelWork all{KernelFamily::DspDepthwise3x3, {}};
    for (int64_t y = 0; y < std::min(w.dilation_h, w.out_h); ++y)
      for (int64_t x = 0; x < std::min(w.dilation_w, w.out_w); ++x) {
        const std::vector<double> grid = dsp_depthwise_3x3(dilated_grid(w, y, x), way).amounts;
        all.amounts.resize(grid.size());
        for (size_t i = 0; i < grid.size(); ++i) all.amounts[i] += grid[i];
      }
    return all;
  }
  const int64_t blocks = w.batches * ceil_div(w.out_c, kLanes), slots = w.strip_h;
  const int64_t phases = w.stride_h == 1 ? 2 : 1, steps = ceil_div(w.out_h, phases);
  const int64_t columns = (w.out_w - 1) * w.stride_w + 3;
  const int64_t merged = std::min(columns - w.pad_left, w.in_w);
  // Channels that share elements are loaded one by one.
  const double by_element = w.in_c == w.out_c ? 1 : 1.5;
  int64_t staged = 0, calls = 0, rows = 0;
  for (int64_t step = 0, run = 0; step < steps; step += run) {
    staged = std::max(staged, std::min(step + slots, steps + 1));
    const int64_t behind = slots - 1 - step % slots;
    run = behind == 0 ? 1 : std::min(behind, steps - step);
    for (int64_t phase = 0; phase < phases; ++phase) {
      const int64_t left = (w.out_h - phases * step - phase + phases - 1) / phases;
      if (left <= 0) break;
      ++calls, rows += std::min(left, run);
    }
  }
  const int64_t lane_rows = blocks * kLanes * rows, fours = w.out_w / 4;
  const bool by_1 = w.stride_w == 1, two = (w.out_w & 2) != 0, one = (w.out_w & 1) != 0;
  const auto when = [&](bool condition, int64_t each) {
    return number(condition ? lane_rows * each : 0);
  };
  return {
      KernelFamily::DspDepthwise3x3,
      {1, number(blocks), number(blocks * staged), by_element * number(blocks * staged * merged),
       number(slots * (columns - merged)), number(blocks * calls), number(blocks * calls * kLanes),
       number(lane_rows), when(by_1, fours), when(by_1 && two, 1), when(by_1 && one, 1),
       when(!by_1, fours), when(!by_1 && two, 1), when(!by_1 && one, 1),
       when(way != Way::Rectified, w.out_w), when(way == Way::Limited, w.out_w)}};
}

KernelWork dsp_depthwise(const Window& w, Way way) {
  const int64_t lanes = std::min(w.out_c, kLanes), multiplier = w.out_c / w.in_c;
  const int64_t phases = w.stride_h % 2 == 0 ? 1 : 2;
  const int64_t pairs = phases == 1 ? ceil_div(w.kernel_h, int64_t{2}) : w.kernel_h / 2 + 1;
  const int64_t segments = std::min(w.stride_w, w.kernel_w), taps = w.strip_w;
  const int64_t chunks = ceil_div(ceil_div(w.kernel_w, segments), taps);
  const int64_t columns = round_up(ceil_div(w.out_w, w.dilation_w), kOutputs) + chunks * taps - 1;
  const int64_t passes = pairs * segments * chunks,
                lane_words = round_up(passes * taps, int64_t{2}),
                unit = w.group > 0 ? 2 * w.group : w.dilation_w,
                results = dsp_results_together(w, phases * lane_words);
  const bool quick = lanes == kLanes && multiplier == results;
  int64_t grids = 0, staged = 0, merged = 0, slow = 0, padding = 0, rows = 0, groups = 0;
  for (int64_t gy = 0; gy < w.dilation_h; ++gy)
    for (int64_t gx = 0; gx < w.dilation_w; ++gx) {
      const int64_t out_h = ceil_div(w.out_h - gy, w.dilation_h),
                    out_w = ceil_div(w.out_w - gx, w.dilation_w);
      if (out_w <= 0 || out_h <= 0) continue;
      ++grids;
      // Pairs of rows are staged once, but for those that no window sees.
      const int64_t step = std::max<int64_t>(1, std::min(w.stride_h / 2, pairs));
      const int64_t all = w.stride_h == 1 ? (out_h - 1) / 2 + pairs : (out_h - 1) * step + pairs;
      int64_t inner = 0;
      for (int64_t segment = 0; segment < segments; ++segment)
        inner += inside(gx - w.pad_left + segment * unit, columns, w.stride_w * unit, w.in_w);
      staged += all * segments;
      (quick ? merged : slow) += all * inner;
      padding += all * (segments * columns - inner);
      rows += out_h, groups += out_h * ceil_div(out_w, kOutputs);
    }
  const int64_t parts = ceil_div(w.out_c / results, kLanes), blocks = w.batches * parts,
                channels = blocks * results * lanes;
  const int64_t all_results = channels * groups * kOutputs, all_passes = channels * groups * passes;
  const bool quick_way = way != Way::Any;  // the others are not in assembly
  return {KernelFamily::DspDepthwise,
          {1, number(blocks), number(parts * results * phases * lanes * lane_words),
           number(blocks * grids), number(blocks * staged), number(blocks * merged),
           number(blocks * slow * lanes), number(blocks * padding), number(blocks * rows),
           number(blocks * rows * passes), number(channels * rows), number(channels * groups),
           number(quick_way ? all_passes : 0), number(quick_way ? all_passes * taps : 0),
           number(way == Way::Whole || way == Way::Limited ? all_results : 0),
           number(way == Way::Limited ? all_results : 0), number(quick_way ? 0 : all_results),
           number(quick_way ? 0 : all_passes), number(quick_way ? 0 : all_passes * taps)}};
}

KernelWork thumb_depthwise(CoreClass core, const Window& w, Way way,
                           std::span<const uint8_t> table) {
  const int64_t multiplier = w.out_c / w.in_c, taps = w.kernel_h * w.kernel_w;
  const int64_t columns = (round_up(w.out_w, kOutputs) - 1) * w.stride_w +
                          (w.kernel_w - 1) * w.dilation_w + 1,
                window_rows = (w.kernel_h - 1) * w.dilation_h + 1;
  int64_t staged = 0, seen = 0, next = 0;
  for (int64_t y = 0; y < w.out_h; ++y) {
    next = std::max(next, y * w.stride_h);
    for (; next < y * w.stride_h + window_rows; ++next) {
      const int64_t row = next - w.pad_top;
      ++staged;
      if (row >= 0 && row < w.in_h) seen += std::min(columns - w.pad_left, w.in_w);
    }
  }
  const int64_t planes = w.batches * w.in_c, rows = planes * w.out_h, lines = rows * multiplier;
  const int64_t fours = lines * ceil_div(w.out_w, kOutputs), results = lines * w.out_w;
  // Rows of three without a loop; on a core that multiplies pairs, of those channels whose products leave room for it.
  const bool three = w.kernel_w == 3 && w.dilation_w == 1 && w.stride_w <= 2;
  const double marked =
      core == CoreClass::Thumb ? number(channels_marked(table, 1)) / number(w.out_c) : 1;
  const double unrolled = three ? marked : 0, products = number(fours * taps);
  return {KernelFamily::SingleDepthwise,
          {1, number(w.in_c), number(w.out_c * taps), number(planes * staged),
           number(planes * seen), number(planes * (staged * columns - seen)), number(rows),
           number(rows * w.kernel_h), number(lines), number(fours), number(fours * w.kernel_h),
           w.stride_w == 1 ? unrolled * products : 0, w.stride_w == 2 ? unrolled * products : 0,
           (1 - unrolled) * products, number(results), number(way == Way::Limited ? results : 0),
           number(way == Way::Any ? results : 0)}};
}

KernelWork rv32_depthwise(const Window& w, Way way) {
  const int64_t channels = w.batches * w.out_c, rows = channels * w.out_h, results = rows * w.out_w;
  return {KernelFamily::Rv32Depthwise3x3,
          {1, number(channels), number(rows), number(w.stride_w == 1 ? results : 0),
           number(w.stride_w == 2 ? results : 0), number(way == Way::Limited ? results : 0),
           number(way == Way::Any ? results : 0)},
          number(w.batches)};
}

KernelWork mve_depthwise(const Window& w, KernelFamily family) {
  constexpr int64_t kVector = 16, kMostVectors = 4;
  const bool dense = family == KernelFamily::MveDepthwiseDense,
             wide = family == KernelFamily::MveDepthwiseWide;
  const int64_t multiplier = w.out_c / w.in_c;
  const int64_t rows = dense  ? 4
                       : wide ? w.kernel_h
                              : 5,
                out_rows = wide ? 1 : 2, results = wide ? 8 : 4,
                groups = ceil_div(w.out_w, results);
  const int64_t wanted = ceil_div(w.kernel_h * w.kernel_w, kVector), vectors = !wide ? 1
                                                                               : wanted == 3
                                                                                   ? kMostVectors
                                                                                   : wanted;
  const int64_t pitch =
      groups * results * w.stride_w * rows + (wide ? kMostVectors : int64_t{1}) * kVector;
  const int64_t columns = std::min((w.out_w - 1) * w.stride_w + w.kernel_w - w.pad_left, w.in_w);
  const int64_t strips = ceil_div(w.out_h, out_rows);
  const int64_t turned = dense ? 4 + 2 * (strips - 1) : rows * strips;
  int64_t parts = 0, filled = 0, rows_turned = 0, sixteens = 0, eights = 0, calls = 0;
  for (int64_t c = 0; c < w.in_c; c += w.group) {
    const int64_t together = std::min(w.in_c - c, w.group);
    ++parts;
    filled += ceil_div(together * pitch, kVector);
    rows_turned += turned;
    sixteens += turned * (together / kVector);
    eights += turned * ceil_div(together % kVector, kVector / 2);
    calls += strips * (multiplier <= w.group ? multiplier : together);
  }
  // Constants where they lie are read for each strip, and some of them several times. Copies take twice as long as filling.
  const double loaded = dense ? 2.5 : wide ? 1 : 1.5;
  const int64_t copied = w.strip_h != 0 ? 2 * w.out_c * (vectors + 1) : 0;
  const int64_t n = w.batches, channels = n * strips * w.out_c;
  const auto by = [&](int64_t some) { return number(vectors == some ? channels * groups : 0); };
  return {family,
          {1, number(n * parts), number(n * (filled + copied)), number(n * strips * parts),
           number(n * rows_turned), number(n * sixteens), number(n * eights),
           number(n * sixteens * columns), number(n * eights * columns), number(n * calls),
           number(channels), by(1), by(2), by(4), number(is_general(w) ? channels * groups : 0),
           number(clamped_vectors(w))},
          w.strip_h != 0 ? number(n) : number(n * strips) * loaded};
}

// In single precision: four channels of four pixels, or of one (device/float_depthwise.c).
KernelWork real_depthwise(const Window& w) {
  const int64_t blocks = ceil_div(w.out_c, kLanes);
  const int64_t reach = (w.kernel_w - 1) * w.dilation_w;
  int64_t fours = 0, four_rows = 0, four_taps = 0, ones = 0, one_rows = 0, one_taps = 0;
  for (int64_t y = 0; y < w.out_h; ++y) {
    const int64_t rows = inside(y * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
    for (int64_t x = 0; x < w.out_w;) {
      const int64_t left = x * w.stride_w - w.pad_left;
      if (x + kOutputs <= w.out_w && left >= 0 &&
          left + (kOutputs - 1) * w.stride_w + reach < w.in_w) {
        ++fours, four_rows += rows, four_taps += rows * w.kernel_w, x += kOutputs;
      } else {
        ++ones, one_rows += rows, ++x;
        one_taps += rows * inside(left, w.kernel_w, w.dilation_w, w.in_w);
      }
    }
  }
  const int64_t n = w.batches * blocks, results = w.pixels() * blocks * kLanes;
  return {KernelFamily::RealDepthwise,
          {1, number(w.batches * (fours + ones)), number(n * fours), number(n * four_rows),
           number(n * four_taps), number(n * ones), number(n * one_rows), number(n * one_taps),
           number(results), number(w.low != 0 ? results : 0), number(w.high != 0 ? results : 0)},
          number(w.batches * (fours + ones))};
}

SeenTaps seen_taps(const Window& w) {
  SeenTaps seen;
  for (int64_t y = 0; y < w.out_h; ++y) {
    const int64_t rows = inside(y * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
    for (int64_t x = 0; x < w.out_w; ++x) {
      const int64_t columns = inside(x * w.stride_w - w.pad_left, w.kernel_w, w.dilation_w, w.in_w);
      seen.rows += columns == 0 ? 0 : w.batches * rows, seen.taps += w.batches * rows * columns;
    }
  }
  return seen;
}

KernelWork dsp_depthwise_pixels(const Window& w, Way way) {
  const int64_t blocks = ceil_div(w.out_c, int64_t{4}), pixels = w.pixels();
  const SeenTaps seen = seen_taps(w);
  return {KernelFamily::DspDepthwisePixels,
          {1, number(pixels), number(pixels * blocks), number(seen.rows * blocks),
           number(seen.taps * blocks), number(way == Way::Any ? pixels * blocks : 0)},
          number(pixels)};
}

// Constants of eight channels are copied for up to sixteen pixels.
KernelWork mve_depthwise_pixels(const Window& w) {
  constexpr int64_t kEight = 8, kTogether = 16, kTable = 8, kVector = 16;
  const int64_t blocks = ceil_div(w.out_c, kEight), pixels = w.pixels(),
                passes = ceil_div(pixels, kTogether);
  const int64_t vectors = kTable + ceil_div(kEight * w.kernel_h * w.kernel_w, kVector);
  const SeenTaps seen = seen_taps(w);
  const double gathered = w.in_c == w.out_c ? 1 : 1.25;
  return {KernelFamily::MveDepthwisePixels,
          {1, number(pixels), number(passes * blocks), number(passes * blocks * vectors),
           number(pixels * blocks), number((w.kernel_w == 1 ? pixels : seen.rows) * blocks),
           gathered * number(seen.taps * blocks)},
          number(passes)};
}

}  // namespace intarsia::targets::cortex_m
