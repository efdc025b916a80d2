// Convolutions and fully connected layers, block by block as device/ computes them.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"
#include "mve_deep_conv.h"

namespace intarsia::targets::cortex_m {
namespace {

// Of a pixel's window, the columns that lie inside the image.
struct Columns {
  int64_t first, last;
  int64_t count() const { return last - first; }
};
Columns columns_of(const Window& w, int64_t x) {
  const int64_t first = std::min(x < 0 ? -x : 0, w.kernel_w);
  return {first, std::max(first, std::min(w.in_w - x, w.kernel_w))};
}

// Windows that become columns of halfword pairs (device/dsp_windows.h), of one image.
class DspStaging {
 public:
  explicit DspStaging(const Window& w)
      : w_(w), is_words_(w.strip_w % 4 == 0), row_(w.in_w * w.in_c), step_(w.stride_w * w.in_c) {
    const int64_t last = (w.out_h - 1) * w.stride_h - w.pad_top + (w.kernel_h - 1) * w.dilation_h;
    bytes_ = std::min(last + 1, w.in_h) * row_;
    first_ = ceil_div(w.pad_left, w.stride_w);
    const int64_t room = row_ + w.pad_left * w.in_c - w.strip_w;
    end_ = is_words_ && room >= 0 ? std::min(room / step_ + 1, w.out_w) : 0;
    worth_ = !is_words_ ? kNone : groups() <= kFewGroups ? 1 : groups() <= kManyGroups ? 2 : 3;
  }

  int64_t groups() const { return ceil_div(w_.kernel_h * w_.strip_w, int64_t{4}); }

  void stage_four(int64_t oy, int64_t ox) {
    if (ox >= first_ && ox + 4 <= end_) {
      make_together(oy);
      looked_at_ += ox + 4 == w_.out_w;
      return;
    }
    int64_t y = oy, x = ox;
    bool together = are_worth_it(y, x);
    if (!together && x + 4 > w_.out_w) {
      y = (oy + 1) % w_.out_h, x -= w_.out_w, ++looked_at_;
      together = are_worth_it(y, x);
    }
    ++apart_, ++looked_at_;
    if (together) make_together(y);
    for (int64_t i = 0; i < 4; ++i, ++x, ++ox) {
      if (!together || x < 0 || x >= w_.out_w)
        gather((oy + ox / w_.out_w) % w_.out_h, ox % w_.out_w);
      else if (x < first_ || x >= end_)
        mend(x * w_.stride_w - w_.pad_left, rows_inside(y));
    }
  }

  void gather(int64_t oy, int64_t ox) {
    const int64_t x = ox * w_.stride_w - w_.pad_left, seen = rows_inside(oy);
    const Columns columns = columns_of(w_, x);
    const int64_t y = oy * w_.stride_h - w_.pad_top, upper = std::max(y, int64_t{0}),
                  lower = std::min(y + (w_.kernel_h - 1) * w_.dilation_h, w_.in_h - 1);
    const bool lies = w_.in_c % 4 != 0 && is_words_ && upper * row_ + x * w_.in_c >= 0 &&
                      lower * row_ + x * w_.in_c + w_.strip_w <= bytes_;
    ++alone_;
    if (lies || w_.in_c % 4 == 0) {
      const int64_t inner = lies ? w_.strip_w / 4 : columns.count() * w_.in_c / 4;
      rows_ += w_.kernel_h;
      words_ += seen * inner;
      zeros_ += w_.kernel_h * w_.strip_w / 4 - seen * inner;
      if (lies && columns.count() < w_.kernel_w) mend(x, seen);
    } else {
      copied_rows_ += w_.kernel_h;
      copied_bytes_ += w_.kernel_h * w_.kernel_w * w_.in_c;
      words_ += groups();
    }
  }

  KernelWork work() const {
    return {
        KernelFamily::DspWindows,
        {number(together_), number(together_rows_), number(together_words_), number(alone_),
         number(rows_), number(words_), number(zeros_), number(copied_rows_), number(copied_bytes_),
         number(looked_at_), number(apart_), number(mended_rows_), number(mended_)},
        0};
  }

 private:
  static constexpr int64_t kFewGroups = 6, kManyGroups = 32, kNone = 5;

  int64_t rows_inside(int64_t oy) const {
    return inside(oy * w_.stride_h - w_.pad_top, w_.kernel_h, w_.dilation_h, w_.in_h);
  }

  // Of four windows from `x` of a row of results on, which may be negative.
  bool are_worth_it(int64_t oy, int64_t x) const {
    if (std::min(x + 4, w_.out_w) - std::max(x, int64_t{0}) < worth_) return false;
    int64_t y = oy * w_.stride_h - w_.pad_top;
    while (y < 0) y += w_.dilation_h;
    const int64_t from = y * row_ + x * step_ - w_.pad_left * w_.in_c, seen = rows_inside(oy);
    return seen == 0 ||
           (from >= 0 &&
            from + (seen - 1) * w_.dilation_h * row_ + 3 * step_ + w_.strip_w <= bytes_);
  }

  void make_together(int64_t oy) {
    const int64_t seen = rows_inside(oy);
    ++together_, together_rows_ += seen, together_words_ += seen * w_.strip_w / 4;
    zeros_ += (w_.kernel_h - seen) * w_.strip_w;
  }

  // Zero points that are put beside edges, four elements at once where they are a group.
  void mend(int64_t x, int64_t seen) {
    const Columns columns = columns_of(w_, x);
    const auto units = [](int64_t from, int64_t to) {
      int64_t count = 0;
      for (; from % 4 == 0 && to - from >= 4; from += 4) ++count;
      return count + to - from;
    };
    mended_rows_ += seen;
    mended_ += seen * (units(0, columns.first * w_.in_c) +
                       units(columns.last * w_.in_c, w_.kernel_w * w_.in_c));
  }

  const Window& w_;
  bool is_words_;
  int64_t row_, step_, bytes_, first_, end_, worth_;
  int64_t together_ = 0, together_rows_ = 0, together_words_ = 0;
  int64_t alone_ = 0, rows_ = 0, words_ = 0, zeros_ = 0, copied_rows_ = 0, copied_bytes_ = 0;
  int64_t looked_at_ = 0, apart_ = 0, mended_rows_ = 0, mended_ = 0;
};

// Windows that are copied byte by byte, or by words where the core can (device/bytes.h).
struct Gathering {
  const Window& w;
  int64_t pixels = 0, rows = 0, edge_rows = 0, bytes = 0;

  void gather(int64_t oy, int64_t ox) {
    const int64_t x = ox * w.stride_w - w.pad_left;
    const bool whole =
        columns_of(w, x).count() == w.kernel_w && x >= 0 &&
        inside(oy * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h) == w.kernel_h;
    ++pixels;
    (whole ? rows : edge_rows) += w.kernel_h;
    bytes += w.kernel_h * w.kernel_w * w.in_c;
  }
  void gather_image() {
    for (int64_t y = 0; y < w.out_h; ++y)
      for (int64_t x = 0; x < w.out_w; ++x) gather(y, x);
  }
};

bool is_direct(const Window& w) {
  return w.kernel_h == 1 && w.kernel_w == 1 && w.in_c % 4 == 0;
}

}  // namespace

int64_t inside(int64_t first, int64_t count, int64_t step, int64_t size) {
  int64_t seen = 0;
  for (int64_t i = 0, at = first; i < count; ++i, at += step) seen += at >= 0 && at < size;
  return seen;
}

std::vector<KernelWork> dsp_convolution(const Window& w, Way way, bool by_four) {
  DspStaging s(w);
  const int64_t pixels = w.pixels(), fours = pixels / 4, rest = pixels % 4;
  const int64_t image = w.out_h * w.out_w;
  int64_t pixel = 0;
  for (; pixel + 4 <= pixels; pixel += 4)
    s.stage_four(pixel % image / w.out_w, pixel % image % w.out_w);
  for (; pixel < pixels; ++pixel) s.gather(pixel % image / w.out_w, pixel % image % w.out_w);
  const KernelWork windows = s.work();
  const int64_t groups = s.groups();
  if (by_four) {
    const int64_t quads = ceil_div(w.out_c, int64_t{4}), blocks = 2 * fours * quads;
    return {{KernelFamily::DspByFour,
             {1, number(blocks * groups), number(blocks),
              number(way != Way::Rectified ? blocks : 0), number(way == Way::Limited ? blocks : 0),
              number(fours), number(w.out_c % 4 != 0 ? fours : 0), number(rest * quads * groups),
              number(rest * quads)},
             number(2 * fours + rest)},
            windows};
  }
  const int64_t pairs = ceil_div(w.out_c, int64_t{2}), blocks = fours * pairs;
  const bool quick = way != Way::Any;  // the others are not in assembly
  return {{KernelFamily::DspConvolution,
           {1, number(quick ? blocks * groups : 0), number(quick ? blocks : 0),
            number(way == Way::Whole || way == Way::Limited ? blocks : 0),
            number(way == Way::Limited ? blocks : 0), number(quick ? 0 : blocks * groups),
            number(quick ? 0 : blocks), number(fours), number(rest * pairs * groups),
            number(rest * pairs), number(quick ? 0 : rest * pairs)},
           number(fours + rest)},
          windows};
}

KernelWork dsp_wide_convolution(const Window& w) {
  const int64_t pixels = w.pixels(), fours = pixels < 4 ? 0 : ceil_div(pixels, int64_t{4}),
                rest = pixels < 4 ? pixels : 0;
  const int64_t image = w.out_h * w.out_w, row = w.kernel_w * w.in_c,
                row_words = ceil_div(row, int64_t{2}), words = round_up(w.kernel_h * row_words, 2);
  int64_t together = 0, together_words = 0, alone = 0, rows = 0, copied_words = 0, zeros = 0,
          edge_rows = 0, odd_rows = 0;
  const auto gather = [&](int64_t pixel) {
    const int64_t oy = pixel % image / w.out_w, x = pixel % w.out_w * w.stride_w - w.pad_left;
    const int64_t seen = inside(oy * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
    const bool whole = x >= 0 && columns_of(w, x).count() == w.kernel_w;
    ++alone, rows += seen, copied_words += seen * row_words, edge_rows += whole ? 0 : seen;
    zeros += words - seen * row_words;
  };
  const auto stage = [&](int64_t pixel) {
    const int64_t oy = pixel % image / w.out_w, ox = pixel % w.out_w,
                  x = ox * w.stride_w - w.pad_left;
    if (ox + 4 <= w.out_w && x >= 0 && x + 3 * w.stride_w + w.kernel_w <= w.in_w) {
      const int64_t seen = inside(oy * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
      together += seen, together_words += seen * (row / 2), odd_rows += row % 2 * seen;
      zeros += 4 * (words - seen * row_words);
    } else {
      for (int64_t i = 0; i < 4; ++i) gather(pixel + i);
    }
  };
  for (int64_t pixel = 0; pixel + 4 <= pixels; pixel += 4) stage(pixel);
  // The last four once more, or those that there are, the last of them several times.
  if (pixels >= 4 && pixels % 4 != 0) stage(pixels - 4);
  for (int64_t i = 0; i < 4 && rest > 0; ++i) gather(std::min(i, pixels - 1));
  const int64_t pairs = ceil_div(w.out_c, int64_t{2}), blocks = fours * pairs;
  const bool limited = w.high != 32767 || (w.low != -32768 && w.low != 0);
  return {KernelFamily::DspWideConvolution,
          {1, number(blocks * words / 2), number(blocks), number(limited ? blocks : 0),
           number(fours), number(rest > 0 ? pairs * words / 2 : 0), number(rest > 0 ? pairs : 0),
           number(rest * w.out_c), number(together), number(together_words), number(alone),
           number(rows), number(copied_words), number(edge_rows), number(edge_rows * row),
           number(zeros), number(odd_rows)},
          number(fours + (rest > 0 ? 1 : 0))};
}

KernelWork dsp_dense(const Window& w, Way way) {
  const int64_t blocks = ceil_div(w.out_c, int64_t{4}), groups = blocks * w.in_c / 4;
  const bool quick = way != Way::Any;
  return {KernelFamily::DspRow,
          {1, number(quick ? groups : 0), number(quick ? blocks : 0),
           number(way == Way::Limited ? blocks : 0), number(quick && w.out_c % 4 != 0 ? 1 : 0),
           number(quick ? 0 : groups), number(quick ? 0 : blocks)}};
}

namespace {

// Rows of windows that reach beyond the image, or lie there, are copied with what is there (device/thumb_conv.c).
int64_t edge_rows(const Window& w) {
  int64_t rows = 0;
  for (int64_t y = 0; y < w.out_h; ++y) {
    const int64_t seen = inside(y * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h);
    for (int64_t x = 0; x < w.out_w; ++x) {
      const int64_t left = x * w.stride_w - w.pad_left;
      const bool whole = left >= 0 && left + w.kernel_w <= w.in_w;
      rows += whole ? w.kernel_h - seen : w.kernel_h;
    }
  }
  return w.batches * rows;
}

KernelWork paired_pixels(const Window& w, Way way, std::span<const uint8_t> table) {
  constexpr int64_t kPixels = 4;
  const int64_t row = w.kernel_w * w.in_c, parts = ceil_div(w.kernel_h, w.strip_h);
  const int64_t fours = ceil_div(w.pixels(), kPixels), channels = fours * w.out_c;
  const int64_t words = fours * ceil_div(w.kernel_h * row, int64_t{4});
  // The last four overlap those before.
  const double edges = number(edge_rows(w)) * number(fours * kPixels) / number(w.pixels());
  return {KernelFamily::PairedPixels,
          {1, number(fours), number(fours * parts), number(fours * w.kernel_h),
           number(fours * w.kernel_h * row), edges, edges * number(row), number(channels * parts),
           number(words * channels_marked(table, 4)), number(words * channels_marked(table, 2)),
           number(channels), number(way == Way::Limited ? channels : 0),
           number(way == Way::Any ? channels : 0)},
          number(fours)};
}

}  // namespace

KernelWork single_convolution(const Window& w, Way way, std::span<const uint8_t> table) {
  if (w.strip_h > 0) return paired_pixels(w, way, table);
  Gathering g{w};
  if (!is_direct(w)) g.gather_image();
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, int64_t{4});
  const int64_t lanes = w.out_c < 4 ? w.out_c : ceil_div(w.out_c, int64_t{4});
  const int64_t blocks = w.pixels() * lanes, results = blocks * (w.out_c < 4 ? 1 : 4);
  return {KernelFamily::SingleConvolution,
          {1, number(blocks * run / 4), number(blocks), number(results),
           number(way == Way::Limited ? results : 0), number(way == Way::Any ? results : 0),
           number(w.pixels()), number(w.batches * g.pixels), number(w.batches * g.rows),
           number(w.batches * g.edge_rows), number(w.batches * g.bytes)},
          number(w.pixels())};
}

// Two channels by four pixels; pixel by pixel as on other cores.
KernelWork rv32_convolution(const Window& w, Way way, std::span<const uint8_t> table) {
  if (w.strip_h == 0) return single_convolution(w, way, table);
  constexpr int64_t kPixels = 4, kLanes = 2;
  constexpr size_t kEntry = 16, kMark = 13;
  double instructions = 0;  // of four elements of all pairs
  for (size_t at = kMark; at < table.size(); at += kLanes * kEntry) instructions += table[at];
  const int64_t row = w.kernel_w * w.in_c, parts = ceil_div(w.kernel_h, w.strip_h);
  const int64_t fours = ceil_div(w.pixels(), kPixels), pairs = fours * ceil_div(w.out_c, kLanes);
  const double edges = number(edge_rows(w)) * number(fours * kPixels) / number(w.pixels());
  return {KernelFamily::Rv32Convolution,
          {1, number(fours), number(fours * parts), number(fours * w.kernel_h),
           number(fours * w.kernel_h * row), edges, edges * number(row), number(pairs * parts),
           number(fours * ceil_div(w.kernel_h * row, int64_t{4})) * instructions, number(pairs),
           number(way == Way::Limited ? pairs : 0), number(way == Way::Any ? pairs : 0)},
          number(fours)};
}

KernelWork paired_convolution(const Window& w, Way way) {
  constexpr int64_t kPixels = 6, kChunk = 252;
  if (w.pixels() < kPixels) return single_convolution(w, way, {});
  Gathering g{w};
  if (!is_direct(w)) g.gather_image();
  const int64_t run = round_up(w.kernel_h * w.kernel_w * w.in_c, int64_t{4});
  const int64_t blocks = ceil_div(w.pixels(), kPixels), channels = blocks * w.out_c;
  // The last block overlaps the one before.
  const double again = number(blocks * kPixels) / number(w.out_h * w.out_w);
  return {KernelFamily::PairedConvolution,
          {1, number(channels * run), number(channels * ceil_div(run, kChunk)), number(channels),
           number(way == Way::Limited ? channels : 0), number(way == Way::Any ? channels : 0),
           number(blocks), number(blocks * run), again * number(g.pixels), again * number(g.rows),
           again * number(g.edge_rows), again * number(g.bytes)},
          number(blocks)};
}

namespace {

// Pairs of pixels by four channels (device/mve_conv.c), with a loop for long runs and one for short ones; of int16 all are long.
struct MvePairs {
  int64_t channels, steps;
  bool wide;
  int64_t long_pairs = 0, long_calls = 0, short_pairs = 0, short_calls = 0;

  void add(int64_t pixels, int64_t row, int64_t times) {
    constexpr int64_t kMostShort = 4, kFewestPixels = 6;
    if (pixels <= 0) return;
    if (wide || steps > kMostShort || row < kFewestPixels) {
      long_pairs += times * (pixels / 2 + pixels % 2);
      long_calls += times * ((pixels > 1 ? 1 : 0) + pixels % 2);
      return;
    }
    for (int64_t left = pixels; left > 0; left -= row) {
      const int64_t some = std::min(left, row);
      short_pairs += times * (some / 2 + some % 2);
      short_calls += times * ((some > 1 ? 1 : 0) + some % 2);
    }
  }
};

// Strips of windows that do not lie one after another (device/mve_strip.h).
struct MveStrips {
  const Window& w;
  int64_t strips = 0, tap_rows = 0, vectors = 0, columns = 0, wide_columns = 0, filled = 0;

  void add(int64_t y, int64_t x, int64_t count) {
    constexpr int64_t kLanes = 16;
    const int64_t column = w.kernel_h * w.in_c;
    const int64_t before = std::clamp<int64_t>(-x, 0, count);
    const int64_t seen = std::clamp<int64_t>(w.in_w - x, before, count) - before;
    const int64_t rows = inside(y, w.kernel_h, w.dilation_h, w.in_h);
    ++strips;
    filled += ceil_div((rows < w.kernel_h ? count : count - seen) * column, kLanes);
    if (seen == 0) return;
    tap_rows += rows;
    if (w.in_c <= kLanes / 2) {
      vectors += rows * ceil_div(seen, kLanes / w.in_c);
    } else {
      wide_columns += rows * (w.in_c / (2 * kLanes)) * seen;
      columns += rows * ceil_div(w.in_c % (2 * kLanes), kLanes) * seen;
    }
  }
};

}  // namespace

// Of int16, channels of the input are counted in bytes.
KernelWork mve_convolution(const Window& w, bool wide) {
  constexpr int64_t kVector = 16;
  const int64_t run = w.kernel_h * w.kernel_w * w.in_c, steps = ceil_div(run, kVector);
  MvePairs pairs{ceil_div(w.out_c, int64_t{4}), steps, wide};
  MveStrips strips{w};
  int64_t copied = 0;
  if (w.strip_h > 0) {
    for (int64_t oy = 0; oy < w.out_h; oy += w.strip_h)
      for (int64_t ox = 0; ox < w.out_w; ox += w.strip_w) {
        const int64_t rows = std::min(w.out_h - oy, w.strip_h),
                      in_row = std::min(w.out_w - ox, w.strip_w);
        const int64_t columns = (in_row - 1) * w.stride_w + w.kernel_w;
        for (int64_t row = 0; row < rows; ++row)
          strips.add((oy + row) * w.stride_h - w.pad_top, ox * w.stride_w - w.pad_left, columns);
        pairs.add(rows * in_row, w.kernel_w == w.stride_w ? rows * in_row : in_row, 1);
      }
  } else {
    const int64_t count = w.out_h * w.out_w, pitch = w.stride_h * w.in_w * w.in_c,
                  step = w.stride_w * w.in_c, last = w.in_h * w.in_w * w.in_c - steps * kVector;
    for (; copied < count; ++copied) {
      const int64_t pixel = count - 1 - copied,
                    at = pixel / w.out_w * pitch + pixel % w.out_w * step;
      if (at <= last && (copied == 0 || (count - copied) % 2 == 0)) break;
    }
    pairs.add(count - copied, pitch == w.out_w * step ? count - copied : w.out_w, 1);
    pairs.add(copied, copied, 1);
  }
  // Constants of some channels are copied first, where they are slow; each group of channels goes through the whole image.
  const int64_t passes = w.group > 0 ? ceil_div(w.out_c, w.group) : 1;
  const int64_t n = w.batches, quads = pairs.channels, again = n * passes;
  const auto short_by = [&](int64_t wanted) {
    return number(steps == wanted ? n * quads * pairs.short_pairs : 0);
  };
  const int64_t all = pairs.long_pairs + pairs.short_pairs;
  // Of short runs the first step's weights stay in registers for a row, and the others' are read for each pixel; biases and what
  // follows them are read for each pair.
  const double short_reads =
      number(4 * pairs.short_calls + pairs.short_pairs * (8 * (steps - 1) + 4)) /
      number(4 * steps + 4);
  const double reads = w.group > 0 ? 1 : number(n) * (number(pairs.long_pairs) + short_reads);
  return {wide ? KernelFamily::MveWideConvolution : KernelFamily::MveConvolution,
          {1,
           number(n * quads * pairs.long_pairs * (steps - 1)),
           number(n * quads * pairs.long_pairs),
           number(again * pairs.long_pairs),
           number(again * pairs.long_calls),
           short_by(1),
           short_by(2),
           short_by(3),
           short_by(4),
           number(n * quads * pairs.short_calls),
           number(n * quads * pairs.short_calls * steps),
           number(again * pairs.short_calls),
           number(!wide && is_general(w) ? n * quads * all : 0),
           number(wide ? 0 : clamped_vectors(w)),
           number(again * strips.strips),
           number(again * strips.tap_rows),
           number(again * strips.vectors),
           number(again * strips.columns),
           number(again * strips.wide_columns),
           number(again * strips.filled),
           number(again * copied),
           number(again * copied * steps),
           number(w.group > 0 ? passes : 0),
           number(w.group > 0 ? quads * (wide ? 3 + 2 * steps : 4 * (steps + 1)) : 0)},
          reads};
}

// Eight pixels by one channel.
KernelWork mve_deep_convolution(const Window& w) {
  const DeepPlanes planes = deep_planes_of(w);
  const int64_t in_row = ceil_div(w.out_w, w.strip_w), vectors = planes.rows / w.kernel_h;
  int64_t columns = 0, filled = 0, fills = 0;
  for (int64_t oy = 0; oy < w.out_h; ++oy) {
    const int64_t seen =
        inside(oy * w.stride_h - w.pad_top, w.kernel_h, w.dilation_h, w.in_h) * vectors;
    for (int64_t strip = 0; strip < in_row; ++strip) {
      const int64_t ox = std::min(strip * w.strip_w, w.out_w - w.strip_w);
      for (int64_t phase = 0; phase < planes.phases; ++phase) {
        const int64_t count = w.strip_w + (w.kernel_w - phase - 1) / w.stride_w;
        const int64_t there =
            inside(ox * w.stride_w - w.pad_left + phase, count, w.stride_w, w.in_w);
        columns += seen * there;
        filled += planes.rows * count - seen * there;
        fills += there < count ? planes.rows : planes.rows - seen;
      }
    }
  }
  const int64_t n = w.batches, strips = n * w.out_h * in_row;
  const int64_t eights = ceil_div(strips, planes.fours()), blocks = eights * w.out_c;
  const std::vector<DeepRun> runs = deep_runs(w);
  int64_t by_taps[3] = {};
  for (const DeepRun& run : runs) by_taps[run.taps - 1] += planes.rows;
  return {KernelFamily::MveDeepConvolution,
          {1, number(eights), number(blocks), number(blocks * std::ssize(runs)),
           number(blocks * by_taps[0]), number(blocks * by_taps[1]), number(blocks * by_taps[2]),
           number(strips * planes.count()), number(n * columns), number(n * fills),
           number(n * filled), number(clamped_vectors(w))},
          number(eights)};
}

KernelWork mve_dense(const Window& w) {
  constexpr int64_t kVector = 16;
  const int64_t run = w.kernel_w * w.in_c, steps = ceil_div(run, kVector),
                octets = ceil_div(w.out_c, int64_t{8});
  return {KernelFamily::MveRow,
          {1, number(octets * steps), number(octets), number(octets * ceil_div(steps, int64_t{4})),
           number(run % kVector != 0 ? steps : 0), number(clamped_vectors(w))}};
}

// Extents in bytes.
KernelWork mve_wide_dense(const Window& w) {
  constexpr int64_t kVector = 16, kQuad = 4;
  const int64_t quads = ceil_div(w.out_c, kQuad), steps = ceil_div(w.kernel_w * w.in_c, kVector);
  return {KernelFamily::MveWideRow, {1, number(quads * steps), number(quads)}};
}

}  // namespace intarsia::targets::cortex_m
