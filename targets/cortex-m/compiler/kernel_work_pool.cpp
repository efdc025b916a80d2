// What averages and maxima over windows do.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"

namespace intarsia::targets::cortex_m {
namespace {

// Of device/largest.h.
class Largest {
 public:
  Largest(CoreClass core, bool wide)
      : vectors_(core == CoreClass::Mve), lanes_((vectors_ ? 16 : 4) / (wide ? 2 : 1)) {}

  void of(int64_t taps, int64_t count, int64_t times) {
    const int64_t words = times * ceil_div(count, lanes_);
    const int64_t most_by_passes = vectors_ ? 5 : 3;
    calls_ += times;
    if (taps > most_by_passes) {
      many_ += words, taps_ += words * taps;
      return;
    }
    if (taps == 1) copied_ += words;
    if (taps == 2 || taps == 4) twos_ += words;
    if (taps >= 3) threes_ += words * (taps == 5 ? 2 : 1);
    calls_ += taps > 3 ? times : 0;
  }

  // Of two rows and columns.
  void of_square(int64_t count, int64_t times) {
    calls_ += times, fours_ += times * ceil_div(count, lanes_);
  }

  std::vector<double> amounts(int64_t rows, int64_t picked) const {
    return {1,
            number(rows),
            number(calls_),
            number(copied_),
            number(twos_),
            number(threes_),
            number(fours_),
            number(many_),
            number(taps_),
            number(picked)};
  }

 private:
  bool vectors_;
  int64_t lanes_;
  int64_t calls_ = 0, copied_ = 0, twos_ = 0, threes_ = 0, fours_ = 0, many_ = 0, taps_ = 0;
};

// A row of outputs as far as a strip goes: its first pixel and how many there are, the columns that these see, with those beside the image and
// without, and the rows.
struct StripRow {
  int64_t first, pixels, columns, seen, of_rows;
};

template <class Row>
void for_each_row(const Window& w, Row&& row) {
  for (int64_t first = 0; first < w.out_w; first += w.strip_w) {
    const int64_t pixels = std::min(w.strip_w, w.out_w - first);
    const int64_t columns = (pixels - 1) * w.stride_w + w.kernel_w;
    const int64_t seen = inside(first * w.stride_w - w.pad_left, columns, 1, w.in_w);
    for (int64_t y = 0; y < w.out_h; ++y)
      row(StripRow{first, pixels, columns, seen,
                   inside(y * w.stride_h - w.pad_top, w.kernel_h, 1, w.in_h)});
  }
}

}  // namespace

// Pixel by pixel.
KernelWork pool(CoreClass core, const Window& w, bool average, bool wide) {
  const int64_t bytes = core != CoreClass::Mve ? 4
                        : average              ? 8
                                               : 16,
                lanes = wide ? bytes / 2 : bytes;
  int64_t rows = 0, taps = 0, changes = 0, last_rows = 0, last_columns = 0;
  for (int64_t y = 0; y < w.out_h; ++y) {
    const int64_t seen = inside(y * w.stride_h - w.pad_top, w.kernel_h, 1, w.in_h);
    for (int64_t x = 0; x < w.out_w; ++x) {
      const int64_t columns = inside(x * w.stride_w - w.pad_left, w.kernel_w, 1, w.in_w);
      changes += seen != last_rows || columns != last_columns;
      last_rows = seen, last_columns = columns;
      rows += seen, taps += seen * columns;
    }
  }
  const int64_t blocks = ceil_div(w.in_c, lanes), n = w.batches;
  return {average ? (wide ? KernelFamily::WideAveragePool : KernelFamily::AveragePool)
                  : (wide ? KernelFamily::WideMaxPool : KernelFamily::MaxPool),
          {1, number(w.pixels()), number(average ? n * changes : 0), number(w.pixels() * blocks),
           number(n * rows * blocks), number(n * taps * blocks)}};
}

// Of device/rows_average_pool.c.
KernelWork rows_average_pool(CoreClass core, const Window& w) {
  const bool vectors = core == CoreClass::Mve;
  const int64_t together = vectors ? 8 : 4, results = vectors ? 8 : 2, n = w.batches;
  int64_t rows = 0, lines = 0, quotients = 0, words = 0, taps = 0, long_words = 0, long_taps = 0,
          runs = 0, units = 0, unit_taps = 0;
  const auto sums = [&](int64_t of, int64_t count, int64_t times, bool is_square) {
    const int64_t made = n * times * ceil_div(count, together);
    const bool is_long = of > 3 && !is_square;
    lines += n * times;
    (is_long ? long_words : words) += made;
    (is_long ? long_taps : taps) += made * of;
  };
  const auto averages = [&](int64_t of, int64_t count, int64_t times) {
    const int64_t made = n * times * ceil_div(count, results);
    runs += n * times, units += made, unit_taps += made * of;
  };
  for_each_row(w, [&](const StripRow& row) {
    const auto& [first, pixels, columns, seen, of_rows] = row;
    rows += n;
    if (pixels == 1 && seen == w.in_w) {
      sums(of_rows * seen, w.in_c, 1, false), averages(1, w.in_c, 1);
      return;
    }
    if (w.kernel_w == 2 && of_rows == 2 && seen == columns && w.stride_w > 1 &&
        w.in_c >= together) {
      sums(4, w.in_c, pixels, true), averages(1, pixels * w.in_c, 1);
      return;
    }
    sums(of_rows, seen * w.in_c, 1, false);
    for (int64_t at = 0; at < pixels;) {
      const auto columns_of = [&](int64_t pixel) {
        return inside((row.first + pixel) * w.stride_w - w.pad_left, w.kernel_w, 1, w.in_w);
      };
      const int64_t from = at;
      while (at < pixels && columns_of(at) == columns_of(from)) ++at;
      quotients += n * (seen < columns);
      if (w.stride_w == 1)
        averages(w.kernel_w, (at - from) * w.in_c, 1);
      else
        averages(w.kernel_w, w.in_c, at - from);
    }
  });
  return {KernelFamily::RowsAveragePool,
          {1, number(rows), number(lines), number(quotients), number(words), number(taps),
           number(long_words), number(long_taps), number(runs), number(units), number(unit_taps)}};
}

KernelWork rows_max_pool(CoreClass core, const Window& w, bool wide) {
  Largest largest(core, wide);
  const int64_t few = core == CoreClass::Mve ? 16 : wide ? 2 : 4, n = w.batches;
  int64_t rows = 0, picked = 0;
  for_each_row(w, [&](const StripRow& row) {
    const auto& [first, pixels, columns, seen, of_rows] = row;
    rows += n;
    if (pixels == 1 && seen == w.in_w) {
      largest.of(of_rows * seen, w.in_c, n);
      return;
    }
    if (w.kernel_w == 2 && of_rows == 2 && seen == columns && w.stride_w > 1 && w.in_c >= few) {
      largest.of_square(w.in_c, n * pixels);
      return;
    }
    if (w.kernel_w == 1 && w.stride_w == 1 && seen == columns) {
      largest.of(of_rows, pixels * w.in_c, n);
      return;
    }
    if (seen < columns || of_rows > 1) largest.of(of_rows, seen * w.in_c, n);
    if (w.stride_w == 1) {
      largest.of(w.kernel_w, pixels * w.in_c, n);
    } else if (w.in_c < few) {
      largest.of(w.kernel_w, ((pixels - 1) * w.stride_w + 1) * w.in_c, n);
      picked += n * pixels;
    } else {
      largest.of(w.kernel_w, w.in_c, n * pixels);
    }
  });
  return {wide ? KernelFamily::RowsWideMaxPool : KernelFamily::RowsMaxPool,
          largest.amounts(rows, picked)};
}

}  // namespace intarsia::targets::cortex_m
