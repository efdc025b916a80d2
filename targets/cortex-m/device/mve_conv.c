// Convolution on cores with Helium: VMLADAVA adds sixteen products to a register. Two pixels by two
// channels share their loads, eight instructions for 64 products; four results are one vector.
#include "cortex_m/mve_conv.h"

#include "cortex_m/optimise.h"
#include "cortex_m/runs.h"

enum { kVector = 16 };

// `pairs` > 0 pairs of channels of two pixels. Lanes: channels 0, 1 of the first pixel, then of the second,
// whose results are `apart` bytes on; 0 when the pixels are the same one.
#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE void pairs_of_channels(const struct intarsia_window *w, const int8_t *const runs[2],
                                        int8_t *output, int32_t apart, const int8_t *weights,
                                        const int32_t *channels, int32_t vectors, int32_t pairs) {
  // Addresses of a pair's multipliers, less what each load adds first.
  const uint32_t table = (uint32_t)(uintptr_t)channels - 16;
  const uint32_t multipliers[4] = {table, table + 4, table, table + 4};
  const uint32_t at[4] = {0, 1, (uint32_t)apart, (uint32_t)apart + 1};
  const int32_t limits[3] = {w->low, w->high, w->out_zero};
  register const int32_t *biases __asm__("r7") = channels;
  register const int8_t *weight __asm__("r5") = weights;
  register int8_t *to __asm__("r9") = output;
  register const int8_t *first __asm__("r10") = runs[0];
  register const int8_t *second __asm__("r11") = runs[1];
  register int32_t count __asm__("r12") = vectors;
  register int32_t left __asm__("r0") = pairs;
  register const uint32_t *addresses __asm__("r1") = multipliers;
  register const uint32_t *offsets __asm__("r2") = at;
  register const int32_t *limit __asm__("r3") = limits;
  // Sums r2, r6 of the first pixel (r1 its elements), r4, r8 of the second (r3).
  __asm__ volatile(
      "vldrw.32 q4, [r1]\n"
      "vldrw.32 q5, [r2]\n"
      "ldrd r4, r6, [r3]\n"
      "vdup.32 q6, r4\n"
      "vdup.32 q7, r6\n"
      "1: ldrd r2, r6, [r7], #24\n"
      "mov r1, r10\n"
      "mov r3, r11\n"
      "mov r4, r2\n"
      "mov r8, r6\n"
      "dls lr, r12\n"
      "2: vldrb.8 q0, [r1], #16\n"
      "vldrb.8 q2, [r5], #16\n"
      "vmladava.s8 r2, q0, q2\n"
      "vldrb.8 q1, [r3], #16\n"
      "vmladava.s8 r4, q1, q2\n"
      "vldrb.8 q3, [r5], #16\n"
      "vmladava.s8 r6, q0, q3\n"
      "vmladava.s8 r8, q1, q3\n"
      "le lr, 2b\n"
      "vmov q0[2], q0[0], r2, r4\n"
      "vmov q0[3], q0[1], r6, r8\n"
      "vldrw.32 q1, [q4, #24]!\n"
      "vqrdmulh.s32 q0, q0, q1\n"
      "vldrw.32 q1, [q4, #8]\n"
      // VRSHL rounds halves up; a negative value is one less first, so that they go away from zero.
      "vshr.s32 q2, q0, #31\n"
      "vadd.i32 q0, q0, q2\n"
      "vrshl.s32 q0, q0, q1\n"
      "ldr lr, %[zero]\n"
      "vadd.i32 q0, q0, lr\n"
      "vmax.s32 q0, q0, q6\n"
      "vmin.s32 q0, q0, q7\n"
      "vstrb.32 q0, [r9, q5]\n"
      "add r9, r9, #2\n"
      "subs r0, r0, #1\n"
      "bne 1b\n"
      : "+r"(biases), "+r"(weight), "+r"(to), "+r"(left), "+r"(addresses), "+r"(offsets), "+r"(limit)
      : "r"(first), "r"(second), "r"(count), [zero] "m"(limits[2])
      : "r4", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
#else
INTARSIA_OUTLINE void pairs_of_channels(const struct intarsia_window *w, const int8_t *const runs[2],
                                        int8_t *output, int32_t apart, const int8_t *weights,
                                        const int32_t *channels, int32_t vectors, int32_t pairs) {
  for (; pairs > 0; --pairs, channels += 6, weights += 2 * kVector * vectors, output += 2) {
    for (int32_t pixel = 0; pixel < 2; ++pixel) {
      for (int32_t channel = 0; channel < 2; ++channel) {
        int32_t sum = channels[channel];
        for (int32_t i = 0; i < vectors * kVector; ++i)
          sum += runs[pixel][i] * weights[i / kVector * 2 * kVector + channel * kVector + i % kVector];
        const int32_t value =
            intarsia_requantize_right(sum, channels[2 + channel], -channels[4 + channel]) + w->out_zero;
        output[pixel * apart + channel] = (int8_t)intarsia_clamp_i32(value, w->low, w->high);
      }
    }
  }
}
#endif

INTARSIA_INLINE void two_pixels(const struct intarsia_window *w, const int8_t *const runs[2], int8_t *output,
                                int32_t apart, const int8_t *weights, const int32_t *channels,
                                int32_t vectors) {
  const int32_t pairs = w->out_c / 2;
  pairs_of_channels(w, runs, output, apart, weights, channels, vectors, pairs);
  if (w->out_c % 2 != 0)  // the last pair overlaps
    pairs_of_channels(w, runs, output + w->out_c - 2, apart, weights + pairs * 2 * kVector * vectors,
                      channels + 6 * pairs, vectors, 1);
}

void intarsia_mve_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch,
                          const int8_t *weights, const int32_t *channels) {
  const int32_t vectors = (w->kernel_h * w->kernel_w * w->in_c + kVector - 1) / kVector;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % kVector == 0;
  const int8_t *runs[2] = {scratch, scratch + vectors * kVector};  // of the two pixels
  struct intarsia_place at = {input, 0, 0};
  for (int32_t pixels = w->batches * w->out_h * w->out_w; pixels > 0; pixels -= 2) {
    const int32_t both = pixels > 1 ? 2 : 1;
    for (int32_t i = 0; i < both; ++i, intarsia_advance(w, &at)) {
      if (direct)
        runs[i] = at.image + (at.y * w->stride_h * w->in_w + at.x * w->stride_w) * w->in_c;
      else
        intarsia_gather(w, &at, scratch + i * vectors * kVector);
    }
    if (both == 1) runs[1] = runs[0];
    two_pixels(w, runs, output, both == 2 ? w->out_c : 0, weights, channels, vectors);
    output += both * w->out_c;
  }
}
