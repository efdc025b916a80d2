#include "columns_together.h"

#include <algorithm>

#include "kernel_costs.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

bool has_columns_apart(const Window& w) {
  return w.dilation_w != 1 && w.kernel_w != 1;
}

// How many of an axis' taps, from the first or from the last on, see padding alone.
struct Outside {
  int64_t before = 0, behind = 0;
};
Outside outside(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                int64_t pad) {
  const auto sees_nothing = [&](int64_t tap) {
    for (int64_t o = 0; o < out; ++o) {
      const int64_t at = o * stride - pad + tap * dilation;
      if (at >= 0 && at < in) return false;
    }
    return true;
  };
  Outside taps;
  while (taps.before < kernel && sees_nothing(taps.before)) ++taps.before;
  if (taps.before == kernel) return {};  // all of it: left to kernels that know constants
  while (sees_nothing(kernel - 1 - taps.behind)) ++taps.behind;
  return taps;
}

}  // namespace

Window columns_together(const Window& w, int64_t columns) {
  Window together = w;
  together.kernel_w += (columns - 1) * w.stride_w, together.stride_w *= columns;
  together.out_w /= columns, together.out_c *= columns;
  if (w.kernel_w == 1) together.dilation_w = 1;
  return together;
}

WeightRows rows_together(const WeightRows& rows, const Window& w, int64_t columns) {
  const int64_t run = w.kernel_w * w.in_c, step = w.stride_w * w.in_c,
                wide = run + (columns - 1) * step;
  WeightRows together;
  for (int64_t column = 0; column < columns; ++column)
    for (const std::vector<int8_t>& row : rows) {
      std::vector<int8_t>& to =
          together.emplace_back(static_cast<size_t>(w.kernel_h * wide), int8_t{0});
      for (int64_t ky = 0; ky < w.kernel_h; ++ky)
        std::copy_n(row.begin() + ky * run, run, to.begin() + ky * wide + column * step);
    }
  return together;
}

void leave_out_padding(Window& w, WeightRows& rows) {
  const Outside y = outside(w.in_h, w.out_h, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top),
                x = outside(w.in_w, w.out_w, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left);
  const int64_t high = w.kernel_h - y.before - y.behind, wide = w.kernel_w - x.before - x.behind;
  if (high == w.kernel_h && wide == w.kernel_w) return;
  for (std::vector<int8_t>& row : rows) {
    std::vector<int8_t> kept;
    for (int64_t ky = 0; ky < high; ++ky) {
      const auto from = row.begin() + ((y.before + ky) * w.kernel_w + x.before) * w.in_c;
      kept.insert(kept.end(), from, from + wide * w.in_c);
    }
    row = std::move(kept);
  }
  w.pad_top -= y.before * w.dilation_h, w.pad_left -= x.before * w.dilation_w;
  w.kernel_h = high, w.kernel_w = wide;
}

void make_slide_one_way(Window& w) {
  if (w.kernel_h == 1 || w.kernel_w != w.in_w || w.out_w != 1 || w.pad_left != 0 ||
      w.dilation_h != 1)
    return;
  w.in_c *= w.in_w, w.in_w = w.in_h, w.in_h = 1;
  w.kernel_w = w.kernel_h, w.kernel_h = 1;
  w.stride_w = w.stride_h, w.stride_h = 1;
  w.pad_left = w.pad_top, w.pad_top = 0;
  w.out_w = w.out_h, w.out_h = 1;
}

LowerKernel soonest_together(CoreClass core, const OpView& view, const Window& w,
                             const std::function<LowerKernel(int64_t columns)>& make) {
  constexpr int64_t kMostChannels = 64, kMostColumns = 16, kChannelBytes = 16,
                    kMostRun = 512;  // elements of a window: four of them are in scratch
  constexpr double kSure = 0.95;
  LowerKernel best = make(1);
  // Estimates lay weights out: not where there is nothing to compare.
  if (!best || w.out_w == 1 || w.out_c * 2 > kMostChannels || has_columns_apart(w)) return best;
  const auto bytes = [](const Window& of) {
    return static_cast<double>(of.out_c * (of.kernel_h * of.kernel_w * of.in_c + kChannelBytes));
  };
  const std::optional<double> alone = cycles_of_kernel(core, view, best);
  if (!alone) return best;
  double least = kSure * *alone;
  for (int64_t columns = 2; columns <= std::min(kMostColumns, w.out_w); ++columns) {
    if (w.out_w % columns != 0 || w.out_c * columns > kMostChannels) continue;
    const Window several = columns_together(w, columns);
    const double more = kCyclesForAByte * (bytes(several) - bytes(w));
    if (more >= least || several.kernel_h * several.kernel_w * several.in_c > kMostRun) break;
    LowerKernel kernel = make(columns);
    const std::optional<double> together = cycles_of_kernel(core, view, kernel);
    if (together && *together + more < least) best = std::move(kernel), least = *together + more;
  }
  return best;
}

}  // namespace intarsia::targets::cortex_m
