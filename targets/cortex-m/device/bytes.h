// Runs of bytes copied and filled, which return where the next one begins; and the window of an output pixel as one such
// run, kernel row by kernel row, filled with the input's zero point where it reaches over an edge.
#ifndef INTARSIA_CORTEX_M_BYTES_H_
#define INTARSIA_CORTEX_M_BYTES_H_

#include <string.h>

#include "intarsia/targets/cortex_m/results.h"

INTARSIA_INLINE int8_t *intarsia_copy(int8_t *to, const int8_t *from, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[from]], #16\n"
      "vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [count] "r"(count)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return end;
#else
#if defined(__ARM_FEATURE_UNALIGNED) && defined(__OPTIMIZE__)  // words anywhere
  if (count >= 4) {
    int8_t *end = to + count;
    const int8_t *last = from + count - 4;
    for (; count > 4; count -= 4, to += 4, from += 4) memcpy(to, from, 4);
    memcpy(end - 4, last, 4);
    return end;
  }
#endif
  for (; count > 0; --count) *to++ = *from++;
  return to;
#endif
}

INTARSIA_INLINE int8_t *intarsia_fill(int8_t *to, int32_t value, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "vdup.8 q0, %[value]\n"
      "dlstp.8 lr, %[count]\n"
      "1: vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to)
      : [count] "r"(count), [value] "r"(value)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return end;
#else
  for (; count > 0; --count) *to++ = (int8_t)value;
  return to;
#endif
}

// A row of a window, which begins in row y and column x of the image, with what lies beyond it. Returns where `to` ends.
INTARSIA_OUTLINE __attribute__((unused)) int8_t *intarsia_copy_row(const struct intarsia_window *w,
                                                                   const int8_t *image, int32_t y,
                                                                   int32_t x, int8_t *to) {
  const int32_t channels = w->in_c, columns = w->kernel_w;
  int32_t first = x < 0 ? -x : 0, last = w->in_w - x < columns ? w->in_w - x : columns;
  if (y < 0 || y >= w->in_h || first >= last) first = last = columns;
  to = intarsia_fill(to, w->in_zero, first * channels);
  to = intarsia_copy(to, image + (y * w->in_w + x + first) * channels, (last - first) * channels);
  return intarsia_fill(to, w->in_zero, (columns - last) * channels);
}

// An output pixel.
struct intarsia_place {
  const int8_t *image;
  int32_t y, x;
};

// The window of one output pixel as one run. Not every kernel that copies needs it.
INTARSIA_OUTLINE __attribute__((unused)) void intarsia_gather(const struct intarsia_window *w,
                                                              const struct intarsia_place *at,
                                                              int8_t *to) {
  const int32_t channels = w->in_c, run = w->kernel_w * channels;
  const int32_t x = at->x * w->stride_w - w->pad_left;
  int32_t y = at->y * w->stride_h - w->pad_top;
  if (x >= 0 && x + w->kernel_w <= w->in_w && y >= 0 &&
      y + (w->kernel_h - 1) * w->dilation_h < w->in_h) {
    const int8_t *row = at->image + (y * w->in_w + x) * channels;
    const int32_t pitch = w->dilation_h * w->in_w * channels;
    for (int32_t ky = w->kernel_h; ky > 0; --ky, row += pitch) to = intarsia_copy(to, row, run);
    return;
  }
  for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h)
    to = intarsia_copy_row(w, at->image, y, x, to);
}

INTARSIA_INLINE void intarsia_advance(const struct intarsia_window *w, struct intarsia_place *at) {
  if (++at->x < w->out_w) return;
  at->x = 0;
  if (++at->y < w->out_h) return;
  at->y = 0;
  at->image += w->in_h * w->in_w * w->in_c;
}

#endif  // INTARSIA_CORTEX_M_BYTES_H_
