#include "kernel_work.h"

#include <algorithm>
#include <string_view>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::cortex_m {
namespace {

Way way_of(const std::string& kernel) {
  // Of int16 a sum becomes a result alike whether it may be negative or not.
  if (kernel.find("_rectified") != std::string::npos)
    return kernel.ends_with("_s16") ? Way::Whole : Way::Rectified;
  if (kernel.find("_limited") != std::string::npos) return Way::Limited;
  return kernel.find("_any") != std::string::npos ? Way::Any : Way::Whole;
}

Window window_of(const std::vector<int64_t>& numbers) {
  Window w;
  size_t next = 0;
#define FIELD(name) w.name = numbers.at(next++);
#include "intarsia/targets/cortex_m/window.def"
#undef FIELD
  return w;
}

#define FIELD(name) int64_t name = take();
struct Sum : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/sum.def"
};
struct Add : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/add.def"
};
struct Mul : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/mul.def"
};
struct Prelu : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/prelu.def"
};
struct Mean : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/mean.def"
};
struct Svdf : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/svdf.def"
};
struct Lstm : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/lstm.def"
};
struct Wide : Numbers {
  using Numbers::Numbers;
#include "intarsia/targets/cortex_m/wide.def"
};
#undef FIELD

bool clamps(int64_t low, int64_t high) {
  return low != -128 || high != 127;
}

// With Helium eight at a time; with the DSP extension four with the usual shift and all of int8.
KernelWork sum(CoreClass core, const Sum& s) {
  constexpr int64_t kUsualShift = 22;
  const bool vectors = core == CoreClass::Mve, limited = clamps(s.low, s.high),
             fours = core == CoreClass::Dsp && s.shift == kUsualShift && !limited;
  const int64_t together = vectors ? 8 : 4, units = vectors || fours ? s.count / together : 0;
  return {KernelFamily::Sum,
          {1, number(units), number(s.count - together * units),
           number(vectors && limited ? ceil_div(together * units, int64_t{16}) : 0)}};
}

bool is_half(int64_t multiplier, int64_t shift) {
  return multiplier == int64_t{1} << 30 && shift == 0;
}

KernelWork add(CoreClass core, const Add& s) {
  const bool a_half = is_half(s.a_multiplier, s.a_shift),
             b_half = is_half(s.b_multiplier, s.b_shift);
  // The operand of the larger scale is halved; the other one is shifted, or halved too.
  const int64_t other_shift = a_half ? s.b_shift : s.a_shift;
  const bool vectors = core == CoreClass::Mve && s.count >= 8 && (a_half || b_half) &&
                       (other_shift != 0 || (a_half && b_half));
  const bool halves =
      core == CoreClass::Dsp && (a_half || b_half) && other_shift != 0 && !clamps(s.low, s.high);
  const int64_t eights = vectors ? s.count / 8 : 0, rest = halves ? 0 : s.count - 8 * eights;
  return {KernelFamily::Add,
          {1, number(eights), number(rest), number(s.a_shift != 0 ? rest : 0),
           number(s.b_shift != 0 ? rest : 0),
           number(clamps(s.low, s.high) ? ceil_div(8 * eights, int64_t{16}) : 0),
           number(halves ? s.count : 0)}};
}

KernelWork wide_sum(CoreClass core, const Add& s, bool difference) {
  const bool a_half = is_half(s.a_multiplier, s.a_shift);
  const bool half = a_half || is_half(s.b_multiplier, s.b_shift);
  const bool quick = core == CoreClass::Dsp && half && s.high == 32767 &&
                     ((s.low == 0 && !difference) || s.low == -32768);
  const int64_t eights = core == CoreClass::Mve && half ? s.count / 8 : 0;
  return {
      KernelFamily::WideSum,
      {1, number(eights), number(quick ? 0 : s.count - 8 * eights), number(quick ? s.count : 0)}};
}

// With Helium four at a time; with the DSP extension bytes in a loop of their own.
KernelWork squared_difference(CoreClass core, const Add& s, bool wide) {
  constexpr int64_t kMostShift = 16, kMostOutShift = 22;
  const bool a_half = is_half(s.a_multiplier, s.a_shift),
             half = a_half || is_half(s.b_multiplier, s.b_shift);
  const bool quick = core == CoreClass::Dsp && !wide && half &&
                     (a_half ? s.b_shift : s.a_shift) <= kMostShift && s.out_shift <= kMostOutShift;
  const bool halves = core != CoreClass::Mve && wide && half && s.out_shift <= kMostOutShift;
  const int64_t others = core == CoreClass::Mve ? ceil_div(s.count, int64_t{4}) : s.count;
  return {KernelFamily::SquaredDifference,
          {1, number(quick || halves ? 0 : others), number(quick ? s.count : 0),
           number(halves ? s.count : 0)}};
}

// With Helium eight at a time; with the DSP extension two of those that have all of int8.
KernelWork product(CoreClass core, const Mul& s) {
  const bool vectors = core == CoreClass::Mve, limited = clamps(s.low, s.high);
  const int64_t twos = core == CoreClass::Dsp && !limited ? s.count / 2 : 0;
  return {KernelFamily::Product,
          {1, number(s.rows), number(s.rows * (vectors ? ceil_div(s.count, int64_t{8}) : twos)),
           number(vectors ? 0 : s.rows * (s.count - 2 * twos)),
           number(vectors && limited ? s.rows * ceil_div(s.count, int64_t{16}) : 0)}};
}

// With Helium eight at a time.
KernelWork prelu(CoreClass core, const Prelu& s) {
  return {KernelFamily::Prelu,
          {1, number(core == CoreClass::Mve ? ceil_div(s.count, int64_t{8}) : s.count)}};
}

// With Helium eight at a time.
KernelWork comparison(CoreClass core, int64_t count, bool two) {
  const int64_t each = core == CoreClass::Mve ? ceil_div(count, int64_t{8}) : count;
  return {KernelFamily::Comparison, {1, number(two ? 0 : each), number(two ? each : 0)}};
}

// With Helium four at a time.
KernelWork quotient(CoreClass core, int64_t count) {
  return {KernelFamily::Quotient,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count)}};
}

KernelWork wide_product(CoreClass core, const Mul& s) {
  const bool whole = s.low == -32768 && s.high == 32767, vectors = core == CoreClass::Mve;
  const int64_t pairs = !vectors && whole ? s.count / 2 : 0;
  return {KernelFamily::WideProduct,
          {1, number(vectors ? ceil_div(s.count, int64_t{8}) : 0), number(pairs),
           number(vectors ? 0 : s.count - 2 * pairs)}};
}

// With Helium eight at a time.
KernelWork each_of_int16(CoreClass core, int64_t count, KernelFamily family) {
  return {family, {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{8}) : count)}};
}

// With Helium eight at a time; with the DSP extension two where results are within all of int16 or its upper half.
KernelWork rescale(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers) {
  constexpr size_t kLow = 4, kHigh = 5;
  const bool is_relu = name == "each_relu_s16",
             whole = name == "each_rescale_s16" ||
                     (is_relu && numbers.at(kLow) == 0 && numbers.at(kHigh) == 32767);
  const int64_t count = numbers.at(0), twos = core == CoreClass::Dsp && whole ? count / 2 : 0;
  return {KernelFamily::Rescale,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{8}) : count - 2 * twos),
           number(twos)}};
}

// With Helium four at a time.
KernelWork hard_swish(CoreClass core, int64_t count) {
  return {KernelFamily::WideHardSwish,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count)}};
}

// With Helium eight at a time, and back four at a time.
KernelWork float_steps(CoreClass core, int64_t count) {
  return {KernelFamily::FloatSteps,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{8}) : count)}};
}
// With Helium four at a time.
int64_t float_steps_of(CoreClass core, int64_t count) {
  return core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count;
}
KernelWork float_curve(CoreClass core, std::string_view name, int64_t count) {
  const auto fours_of = [&](const char* kernel) {
    return number(name == kernel ? float_steps_of(core, count) : 0);
  };
  return {KernelFamily::FloatCurve,
          {1, fours_of("each_exp_f32"), fours_of("each_logistic_f32"), fours_of("each_tanh_f32"),
           fours_of("each_hard_swish_f32"), fours_of("each_elu_f32"),
           fours_of("each_gelu_tanh_f32"), fours_of("each_gelu_f32")}};
}
KernelWork float_softmax(CoreClass core, int64_t rows, int64_t count) {
  return {KernelFamily::FloatSoftmax,
          {1, number(rows), number(rows * float_steps_of(core, count))}};
}
KernelWork float_numbers(CoreClass core, int64_t count) {
  return {KernelFamily::FloatNumbers,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count)}};
}

// With Helium four channels at a time where there are as many.
KernelWork resize(CoreClass core, const std::vector<int64_t>& numbers, bool wide) {
  constexpr int64_t kLanes = 4;
  const int64_t pixels = numbers[0] * numbers[2] * numbers[3], channels = numbers[4];
  const bool vectors = core == CoreClass::Mve && channels >= kLanes;
  return {wide ? KernelFamily::WideResize : KernelFamily::Resize,
          {1, number(numbers[0] * numbers[2]), number(pixels),
           number(vectors ? pixels * ceil_div(channels, kLanes) : 0),
           number(vectors ? 0 : pixels * channels)}};
}

// With Helium sixteen at a time. Each element reads its result by itself, which takes as long as a word.
KernelWork lookup(CoreClass core, int64_t count) {
  constexpr double kWords = 256 / 4;  // of the table
  return {KernelFamily::Lookup,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{16}) : count)},
          number(count) / kWords};
}

// With Helium eight channels, or elements of a row, at a time, else four.
KernelWork wide_mean_of(CoreClass core, const Mean& s) {
  const bool vectors = core == CoreClass::Mve;
  const int64_t lanes = vectors ? 8 : 4;
  if (s.inner == 1)
    return {KernelFamily::WideRowMean,
            {1, number(s.outer), number(s.outer * ceil_div(s.count, lanes))}};
  const bool by_lanes = vectors || s.inner >= lanes;
  const int64_t blocks = by_lanes ? s.outer * ceil_div(s.inner, lanes) : 0;
  return {KernelFamily::WideMean,
          {1, number(blocks), number(blocks * s.count),
           number(by_lanes ? 0 : s.outer * s.inner * s.count), number(s.outer * s.inner)}};
}

// With Helium a vector at a time, else a word and what is left.
KernelWork clamp(CoreClass core, int64_t count, bool wide) {
  const int64_t together = (core == CoreClass::Mve ? 16 : 4) / (wide ? 2 : 1);
  const bool vectors = core == CoreClass::Mve;
  const int64_t words = vectors ? ceil_div(count, together) : count / together;
  return {KernelFamily::Clamp, {1, number(words), number(vectors ? 0 : count - together * words)}};
}

// With Helium a vector at a time, else two words and what is left.
KernelWork extremes(CoreClass core, int64_t count, bool wide) {
  const bool vectors = core == CoreClass::Mve;
  const int64_t together = (vectors ? 16 : 8) / (wide ? 2 : 1);
  const int64_t units = vectors ? ceil_div(count, together) : count / together;
  return {KernelFamily::Extremes,
          {1, number(units), number(vectors ? 0 : count - together * units)}};
}

KernelWork mean_of(CoreClass core, const Mean& s) {
  constexpr int64_t kMostAdded = 255;
  const bool vectors = core == CoreClass::Mve;
  int64_t blocks = 0, words = 0, parts = 0, single = 0;
  if (s.inner == 1) {
    const int64_t each = core == CoreClass::Dsp ? 8 : 4;
    words = s.outer * (vectors ? ceil_div(s.count, int64_t{16}) : s.count / each);
    single = vectors ? 0 : s.outer * (s.count % each);
  } else {
    const int64_t lanes = vectors ? 8 : 4;
    const bool by_lanes =
        vectors || (s.inner >= lanes && (core != CoreClass::Thumb || s.inner % lanes == 0));
    if (by_lanes) {
      blocks = s.outer * ceil_div(s.inner, lanes);
      words = blocks * s.count;
      parts = blocks * ceil_div(s.count, kMostAdded);
    } else {
      single = s.outer * s.inner * s.count;
    }
  }
  return {s.inner == 1 ? KernelFamily::RowMean : KernelFamily::Mean,
          {1, number(s.outer), number(blocks), number(words), number(parts), number(single),
           number(s.outer * s.inner)}};
}

// With Helium short rows four at a time, each in a lane; with the DSP extension elements of long rows some at a time.
KernelWork softmax(CoreClass core, int64_t rows, int64_t count, bool many) {
  constexpr int64_t kLongRow = 8;
  if (many && core == CoreClass::Dsp && count >= kLongRow)
    return {KernelFamily::Softmax,
            {1, 0, 0, 0, number(rows), number(rows * count)},
            2 * number(rows * count) / 256};
  constexpr int64_t kShortRow = 8;
  int64_t fours = 0;
  for (; core == CoreClass::Mve && rows > 1 && count <= kShortRow * std::min<int64_t>(rows, 4);
       rows -= std::min<int64_t>(rows, 4))
    ++fours;
  return {KernelFamily::Softmax,
          {1, number(rows), number(rows * count), number(rows * ceil_div(count, int64_t{4})),
           number(fours), number(fours * count)},
          2 * number((rows + 4 * fours) * count) / 256};
}

// Without the table's reads where there is none.
KernelWork normalized(int64_t rows, int64_t count, KernelFamily family) {
  return {family,
          {1, number(rows), number(rows * count), number(rows * ceil_div(count, int64_t{4}))},
          family == KernelFamily::LogSoftmax ? number(rows * count) / 256 : 0};
}

// With Helium eight at a time.
KernelWork wide_softmax(CoreClass core, int64_t rows, int64_t count) {
  return {KernelFamily::WideSoftmax,
          {1, number(rows),
           number(rows * (core == CoreClass::Mve ? ceil_div(count, int64_t{8}) : count))}};
}

KernelWork svdf(CoreClass core, const Svdf& s, bool wide) {
  const int64_t group = core == CoreClass::Mve ? 16 : 4, size = wide ? 2 : 1;
  const int64_t filters = s.units * s.rank, n = s.batches, blocks = ceil_div(filters, int64_t{4}),
                run = s.rank * s.memory;
  const int64_t of_dot = core == CoreClass::Mve ? (wide ? 8 : 16) : 4;
  return {wide ? KernelFamily::WideSvdf : KernelFamily::Svdf,
          {1, number(core == CoreClass::Mve ? 0 : n * s.inputs), number(n * blocks),
           number(n * blocks * ceil_div(s.inputs, group)), number(n * filters),
           number(n * filters * s.memory * size / 4), number(n * s.units),
           number(n * s.units * ceil_div(run, of_dot))},
          number(n)};
}

KernelWork lstm(CoreClass core, const Lstm& s, KernelFamily family) {
  const bool mve = core == CoreClass::Mve;
  const int64_t group = !mve ? 4 : family == KernelFamily::Lstm ? 16 : 8;
  const int64_t rows = s.batches * s.steps;
  return {family,
          {1, number(rows * ceil_div(s.units, int64_t{32})),
           number(rows * (mve ? ceil_div(s.units, int64_t{8}) : s.inputs + s.units)),
           number(rows * s.units),
           number(rows * s.units * (ceil_div(s.inputs, group) + ceil_div(s.units, group)))},
          number(rows)};
}

KernelWork wide_convolution(CoreClass core, const Wide& w) {
  const int64_t group = core == CoreClass::Mve ? 8 : 4, run = w.kernel_h * w.kernel_w * w.in_c;
  const int64_t pixels = w.batches * w.out_h * w.out_w, quads = ceil_div(w.out_c, int64_t{4});
  const bool gathers = w.kernel_h * w.kernel_w > 1 || run % group != 0;
  const int64_t results = pixels * w.out_c;
  return {KernelFamily::WideConvolution,
          {1, number(pixels), number(gathers ? pixels * w.kernel_h : 0),
           number(gathers ? pixels * run : 0), number(pixels * quads),
           number(pixels * quads * ceil_div(run, group)),
           number(w.modular != 0 ? 0 : pixels * quads * ceil_div(run, int64_t{504})),
           number(results), number(w.modular != 0 ? results : 0)},
          number(pixels)};
}

// The same with sums of 32 bits.
KernelWork short_convolution(const Wide& w) {
  KernelWork work = wide_convolution(CoreClass::Dsp, w);
  constexpr size_t kRuns = 6;  // of 504 elements, and behind results those that are modular
  work.family = KernelFamily::ShortConvolution;
  work.amounts.erase(work.amounts.begin() + kRuns);
  work.amounts.pop_back();
  return work;
}

// Eight channels with Helium, whose constants are copied first.
KernelWork mve_wide_depthwise(const Wide& w) {
  constexpr int64_t kLanes = 8, kTables = 3 * 32;
  const int64_t blocks = ceil_div(w.out_c, kLanes),
                block_bytes = kTables + kLanes * w.kernel_h * w.kernel_w;
  const auto rows_at = [&](int64_t y) {
    return inside(y * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
  };
  const auto columns_at = [&](int64_t x) {
    return inside(x * w.stride_w - w.pad_left, w.kernel_w, w.dilation_w, w.in_w);
  };
  int64_t runs = 0, calls = 0, pairs = 0, rows = 0, taps = 0, single_rows = 0, single_taps = 0;
  const auto run = [&](int64_t y, int64_t x, int64_t count) {
    const int64_t made = ceil_div(count, int64_t{2}), seen = rows_at(y);
    runs += 1;
    if (w.in_c != w.out_c) {  // elements are gathered, of one window at a time
      constexpr int64_t kGathered = 5, kOf = 4;
      calls += count, single_rows += count * seen;
      single_taps += count * seen * columns_at(x) * kGathered / kOf;
      return;
    }
    calls += 1;
    if (count == 1) {
      single_rows += seen, single_taps += seen * columns_at(x);
      return;
    }
    calls += count % 2;
    pairs += made, rows += made * seen, taps += made * seen * columns_at(x);
  };
  // As the kernel has them.
  int64_t first = 0, end = 0, top = 0, bottom = 0;
  while (first < w.out_w && first * w.stride_w < w.pad_left) ++first;
  for (end = first; end < w.out_w && columns_at(end) == w.kernel_w;) ++end;
  while (top < w.out_h && top * w.stride_h < w.pad_top) ++top;
  for (bottom = top; bottom < w.out_h && rows_at(bottom) == w.kernel_h;) ++bottom;
  if (end - first == 1) end = first;
  for (int64_t y = 0; end > first && y < w.out_h; ++y) run(y, first, end - first);
  for (int64_t x = 0; x < w.out_w; ++x) {
    if (x >= first && x < end) continue;
    for (int64_t y = 0; y < w.out_h; ++y)
      if (y < top || y >= bottom) run(y, x, 1);
    if (bottom > top) run(top, x, bottom - top);
  }
  // Constants are copied again for as many runs as there is room for.
  constexpr int64_t kMostRuns = 16;
  const int64_t n = w.batches * blocks, copies = blocks * ceil_div(runs, kMostRuns);
  return {KernelFamily::MveWideDepthwise,
          {1, number(copies), number(copies * block_bytes), number(runs), number(n * calls),
           number(n * pairs), number(n * rows), number(n * taps), number(n * single_rows),
           number(n * single_taps)}};
}

KernelWork wide_depthwise(CoreClass core, const Wide& w) {
  const int64_t lanes = core == CoreClass::Mve ? 8 : 4, blocks = ceil_div(w.out_c, lanes);
  int64_t rows = 0, taps = 0;
  for (int64_t y = 0; y < w.out_h; ++y) {
    const int64_t seen = inside(y * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
    for (int64_t x = 0; x < w.out_w; ++x) {
      rows += seen;
      taps += seen * inside(x * w.stride_w - w.pad_left, w.kernel_w, w.dilation_w, w.in_w);
    }
  }
  const int64_t n = w.batches, pixels = n * w.out_h * w.out_w;
  const bool limits = w.low != -32768 || w.high != 32767;
  return {KernelFamily::WideDepthwise,
          {1, number(pixels), number(pixels * blocks), number(n * rows * blocks),
           number(n * taps * blocks), number(pixels * blocks * lanes),
           number(limits ? pixels * blocks * lanes : 0)},
          number(pixels)};
}

// With Helium four at a time.
KernelWork row_steps(CoreClass core, int64_t count) {
  return {KernelFamily::RowSteps,
          {1, number(core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count)}};
}
KernelWork real_elements(CoreClass core, const std::vector<int64_t>& numbers) {
  constexpr int64_t kInfinity = 0x7f800000;
  const int64_t count = numbers.at(0);
  const bool limited = numbers.at(2) != kInfinity ||
                       static_cast<uint32_t>(numbers.at(1)) != (uint32_t{1} << 31 | kInfinity);
  const int64_t units = core == CoreClass::Mve ? ceil_div(count, int64_t{4}) : count;
  return {KernelFamily::RealElements,
          {1, number(limited ? 0 : units), number(limited ? units : 0)}};
}

// With Helium eight channels, else four.
KernelWork hybrid_depthwise(CoreClass core, const Window& w) {
  const int64_t lanes = core == CoreClass::Mve ? 8 : 4, blocks = ceil_div(w.out_c, lanes);
  const SeenTaps seen = seen_taps(w);
  const int64_t pixels = w.pixels();
  return {KernelFamily::HybridDepthwise,
          {1, number(pixels), number(pixels * blocks), number(seen.rows * blocks),
           number(seen.taps * blocks), number(pixels * w.out_c)},
          number(pixels)};
}

}  // namespace

std::vector<KernelWork> work_of_call(CoreClass core, const std::string& kernel,
                                     const std::vector<int64_t>& numbers,
                                     std::span<const uint8_t> table) {
  std::string_view name = kernel;
  constexpr std::string_view kPrefix = "intarsia_";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  const Way way = way_of(kernel);
  if (name.starts_with("staged_")) return staged(core, kernel, numbers);
  if (name == "dsp_conv_s16") return {dsp_wide_convolution(window_of(numbers))};
  if (name == "mve_dense_s16") return {mve_wide_dense(window_of(numbers))};
  if (name == "mve_conv_s16") return {mve_convolution(window_of(numbers), /*wide=*/true)};
  if (name.starts_with("dsp_conv")) {
    return dsp_convolution(window_of(numbers), way, name.starts_with("dsp_conv_by_four"));
  }
  if (name.starts_with("dsp_dense")) return {dsp_dense(window_of(numbers), way)};
  if (name.starts_with("thumb_conv")) return {single_convolution(window_of(numbers), way, table)};
  if (name.starts_with("rv32_conv")) return {rv32_convolution(window_of(numbers), way, table)};
  if (name.starts_with("rv32_depthwise")) return {rv32_depthwise(window_of(numbers), way)};
  if (name.starts_with("long_conv")) return {paired_convolution(window_of(numbers), way)};
  if (name == "mve_deep_conv_s8") return {mve_deep_convolution(window_of(numbers))};
  if (name.starts_with("mve_conv")) return {mve_convolution(window_of(numbers))};
  if (name.starts_with("mve_dense")) return {mve_dense(window_of(numbers))};
  if (name.starts_with("dsp_depthwise_pixels"))
    return {dsp_depthwise_pixels(window_of(numbers), way)};
  if (name.starts_with("dsp_depthwise_3x3")) {
    KernelWork work = dsp_depthwise_3x3(window_of(numbers), way);
    if (name.ends_with("s16")) work.family = KernelFamily::DspWideDepthwise3x3;
    return {std::move(work)};
  }
  if (name.starts_with("dsp_depthwise")) {
    KernelWork work = dsp_depthwise(window_of(numbers), way);
    if (name.ends_with("s16")) work.family = KernelFamily::DspWideDepthwise;
    return {std::move(work)};
  }
  if (name.starts_with("thumb_depthwise")) {
    return {thumb_depthwise(core, window_of(numbers), way, table)};
  }
  if (name == "mve_depthwise_pixels_s8" || name == "mve_depthwise_shared_pixels_s8")
    return {mve_depthwise_pixels(window_of(numbers))};
  if (name.starts_with("mve_depthwise_dense"))
    return {mve_depthwise(window_of(numbers), KernelFamily::MveDepthwiseDense)};
  if (name.starts_with("mve_depthwise_halving"))
    return {mve_depthwise(window_of(numbers), KernelFamily::MveDepthwiseHalving)};
  if (name.starts_with("mve_depthwise_wide"))
    return {mve_depthwise(window_of(numbers), KernelFamily::MveDepthwiseWide)};
  if (name.starts_with("average_pool") || name.starts_with("max_pool")) {
    return {pool(core, window_of(numbers), name.starts_with("average"), name.ends_with("s16"))};
  }
  if (name == "rows_average_pool_s8") return {rows_average_pool(core, window_of(numbers))};
  if (name.starts_with("rows_max_pool_")) {
    return {rows_max_pool(core, window_of(numbers), name.ends_with("s16"))};
  }
  if (name == "each_sum_s8") return {sum(core, Sum(numbers))};
  if (name == "each_add_s8") return {add(core, Add(numbers))};
  if (name == "each_add_s16") return {wide_sum(core, Add(numbers), false)};
  if (name == "each_sub_s16") return {wide_sum(core, Add(numbers), true)};
  if (name.starts_with("each_squared_difference_")) {
    return {squared_difference(core, Add(numbers), name.ends_with("s16"))};
  }
  if (name == "each_product_s8") return {product(core, Mul(numbers))};
  if (name.starts_with("each_prelu_") || name == "each_leaky_relu_s16")
    return {prelu(core, Prelu(numbers))};
  if (name == "each_above_s8" || name == "each_between_s8")
    return {comparison(core, numbers.at(0), name == "each_between_s8")};
  if (name == "each_quotient_s8") return {quotient(core, numbers.at(0))};
  if (name == "each_lookup_s8") return {lookup(core, numbers.at(0))};
  if (name == "each_product_s16") return {wide_product(core, Mul(numbers))};
  if (name == "each_sigmoid_s16" || name == "each_tanh_s16")
    return {each_of_int16(core, numbers.at(0), KernelFamily::WideCurve)};
  if (name == "each_rescale_s16" || name == "each_relu_s16" || name.starts_with("each_requantize_"))
    return {rescale(core, name, numbers)};
  if (name.starts_with("resize_bilinear_")) return {resize(core, numbers, name.ends_with("s16"))};
  if (name == "each_exp_f32" || name == "each_logistic_f32" || name == "each_tanh_f32" ||
      name == "each_hard_swish_f32" || name == "each_elu_f32" || name.starts_with("each_gelu_"))
    return {float_curve(core, name, numbers.at(0))};
  if (name.starts_with("quantize_f32_")) return {float_steps(core, numbers.at(0))};
  if (name.starts_with("dequantize_s")) return {float_numbers(core, numbers.at(0))};
  if (name == "each_hard_swish_s16") return {hard_swish(core, numbers.at(0))};
  if (name.starts_with("each_larger_") || name.starts_with("each_smaller_"))
    return {extremes(core, numbers.at(0), name.ends_with("s16"))};
  if (name.starts_with("each_clamp_")) return {clamp(core, numbers.at(0), name.ends_with("s16"))};
  if (name == "mean_s16") return {wide_mean_of(core, Mean(numbers))};
  if (name == "mean_s8") return {mean_of(core, Mean(numbers))};
  if (name == "softmax_table_s8" || name == "softmax_rows_s8")
    return {softmax(core, numbers.at(0), numbers.at(1), name == "softmax_rows_s8")};
  if (name == "log_softmax_table_s8")
    return {normalized(numbers.at(0), numbers.at(1), KernelFamily::LogSoftmax)};
  if (name == "l2_normalize_rows_s8")
    return {normalized(numbers.at(0), numbers.at(1), KernelFamily::Normalized)};
  if (name == "softmax_rows_s16") return {wide_softmax(core, numbers.at(0), numbers.at(1))};
  if (name == "softmax_rows_f32") return {float_softmax(core, numbers.at(0), numbers.at(1))};
  if (name.ends_with("svdf_s8")) return {svdf(core, Svdf(numbers), false)};
  if (name.ends_with("svdf_s16")) return {svdf(core, Svdf(numbers), true)};
  if (name.ends_with("lstm_s8")) return {lstm(core, Lstm(numbers), KernelFamily::Lstm)};
  if (name.ends_with("lstm_s16")) return {lstm(core, Lstm(numbers), KernelFamily::WideLstm)};
  if (name.ends_with("lstm_s16_short")) return {lstm(core, Lstm(numbers), KernelFamily::ShortLstm)};
  if (name == "matmul_s16") return {wide_products_of_matrices(core, numbers)};
  if (name == "matmul_f32") return real_products_of_matrices(numbers);
  if (name.ends_with("matmul_s8")) return products_of_matrices(core, numbers);
  if (name == "dsp_short_conv_s16") return {short_convolution(Wide(numbers))};
  if (name.ends_with("wide_conv_s16")) return {wide_convolution(core, Wide(numbers))};
  if (name == "mve_depthwise_s16" || name == "mve_depthwise_shared_s16")
    return {mve_wide_depthwise(Wide(numbers))};
  if (name.starts_with("copy_rows_")) return {copied_rows(core, name, numbers)};
  if (name.starts_with("pick_rows_")) return {picked_rows(core, name, numbers)};
  if (name.starts_with("turn_")) return {turned(core, name, numbers)};
  // Elements that become rows take about as long as rows that are copied.
  if (name.starts_with("spread_")) return {copied_rows(core, name, numbers)};
  if (name.starts_with("row_to_steps")) return {row_steps(core, numbers.at(0))};
  if (name == "rows_to_steps_together") return {row_steps(core, numbers.at(1))};
  if (name == "each_sum_f32" || name == "each_difference_f32" || name == "each_product_f32")
    return {real_elements(core, numbers)};
  if (name == "hybrid_depthwise") return {hybrid_depthwise(core, window_of(numbers))};
  if (name == "depthwise_f32") return {real_depthwise(window_of(numbers))};
  if (name.ends_with("wide_depthwise_s16")) return {wide_depthwise(core, Wide(numbers))};
  return {};
}

}  // namespace intarsia::targets::cortex_m
