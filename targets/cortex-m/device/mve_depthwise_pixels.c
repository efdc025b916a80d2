// Depthwise convolution on cores with Helium, pixel by pixel: eight channels side by side, and only those taps that see the image. For
// images of few pixels, most of whose windows are padding. The constants of a block of channels are copied once, and serve all pixels
// from there; where windows lie is worked out once for all blocks, sixteen of them at a time.
#include "intarsia/targets/cortex_m/mve_depthwise.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/window_taps.h"

enum {
  kEightLanes = 8,
  kEightBytes = 4 * kEightLanes,  // of a word for each channel
  kMostWindows = 16,              // as the compiler knows
};

// What a window sees of the image: of the first block, in bytes.
struct eight_window {
  int32_t x, output, tap;
  int32_t rows, columns;
};
_Static_assert(sizeof(struct eight_window) == 20, "the compiler's number");

// The assembly knows the layout. Steps and rests in bytes.
struct eight_taps {
  const int8_t *x, *weights;
  int32_t rows, columns;
  int32_t step, row_rest;  // of the input
  int32_t weights_rest;
  int32_t lanes;
  const int8_t *biases,
      *scales;  // eight words; three times as many: multipliers, roundings, 24 less the shifts
  int8_t *output;
  int32_t low, high, zero;
  uint16_t places[kEightLanes];  // of elements in a pixel, from the first one
};

// `load` takes eight elements from r0 on; where they lie anywhere, `places` loads q6 for it.
#if INTARSIA_HAS_MVE
// clang-format off
#define INTARSIA_EIGHT_RESULTS(places, load) \
  register struct eight_taps *at __asm__("r12") = taps; \
  __asm__ volatile( \
      "ldr r6, [r12, #32]\n" \
      "vldrw.32 q2, [r6]\n" \
      "ldr.w r8, [r12, #28]\n" \
      "vldrw.32 q3, [r6, #16]\n" \
      "ldm.w r12, {r0, r1, r2, r3, r4, r5}\n" places \
      "vmov.i32 q4, #0\n" \
      "vctp.16 r8\n" \
      "vmov.i32 q5, #0\n" \
      "cbz r2, 3f\n" \
      "ldr.w r8, [r12, #52]\n" \
      "ldr.w r6, [r12, #24]\n" \
      "1: dls lr, r3\n" \
      "2: vldrb.s16 q1, [r1], #8\n" \
      "vadd.i32 q2, q2, q4\n" \
      "vpst\n" \
      load \
      "add r0, r4\n" \
      "vsub.i16 q0, q0, r8\n" \
      "vmullb.s16 q4, q0, q1\n" \
      "vadd.i32 q3, q3, q5\n" \
      "vmullt.s16 q5, q0, q1\n" \
      "le lr, 2b\n" \
      "add r0, r5\n" \
      "add r1, r6\n" \
      "subs r2, #1\n" \
      "bne 1b\n" \
      "3: ldr.w r6, [r12, #36]\n" \
      "vadd.i32 q2, q2, q4\n" \
      "vldrw.32 q0, [r6]\n" \
      "vadd.i32 q3, q3, q5\n" \
      "vqrdmulh.s32 q2, q2, q0\n" \
      "vldrw.32 q1, [r6, #16]\n" \
      "vqrdmulh.s32 q3, q3, q1\n" \
      "vldrw.32 q0, [r6, #32]\n" \
      "vshr.s32 q4, q2, #31\n" \
      "vldrw.32 q1, [r6, #48]\n" \
      "vadd.i32 q2, q2, q4\n" \
      "vshr.s32 q5, q3, #31\n" \
      "vadd.i32 q2, q2, q0\n" \
      "vldrw.32 q0, [r6, #64]\n" \
      "vadd.i32 q3, q3, q5\n" \
      "vqshl.s32 q2, q2, q0\n" \
      "vadd.i32 q3, q3, q1\n" \
      "vldrw.32 q1, [r6, #80]\n" \
      "ldrd r2, r3, [r12, #44]\n" \
      "vqshl.s32 q3, q3, q1\n" \
      "ldr.w r6, [r12, #40]\n" \
      "vsri.32 q3, q2, #16\n" \
      "vdup.16 q0, r2\n" \
      "vshr.s16 q3, q3, #8\n" \
      "vdup.16 q1, r3\n" \
      "vmax.s16 q3, q3, q0\n" \
      "vmin.s16 q3, q3, q1\n" \
      "vpst\n" \
      "vstrbt.16 q3, [r6]\n" \
      : "+r"(at) \
      : \
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", \
        "q5", "q6" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")
// clang-format on
_Static_assert(offsetof(struct eight_taps, weights_rest) == 24 &&
                   offsetof(struct eight_taps, biases) == 32 &&
                   offsetof(struct eight_taps, output) == 40 &&
                   offsetof(struct eight_taps, low) == 44 &&
                   offsetof(struct eight_taps, zero) == 52 &&
                   offsetof(struct eight_taps, places) == 56,
               "the assembly's numbers");
#endif

#if !INTARSIA_HAS_MVE
INTARSIA_INLINE void eight_results_of(struct eight_taps *taps) {
  for (int32_t lane = 0; lane < taps->lanes; ++lane) {
    const int32_t at = 4 * (lane % 2 * 4 + lane / 2);
    const int8_t *x = taps->x + taps->places[lane], *weight = taps->weights + lane;
    int32_t sum;
    struct intarsia_channel channel = {0};
    memcpy(&sum, taps->biases + at, sizeof sum);
    memcpy(&channel.multiplier, taps->scales + at, sizeof channel.multiplier);
    memcpy(&channel.round, taps->scales + kEightBytes + at, sizeof channel.round);
    memcpy(&channel.shift, taps->scales + 2 * kEightBytes + at, sizeof channel.shift);
    channel.shift = 24 - channel.shift;
    for (int32_t row = 0; row < taps->rows; ++row) {
      for (int32_t column = 0; column < taps->columns; ++column) {
        sum += (*x - taps->zero) * *weight;
        x += taps->step, weight += kEightLanes;
      }
      x += taps->row_rest, weight += taps->weights_rest;
    }
    taps->output[lane] = intarsia_result(sum, &channel, taps->low, taps->high, INTARSIA_LIMITED);
  }
}
#endif

INTARSIA_OUTLINE void eight_results(struct eight_taps *taps) {
#if INTARSIA_HAS_MVE
  INTARSIA_EIGHT_RESULTS(, "vldrbt.s16 q0, [r0]\n");
#else
  eight_results_of(taps);
#endif
}

// Of elements that lie anywhere.
INTARSIA_OUTLINE void eight_results_of_shared(struct eight_taps *taps) {
#if INTARSIA_HAS_MVE
  INTARSIA_EIGHT_RESULTS("add.w r6, r12, #56\nvldrh.u16 q6, [r6]\n", "vldrbt.s16 q0, [r0, q6]\n");
#else
  eight_results_of(taps);
#endif
}

INTARSIA_OUTLINE void window_at(const struct intarsia_window *w, int32_t pixel,
                                struct eight_window *window) {
  const int32_t image = w->out_h * w->out_w, n = pixel / image, place = pixel % image;
  const int32_t top = place / w->out_w * w->stride_h - w->pad_top,
                left = place % w->out_w * w->stride_w - w->pad_left;
  const int32_t ky = intarsia_first_tap(top, w->dilation_h),
                kx = intarsia_first_tap(left, w->dilation_w);
  window->columns = intarsia_end_of_taps(left, w->dilation_w, w->kernel_w, w->in_w) - kx;
  window->rows = intarsia_end_of_taps(top, w->dilation_h, w->kernel_h, w->in_h) - ky;
  if (window->rows <= 0 || window->columns <= 0) {
    const struct eight_window none = {0};
    *window = none;
  } else {
    const int32_t row = n * w->in_h + top + ky * w->dilation_h;
    window->x = (row * w->in_w + left + kx * w->dilation_w) * w->in_c;
    window->tap = (ky * w->kernel_w + kx) * kEightLanes;
    if (w->kernel_w == 1) window->columns = window->rows, window->rows = 1;
  }
  window->output = pixel * w->out_c;
}

INTARSIA_INLINE void depthwise_pixels(const struct intarsia_window *w, const int8_t *input,
                                      int8_t *output, int8_t *scratch, const int8_t *weights,
                                      int32_t multiplier) {
  const int32_t out_c = w->out_c, pixels = w->batches * w->out_h * w->out_w;
  const int32_t block_bytes = 4 * kEightBytes + kEightLanes * w->kernel_h * w->kernel_w;
  struct eight_window *windows = (struct eight_window *)(void *)(scratch + block_bytes);
  // Of windows of one column rows are taken as columns, in one loop.
  const int32_t row_step = w->dilation_h * w->in_w * w->in_c;
  struct eight_taps taps = {.step = w->kernel_w == 1 ? row_step : w->dilation_w * w->in_c,
                            .biases = scratch,
                            .scales = scratch + kEightBytes,
                            .low = w->low,
                            .high = w->high,
                            .zero = w->in_zero};
  for (int32_t begin = 0; begin < pixels; begin += kMostWindows) {
    const int32_t count = intarsia_min_i32(kMostWindows, pixels - begin);
    for (int32_t i = 0; i < count; ++i) window_at(w, begin + i, &windows[i]);
    const int8_t *block = weights;
    for (int32_t first = 0; first < out_c; first += kEightLanes, block += block_bytes) {
      taps.lanes = intarsia_min_i32(kEightLanes, out_c - first);
      for (int32_t lane = 0; lane < kEightLanes && (multiplier != 1 || !INTARSIA_HAS_MVE); ++lane)
        taps.places[lane] = (uint16_t)((first + lane) / multiplier - first / multiplier);
      (void)intarsia_copy(scratch, block, block_bytes);
      for (const struct eight_window *window = windows; window < windows + count; ++window) {
        taps.x = input + first / multiplier + window->x;
        taps.output = output + first + window->output;
        taps.rows = window->rows, taps.columns = window->columns;
        taps.weights = scratch + 4 * kEightBytes + window->tap;
        taps.weights_rest = kEightLanes * (w->kernel_w - window->columns);
        taps.row_rest = row_step - window->columns * taps.step;
        if (multiplier == 1)
          eight_results(&taps);
        else
          eight_results_of_shared(&taps);
      }
    }
  }
}

void intarsia_mve_depthwise_pixels_s8(const struct intarsia_window *w, const int8_t *input,
                                      int8_t *output, int8_t *scratch, const int8_t *weights) {
  depthwise_pixels(w, input, output, scratch, weights, 1);
}

void intarsia_mve_depthwise_shared_pixels_s8(const struct intarsia_window *w, const int8_t *input,
                                             int8_t *output, int8_t *scratch,
                                             const int8_t *weights) {
  depthwise_pixels(w, input, output, scratch, weights, w->out_c / w->in_c);
}
