// Convolutions by stages (device/staging.c): pieces of the image are laid out, and a plain convolution computes each.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"
#include "staged_conv.h"

namespace intarsia::targets::cortex_m {
namespace {

constexpr int64_t kSlack = 16;  // bytes behind a run that a convolution may read

void add(std::vector<KernelWork>& sums, const std::vector<KernelWork>& parts) {
  if (sums.empty()) {
    sums = parts;
    return;
  }
  for (size_t work = 0; work < parts.size(); ++work) {
    sums[work].reads += parts[work].reads;
    for (size_t i = 0; i < parts[work].amounts.size(); ++i)
      sums[work].amounts[i] += parts[work].amounts[i];
  }
}

std::vector<KernelWork> convolution_of(const std::string& kernel, const Window& w, Way way) {
  const auto has = [&](const char* word) { return kernel.find(word) != std::string::npos; };
  if (kernel.ends_with("_f32")) return {real_convolution(w)};
  if (has("_hybrid")) return {hybrid_convolution(w, has("_mve_"))};
  if (has("_shifted")) {
    Window words = w;
    words.out_c *= 4;
    KernelWork work = hybrid_convolution(words, has("_mve_"));
    work.family = has("_mve_") ? KernelFamily::MveShifted : KernelFamily::DspShifted;
    return {std::move(work)};
  }
  if (kernel.ends_with("_s16")) {
    Window halves = w;
    halves.out_c /= 2;
    if (has("_mve_")) return {mve_convolution(halves, /*wide=*/true)};
    halves.in_c /= 2;
    return {dsp_wide_convolution(halves)};
  }
  if (has("_dsp_")) return dsp_convolution(w, way, has("_by_four"));
  if (has("_mve_")) return {mve_convolution(w)};
  return {has("_long_") ? paired_convolution(w, way) : single_convolution(w, way, {})};
}

struct Pieces {
  CoreClass core;
  Staged s;
  const std::string& kernel;
  Way way;
  std::vector<KernelWork> convolution = {};
  int64_t pieces = 0, rows = 0, runs = 0, run_words = 0, bytes = 0, fills = 0, results = 0,
          result_words = 0;

  bool has_copies() const {
    return kernel == "intarsia_staged_mve_hybrid" || kernel == "intarsia_staged_mve_shifted_s8";
  }
  int64_t words(int64_t each) const {
    return ceil_div(each, core == CoreClass::Mve ? int64_t{16} : int64_t{4});
  }
  // What stage() does for a row of staged columns.
  void stage(int64_t y, int64_t x, int64_t columns) {
    const int64_t each = s.group_in, step = s.kernel_h * each;
    const int64_t seen = inside(x, columns, s.tap_columns, s.in_w);
    for (int64_t tap = 0; tap < s.kernel_h; ++tap, y += s.tap_rows) {
      ++rows;
      const int64_t copied = y >= 0 && y < s.in_h ? seen : 0;
      if (step == each && s.tap_columns * s.in_c == each) {
        bytes += copied * each;
      } else {
        runs += copied, run_words += copied * words(each);
      }
      fills += (columns - copied) * words(each);
    }
  }
  void piece(int64_t row, int64_t band, int64_t column, int64_t count, int64_t phase) {
    ++pieces;
    const int64_t columns = (count - 1) * s.column_stride + s.kernel_w;
    const bool flat = s.kernel_w == 1 && s.column_stride == 1;
    Window w;
    w.batches = w.kernel_h = w.stride_h = w.dilation_h = w.dilation_w = 1;
    w.in_c = s.kernel_h * s.group_in, w.out_c = s.group_out;
    w.kernel_w = s.kernel_w, w.stride_w = s.column_stride;
    w.in_zero = s.in_zero, w.out_zero = s.out_zero, w.low = s.low, w.high = s.high;
    if (kernel.find("_dsp_") != std::string::npos || has_copies()) w.strip_w = s.row_bytes;
    w.out_h = flat ? 1 : band, w.out_w = flat ? band * count : count;
    w.in_h = w.out_h + kSlack, w.in_w = flat ? band * count : columns;
    const int64_t x = s.left + phase * s.phase_shift + column * s.column_stride * s.tap_columns;
    int64_t y = s.top + row * s.row_stride;
    const int64_t all = band * columns, apart = s.kernel_w == 1 ? s.groups : 1;
    const bool follow = band == 1 || (flat && columns == s.in_w && s.row_stride == 1);
    const bool lies = follow && s.kernel_h == 1 && s.tap_columns == 1 &&
                      apart * s.group_in == s.in_c && y >= 0 && y + band <= s.in_h && x >= 0 &&
                      x + columns <= s.in_w;
    // The last piece of an image may have nothing readable behind it.
    const int64_t left = s.in_h * s.in_w * s.in_c - (y * s.in_w + x) * s.in_c;
    if (lies && left >= (all - 1) * s.in_c + w.in_c + kSlack) {
      w.stride_w = s.column_stride * apart;
      w.in_w *= apart;
    } else {
      for (int64_t r = 0; r < band; ++r, y += s.row_stride) stage(y, x, columns);
    }
    add(convolution, convolution_of(kernel, w, way));
    const bool together = s.group_out == s.out_c && s.column_step == 1 &&
                          (band == 1 || (s.row_step == 1 && count == s.out_w));
    const int64_t runs_of_results = band * count * (s.group_out / s.row_out);
    if (!together) results += runs_of_results, result_words += runs_of_results * words(s.row_out);
  }
};

}  // namespace

// Four pixels by four channels in single precision, or one pixel (device/float_conv.c).
KernelWork real_convolution(const Window& w) {
  const int64_t run = w.kernel_w * w.in_c / 4, channels = w.out_c / 4,
                quads = ceil_div(channels, int64_t{4});
  const int64_t fours = w.out_w < 4 ? 0 : w.out_w / 4 + (w.out_w % 4 > 1 ? 1 : 0),
                ones = w.out_w < 4        ? w.out_w
                       : w.out_w % 4 == 1 ? 1
                                          : 0;
  const int64_t four_blocks = w.out_h * fours * quads, one_blocks = w.out_h * ones * quads;
  const int64_t results = w.out_h * (4 * fours + ones) * channels;
  return {KernelFamily::RealConvolution,
          {1, number(four_blocks), number(four_blocks * run), number(one_blocks),
           number(one_blocks * run), number(w.out_h * (fours + ones)), number(results),
           number(w.low != 0 ? results : 0), number(w.high != 0 ? results : 0)},
          number(w.out_h * (fours + ones))};
}

// Four pixels with the DSP extension, two with Helium, or one (device/hybrid.h).
KernelWork hybrid_convolution(const Window& w, bool vectors) {
  const int64_t run = w.kernel_w * w.in_c, channels = w.out_c / 4;
  const int64_t most = vectors ? 2 : 4, unit = vectors ? 16 : 4, groups = ceil_div(run, unit),
                blocks = ceil_div(channels, vectors ? int64_t{4} : int64_t{2});
  const int64_t left = w.out_w < most ? w.out_w : w.out_w % most;
  const int64_t ones = w.out_w < most ? left
                       : left == 1    ? 1
                                      : 0,
                all = w.out_w < most ? 0 : w.out_w / most + (left > 1 ? 1 : 0);
  // With Helium so many channels at a time that their constants are copied (strip_w).
  const bool copies = vectors && w.strip_w > 0;
  const int64_t rows = w.out_h, times = copies ? ceil_div(channels, w.strip_w) : 1;
  return {vectors ? KernelFamily::MveHybrid : KernelFamily::DspHybrid,
          {1, number(times * rows * all), number(rows * all * blocks),
           number(rows * all * blocks * groups), number(times * rows * ones),
           number(rows * ones * blocks), number(rows * ones * blocks * groups),
           number(copies    ? 4 * blocks * (groups + 1)
                  : vectors ? 0
                            : rows * all * groups),
           number(vectors ? 0 : rows * ones * groups), number(vectors ? 0 : rows * all * channels),
           number(vectors ? 0 : rows * ones * channels),
           number(vectors ? rows * (2 * all + ones) * blocks : 0)},
          copies ? 1 : number(rows * (all + ones))};
}

std::vector<KernelWork> staged(CoreClass core, const std::string& kernel,
                               const std::vector<int64_t>& numbers) {
  Staged s;
  size_t next = 0;
#define FIELD(name) s.name = numbers.at(next++);
#include "intarsia/targets/cortex_m/staged.def"
#undef FIELD
  const Way way = kernel.find("_rectified") != std::string::npos ? Way::Rectified
                  : kernel.find("_limited") != std::string::npos ? Way::Limited
                  : kernel.find("_any") != std::string::npos     ? Way::Any
                                                                 : Way::Whole;
  Pieces p{core, s, kernel, way};
  const int64_t rows = ceil_div(s.out_h - s.row_first, s.row_step);
  for (int64_t phase = 0; phase < s.phases; ++phase)
    for (int64_t row = 0; row < rows; row += s.band) {
      const int64_t columns = ceil_div(s.out_w - s.column_first - phase, s.column_step);
      for (int64_t column = 0; column < columns; column += s.pixels)
        p.piece(row, std::min(rows - row, s.band), column, std::min(columns - column, s.pixels),
                phase);
    }
  const int64_t times = s.groups * s.batches;
  KernelWork staging{KernelFamily::Staging,
                     {number(p.pieces), number(p.rows), number(p.runs), number(p.run_words),
                      number(p.bytes), number(p.fills), number(p.results), number(p.result_words)},
                     0};
  for (double& amount : staging.amounts) amount *= number(times);
  staging.amounts.insert(staging.amounts.begin(), 1);
  for (KernelWork& work : p.convolution) {
    for (double& amount : work.amounts) amount *= number(times);
    // A group reads its own constants.
    work.reads *= number(s.batches);
  }
  staging.reads = 0;
  p.convolution.push_back(std::move(staging));
  return std::move(p.convolution);
}

}  // namespace intarsia::targets::cortex_m
