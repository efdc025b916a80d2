// The part of an image that a row of windows sees, turned so that the window of every output pixel is one
// run of bytes: [column][kernel_h][in_c], padding filled with the input's zero point.
#ifndef INTARSIA_CORTEX_M_MVE_STRIP_H_
#define INTARSIA_CORTEX_M_MVE_STRIP_H_

#include "intarsia/targets/cortex_m/bytes.h"

enum { kStripLanes = 16 };

// Where 16 neighbouring bytes of a row of the image belong in the strip. False if that is further apart
// than offsets of a byte reach.
INTARSIA_INLINE bool intarsia_strip_offsets(const struct intarsia_window *w, uint8_t *offsets) {
  const int32_t column = w->kernel_h * w->in_c;
  int32_t x = 0, c = 0;
  for (int32_t lane = 0; lane < kStripLanes; ++lane) {
    if (x * column + c > UINT8_MAX) return false;
    offsets[lane] = (uint8_t)(x * column + c);
    if (++c == w->in_c) c = 0, ++x;
  }
  return true;
}

// Several columns of few channels at once: `each` bytes to `step` bytes of the strip.
INTARSIA_INLINE void intarsia_strip_spread(const int8_t *from, int8_t *to, int32_t left,
                                           int32_t each, int32_t step, const uint8_t *offsets) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "vldrb.8 q1, [%[offsets]]\n"
      "1: vctp.8 %[left]\n"
      "vpstt\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vstrbt.8 q0, [%[to], q1]\n"
      "add %[from], %[from], %[each]\n"
      "add %[to], %[to], %[step]\n"
      "subs %[left], %[left], %[each]\n"
      "bgt 1b\n"
      : [from] "+r"(from), [to] "+r"(to), [left] "+r"(left)
      : [each] "r"(each), [step] "r"(step), [offsets] "r"(offsets)
      : "q0", "q1" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
#else
  for (; left > 0; left -= each, from += each, to += step)
    for (int32_t lane = 0; lane < kStripLanes && lane < left; ++lane)
      to[offsets[lane]] = from[lane];
#endif
}

// `lanes` <= 16 channels of each column; count >= 1.
INTARSIA_INLINE void intarsia_strip_columns(const int8_t *from, int8_t *to, int32_t count,
                                            int32_t lanes, int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "vctp.8 %[lanes]\n"
      "dls lr, %[count]\n"
      "1: vpstt\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vstrbt.8 q0, [%[to]]\n"
      "add %[from], %[from], %[from_step]\n"
      "add %[to], %[to], %[to_step]\n"
      "le lr, 1b\n"
      : [from] "+r"(from), [to] "+r"(to)
      : [count] "r"(count), [lanes] "r"(lanes), [from_step] "r"(from_step), [to_step] "r"(to_step)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  for (; count > 0; --count, from += from_step, to += to_step)
    for (int32_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
#endif
}

// Sixteen channels of each of an even number of columns; count >= 2.
INTARSIA_INLINE void intarsia_strip_two_columns(const int8_t *from, int8_t *to, int32_t count,
                                                int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "dls lr, %[count]\n"
      "1: vldrb.8 q0, [%[from]]\n"
      "add %[from], %[from], %[from_step]\n"
      "vldrb.8 q1, [%[from]]\n"
      "add %[from], %[from], %[from_step]\n"
      "vstrb.8 q0, [%[to]]\n"
      "add %[to], %[to], %[to_step]\n"
      "vstrb.8 q1, [%[to]]\n"
      "add %[to], %[to], %[to_step]\n"
      "le lr, 1b\n"
      : [from] "+r"(from), [to] "+r"(to)
      : [count] "r"(count / 2), [from_step] "r"(from_step), [to_step] "r"(to_step)
      : "q0", "q1", "lr", "memory");
#else
  for (; count > 0; --count, from += from_step, to += to_step) memcpy(to, from, kStripLanes);
#endif
}

// 32 channels of each column; count >= 1.
INTARSIA_INLINE void intarsia_strip_wide_columns(const int8_t *from, int8_t *to, int32_t count,
                                                 int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "dls lr, %[count]\n"
      "1: vldrb.8 q1, [%[from], #16]\n"
      "vldrb.8 q0, [%[from]]\n"
      "add %[from], %[from], %[from_step]\n"
      "vstrb.8 q1, [%[to], #16]\n"
      "vstrb.8 q0, [%[to]]\n"
      "add %[to], %[to], %[to_step]\n"
      "le lr, 1b\n"
      : [from] "+r"(from), [to] "+r"(to)
      : [count] "r"(count), [from_step] "r"(from_step), [to_step] "r"(to_step)
      : "q0", "q1", "lr", "memory");
#else
  for (; count > 0; --count, from += from_step, to += to_step) memcpy(to, from, 2 * kStripLanes);
#endif
}

// `columns` columns from row y, column x of the image on, either of which may lie outside. `offsets` is null
// where columns are copied one by one.
INTARSIA_OUTLINE __attribute__((unused)) void intarsia_strip(const struct intarsia_window *w,
                                                             const int8_t *image, int32_t y,
                                                             int32_t x, int32_t columns,
                                                             const uint8_t *offsets, int8_t *to) {
  const int32_t channels = w->in_c, column = w->kernel_h * channels;
  const int32_t before = intarsia_clamp_i32(-x, 0, columns);
  const int32_t inside = intarsia_clamp_i32(w->in_w - x, before, columns) - before;
  if (y < 0 || y + (w->kernel_h - 1) * w->dilation_h >= w->in_h) {
    intarsia_fill(to, w->in_zero, columns * column);
  } else {
    intarsia_fill(to, w->in_zero, before * column);
    intarsia_fill(to + (before + inside) * column, w->in_zero,
                  (columns - before - inside) * column);
  }
  if (inside == 0) return;
  to += before * column;
  image += (y * w->in_w + x + before) * channels;
  const int32_t pitch = w->dilation_h * w->in_w * channels;
  for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h, image += pitch, to += channels) {
    if (y < 0 || y >= w->in_h) continue;
    if (offsets != NULL) {
      const int32_t together = kStripLanes / channels;
      intarsia_strip_spread(image, to, inside * channels, together * channels, together * column,
                            offsets);
      continue;
    }
    int32_t c = 0;
    for (; c + 2 * kStripLanes <= channels; c += 2 * kStripLanes)
      intarsia_strip_wide_columns(image + c, to + c, inside, channels, column);
    if (c + kStripLanes <= channels && inside >= 2) {
      const int32_t even = inside & ~1;
      intarsia_strip_two_columns(image + c, to + c, even, channels, column);
      if (even != inside) memcpy(to + even * column + c, image + even * channels + c, kStripLanes);
      c += kStripLanes;
    }
    for (; c < channels; c += kStripLanes) {
      const int32_t lanes = intarsia_clamp_i32(channels - c, 0, kStripLanes);
      intarsia_strip_columns(image + c, to + c, inside, lanes, channels, column);
    }
  }
}

#endif  // INTARSIA_CORTEX_M_MVE_STRIP_H_
