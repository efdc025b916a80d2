// Depthwise convolution on cores with Helium, 16 channels at a time. The products of two taps fit 16 bits
// together, so that every second tap alone is widened to 32. A window that reaches over an edge is
// copied with its padding first.
#include "cortex_m/mve_depthwise.h"

#include <string.h>

#include "cortex_m/optimise.h"
#include "cortex_m/results.h"

enum { kLanes = 16, kTableWords = 3 * kLanes };

struct block {
  const int8_t *input;    // of the first tap
  const int32_t *steps;   // in bytes, from each tap to the next
  const int8_t *weights;
  const int32_t *table;
  int8_t *output;
  int32_t pairs;
};

INTARSIA_INLINE void one_block(const struct intarsia_window *w, const struct block *b) {
#if INTARSIA_HAS_MVE
  register const int8_t *input __asm__("r1") = b->input;
  register int32_t zero __asm__("r2") = w->out_zero;
  register int32_t low __asm__("r3") = w->low;
  register const int8_t *weights __asm__("r5") = b->weights;
  register const int32_t *steps __asm__("r6") = b->steps;
  register const int32_t *table __asm__("r8") = b->table;
  register int8_t *output __asm__("r9") = b->output;
  register int32_t pairs __asm__("r10") = b->pairs;
  register int32_t high __asm__("r11") = w->high;
  // Even channels of a pair of taps q2, odd ones q3; sums q4-q7.
#define INTARSIA_SCALE(sums, multiplier, shift)  \
  "vldrw.32 q0, [r8, #" multiplier "]\n"         \
  "vldrw.32 q1, [r8, #" shift "]\n"              \
  "vqrdmulh.s32 " sums ", " sums ", q0\n"        \
  "vshr.s32 q0, " sums ", #31\n"                 \
  "vadd.i32 " sums ", " sums ", q0\n"            \
  "vrshl.s32 " sums ", " sums ", q1\n"
  __asm__ volatile(
      "vldrw.32 q4, [r8]\n"
      "vldrw.32 q5, [r8, #16]\n"
      "vldrw.32 q6, [r8, #32]\n"
      "vldrw.32 q7, [r8, #48]\n"
      "dls lr, r10\n"
      "1: vldrb.8 q0, [r1]\n"
      "vldrb.8 q1, [r5], #16\n"
      "ldrd r4, r12, [r6], #8\n"
      "vmullb.s8 q2, q0, q1\n"
      "vmullt.s8 q3, q0, q1\n"
      "add r1, r1, r4\n"
      "vldrb.8 q0, [r1]\n"
      "vldrb.8 q1, [r5], #16\n"
      "vmullb.s8 q0, q0, q1\n"
      "vadd.i16 q2, q2, q0\n"
      "vldrb.8 q0, [r1]\n"
      "vmullt.s8 q0, q0, q1\n"
      "vadd.i16 q3, q3, q0\n"
      "add r1, r1, r12\n"
      "vmovlb.s16 q0, q2\n"
      "vadd.i32 q4, q4, q0\n"
      "vmovlt.s16 q0, q2\n"
      "vadd.i32 q5, q5, q0\n"
      "vmovlb.s16 q0, q3\n"
      "vadd.i32 q6, q6, q0\n"
      "vmovlt.s16 q0, q3\n"
      "vadd.i32 q7, q7, q0\n"
      "le lr, 1b\n"
      INTARSIA_SCALE("q4", "64", "128") INTARSIA_SCALE("q5", "80", "144")
      INTARSIA_SCALE("q6", "96", "160") INTARSIA_SCALE("q7", "112", "176")
      "vqmovnb.s32 q4, q4\n"
      "vqmovnt.s32 q4, q5\n"
      "vqmovnb.s32 q6, q6\n"
      "vqmovnt.s32 q6, q7\n"
      "vqadd.s16 q4, q4, r2\n"
      "vqadd.s16 q6, q6, r2\n"
      "vqmovnb.s16 q4, q4\n"
      "vqmovnt.s16 q4, q6\n"
      "vdup.8 q0, r3\n"
      "vdup.8 q1, r11\n"
      "vmax.s8 q4, q4, q0\n"
      "vmin.s8 q4, q4, q1\n"
      "vstrb.8 q4, [r9]\n"
      : "+r"(input), "+r"(weights), "+r"(steps)
      : "r"(zero), "r"(low), "r"(high), "r"(table), "r"(output), "r"(pairs)
      : "r4", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
#undef INTARSIA_SCALE
#else
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    // Where the table has the channel: 0, 4, 8, 12, 2, ... , 1, ... , 3, ...
    const int32_t place = (lane % 4 == 0 ? 0 : lane % 4 == 2 ? 4 : lane % 4 == 1 ? 8 : 12) + lane / 4;
    const int8_t *input = b->input;
    int32_t sum = b->table[place];
    for (int32_t tap = 0; tap < 2 * b->pairs; ++tap) {
      sum += input[lane] * b->weights[tap * kLanes + lane];
      input += b->steps[tap];
    }
    const int32_t value =
        intarsia_requantize_right(sum, b->table[kLanes + place], -b->table[2 * kLanes + place]) + w->out_zero;
    b->output[lane] = (int8_t)intarsia_clamp_i32(value, w->low, w->high);
  }
#endif
}

// All channels of one output pixel.
INTARSIA_OUTLINE void one_pixel(const struct intarsia_window *w, struct block b) {
  for (int32_t channel = 0; channel < w->out_c; channel += kLanes) {
    if (channel + kLanes > w->out_c) {  // the last block overlaps
      const int32_t back = channel + kLanes - w->out_c;
      b.input -= back;
      b.output -= back;
    }
    one_block(w, &b);
    b.input += kLanes;
    b.output += kLanes;
    b.weights += 2 * b.pairs * kLanes;
    b.table += kTableWords;
  }
}

// The window at row y, column x of the input, [tap][in_c].
INTARSIA_OUTLINE void copy_window(const struct intarsia_window *w, const int8_t *image, int32_t y, int32_t x,
                                  int8_t *to) {
  const int32_t channels = w->in_c;
  for (int32_t ky = 0; ky < w->kernel_h; ++ky) {
    for (int32_t kx = 0; kx < w->kernel_w; ++kx, to += channels) {
      const int32_t iy = y + ky, ix = x + kx;
      if (iy >= 0 && iy < w->in_h && ix >= 0 && ix < w->in_w)
        memcpy(to, image + (iy * w->in_w + ix) * channels, (uint32_t)channels);
      else
        memset(to, w->in_zero, (uint32_t)channels);
    }
  }
}

void intarsia_mve_depthwise_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  const int32_t taps = w->kernel_h * w->kernel_w, even_taps = taps + taps % 2, in_c = w->in_c;
  int32_t *in_image = (int32_t *)(void *)scratch, *in_window = in_image + even_taps;
  int8_t *window = (int8_t *)(in_window + even_taps);
  for (int32_t tap = 0; tap < even_taps; ++tap) {
    const bool last = tap >= taps - 1, row_ends = tap % w->kernel_w == w->kernel_w - 1;
    in_window[tap] = last ? 0 : in_c;
    in_image[tap] = last ? 0 : row_ends ? (w->in_w - w->kernel_w + 1) * in_c : in_c;
  }
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * in_c) {
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t y = oy * w->stride_h - w->pad_top;
      const bool rows_inside = y >= 0 && y + w->kernel_h <= w->in_h;
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += w->out_c) {
        const int32_t x = ox * w->stride_w - w->pad_left;
        struct block b = {input + (y * w->in_w + x) * in_c, in_image, weights, channels, output, even_taps / 2};
        if (!rows_inside || x < 0 || x + w->kernel_w > w->in_w) {
          copy_window(w, input, y, x, window);
          b.input = window;
          b.steps = in_window;
        }
        one_pixel(w, b);
      }
    }
  }
}
