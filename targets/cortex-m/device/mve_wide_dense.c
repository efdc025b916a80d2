// A fully connected layer of int16 activations on cores with Helium: one run, four channels at a time, with constants and results as in
// mve_wide_conv.c.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
// Sums r0, r2, r4 and r6. The last elements of a run may be none: they are neither read nor added.
INTARSIA_INLINE void all_channels(const int16_t *run, int32_t count, const int32_t *weights,
                                  int16_t *output, int32_t channels, int32_t low, int32_t high) {
  register const int32_t *constants __asm__("r5") = weights;
  register const int16_t *x __asm__("r8") = run;
  register int32_t elements __asm__("r10") = count;
  register int16_t *to __asm__("r3") = output;
  register int32_t left __asm__("r12") = channels;
  __asm__ volatile(
      "vdup.32 q4, %[low]\n"
      "vdup.32 q5, %[high]\n"
      "2: ldm r5!, {r0, r2, r4, r6}\n"
      "mov r1, r8\n"
      "dlstp.16 lr, r10\n"
      "1: vldrh.u16 q0, [r1], #16\n"
      "vldrb.s16 q1, [r5], #32\n"
      "vmladava.s16 r0, q0, q1\n"
      "vldrb.s16 q2, [r5, #-24]\n"
      "vmladava.s16 r2, q0, q2\n"
      "vldrb.s16 q3, [r5, #-16]\n"
      "vmladava.s16 r4, q0, q3\n"
      "vldrb.s16 q1, [r5, #-8]\n"
      "vmladava.s16 r6, q0, q1\n"
      "letp lr, 1b\n"
      "vldrw.32 q1, [r5], #16\n"
      "vmov q0[2], q0[0], r0, r4\n"
      "vmov q0[3], q0[1], r2, r6\n"
      "vldrw.32 q2, [r5], #16\n"
      "vmulh.s32 q0, q0, q1\n"
      "vctp.32 r12\n"
      "subs.w r12, r12, #4\n"
      "vrshl.s32 q0, q0, q2\n"
      "vmax.s32 q0, q0, q4\n"
      "vmin.s32 q0, q0, q5\n"
      "vpst\n"
      "vstrht.32 q0, [r3], #8\n"
      "bgt.w 2b\n"
      : "+r"(constants), "+r"(to), "+r"(left)
      : "r"(x), "r"(elements), [low] "r"(low), [high] "r"(high)
      : "r0", "r1", "r2", "r4", "r6", "lr", "q0", "q1", "q2", "q3", "q4",
        "q5" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}
#else
enum { kFour = 4, kEight = 8 };

INTARSIA_INLINE void all_channels(const int16_t *run, int32_t count, const int32_t *weights,
                                  int16_t *output, int32_t channels, int32_t low, int32_t high) {
  const int32_t steps = (count + kEight - 1) / kEight;
  for (int32_t c = 0; c < channels; ++c) {
    const int32_t lane = c % kFour;
    const int32_t *biases = weights + c / kFour * (3 * kFour + kEight * steps);
    const int8_t *own = (const int8_t *)(biases + kFour) + lane * kEight;
    const int32_t *scales = biases + kFour + kEight * steps;
    int32_t sum = biases[lane];
    for (int32_t i = 0; i < count; ++i) sum += run[i] * own[i / kEight * 32 + i % kEight];
    const int64_t product = ((int64_t)sum * scales[lane]) >> 32;
    const int32_t shift = -scales[kFour + lane];
    output[c] = (int16_t)intarsia_clamp_i32(
        (int32_t)((product + (INT64_C(1) << shift >> 1)) >> shift), low, high);
  }
}
#endif

void intarsia_mve_dense_s16(const struct intarsia_window *w, const int16_t *input, int16_t *output,
                            const int32_t *weights) {
  all_channels(input, w->kernel_w * w->in_c / 2, weights, output, w->out_c, w->low, w->high);
}
