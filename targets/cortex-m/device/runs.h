// The window of an output pixel as one run of bytes, kernel row by kernel row, filled with the input's zero
// point where it reaches over an edge.
#ifndef INTARSIA_CORTEX_M_RUNS_H_
#define INTARSIA_CORTEX_M_RUNS_H_

#include "intarsia/targets/cortex_m/bytes.h"

// An output pixel.
struct intarsia_place {
  const int8_t *image;
  int32_t y, x;
};

// The window of one output pixel as one run.
INTARSIA_OUTLINE void intarsia_gather(const struct intarsia_window *w,
                                      const struct intarsia_place *at, int8_t *to) {
  const int32_t channels = w->in_c, run = w->kernel_w * channels;
  const int32_t x = at->x * w->stride_w - w->pad_left;
  int32_t y = at->y * w->stride_h - w->pad_top;
  const int32_t first = x < 0 ? -x : 0;
  const int32_t last = w->in_w - x < w->kernel_w ? w->in_w - x : w->kernel_w;
  if (first == 0 && last == w->kernel_w && y >= 0 &&
      y + (w->kernel_h - 1) * w->dilation_h < w->in_h) {
    const int8_t *row = at->image + (y * w->in_w + x) * channels;
    const int32_t pitch = w->dilation_h * w->in_w * channels;
    for (int32_t ky = w->kernel_h; ky > 0; --ky, row += pitch) to = intarsia_copy(to, row, run);
    return;
  }
  for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h) {
    const int8_t *row = at->image + (y * w->in_w + x) * channels;
    if (y < 0 || y >= w->in_h || first >= last) {
      to = intarsia_fill(to, w->in_zero, run);
      continue;
    }
    to = intarsia_fill(to, w->in_zero, first * channels);
    to = intarsia_copy(to, row + first * channels, (last - first) * channels);
    to = intarsia_fill(to, w->in_zero, (w->kernel_w - last) * channels);
  }
}

INTARSIA_INLINE void intarsia_advance(const struct intarsia_window *w, struct intarsia_place *at) {
  if (++at->x < w->out_w) return;
  at->x = 0;
  if (++at->y < w->out_h) return;
  at->y = 0;
  at->image += w->in_h * w->in_w * w->in_c;
}

#endif  // INTARSIA_CORTEX_M_RUNS_H_
