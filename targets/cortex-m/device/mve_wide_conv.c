// Convolution of int16 activations on cores with Helium: as mve_conv.c, with eight products to a VMLADAVA and weights that are
// widened while they are loaded.
//
// Sums fit 32 bits, which the compiler proves from the weights (compiler/mve_conv.cpp). Then TFLite's result, x * m + 2^(s - 1)
// shifted to the right by s, m < 2^15, is two instructions of 32 bits: h = x * (m * 2^16) >> 32 is x * m >> 16, and for s > 16
// the lower 16 bits have no part in (x * m + 2^(s - 1)) >> s = (h + 2^(s - 17)) >> (s - 16), which VRSHL by 16 - s is.
//
// All constants are one stream in the order they are read in, so that one register follows them.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/mve_pixels.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum {
  kHalves = 8,  // of a vector
  kChannels = 4,
  kBiases = 4 * kChannels,  // bytes
  kStep = kChannels * kHalves,
};

// Of the constants of four channels.
INTARSIA_INLINE int32_t block_bytes(int32_t steps) {
  return 3 * kBiases + steps * kStep;
}

struct wide_pixels {
  struct intarsia_pixels pixels;
  int32_t low[kChannels], high[kChannels];
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct wide_pixels, low) == 72 && offsetof(struct wide_pixels, high) == 88,
               "the assembly's numbers");

// Sums of the first pixel (r1) r0, r2, r4, r6; of the second (r3) r8, r10, r12, lr. Constants r5, passes r7. At the
// beginning of a step its first weights are in q4, the first pixel in q2.
#define PRODUCTS(sum, weights, pixel) "vmladava.s16 " sum ", " weights ", " pixel "\n"
#define PRODUCTS_AND(sum, weights, pixel, then) PRODUCTS(sum, weights, pixel) then
#define STEP(other)                                             \
  PRODUCTS_AND("r0", "q4", "q2", "vldrh.u16 q3, [r3], #16\n")   \
  PRODUCTS_AND("r8", "q4", "q3", "vldrb.s16 q1, [r5], #32\n")   \
  PRODUCTS_AND("r2", "q1", "q2", other)                         \
  PRODUCTS_AND("r10", "q1", "q3", "vldrb.s16 q0, [r5, #-24]\n") \
  PRODUCTS_AND("r4", "q0", "q2", "vldrb.s16 q4, [r5, #-8]\n")   \
  PRODUCTS_AND("r12", "q0", "q3", "vldrb.s16 q1, [r5, #-16]\n") \
  PRODUCTS_AND("r6", "q1", "q2", "vldrh.u16 q2, [r1], #16\n")   \
  PRODUCTS("lr", "q1", "q3")
// The first pixel's four sums go to q2, the second's to q3; their multipliers are in q6.
#define LAST_STEP                                                \
  PRODUCTS_AND("r0", "q4", "q2", "vldrb.s16 q1, [r5], #32\n")    \
  PRODUCTS_AND("r2", "q1", "q2", "vldrb.s16 q0, [r5, #-24]\n")   \
  PRODUCTS_AND("r4", "q0", "q2", "vldrb.s16 q5, [r5, #-16]\n")   \
  PRODUCTS_AND("r6", "q5", "q2", "vldrh.u16 q3, [r3]\n")         \
  PRODUCTS_AND("r8", "q4", "q3", "vldrw.32 q6, [r5, #-8]\n")     \
  PRODUCTS_AND("r10", "q1", "q3", "vmov q2[2], q2[0], r0, r4\n") \
  PRODUCTS_AND("r12", "q0", "q3", "vmov q2[3], q2[1], r2, r6\n") \
  PRODUCTS("lr", "q5", "q3")
#define NEXT_RUN      \
  "add r0, r0, r4\n"  \
  "subs r2, r2, #1\n" \
  "itt eq\n"          \
  "moveq r2, r8\n"    \
  "addeq r0, r0, r6\n"

// Of a struct wide_pixels, whose first member is given.
INTARSIA_OUTLINE void all_pairs(struct intarsia_pixels *pixels, int32_t steps, bool general) {
  (void)steps, (void)general;
  register struct intarsia_pixels *p __asm__("r11") = pixels;
  __asm__ volatile(
      INTARSIA_SAVE_R7 "b.w 6f\n"
      "2:\n" STEP("") "3:\n" STEP("subs r7, r7, #1\n")
      "bne.w 2b\n"
      "4:\n" LAST_STEP
      "ldrd r0, r2, [r11, #16]\n"
      "vmulh.s32 q2, q2, q6\n"
      "vldrw.32 q7, [r5, #8]\n"
      "vmov q3[2], q3[0], r8, r12\n"
      "vldrw.32 q0, [r11, #72]\n"
      "vmov q3[3], q3[1], r10, lr\n"
      "vldrw.32 q1, [r11, #88]\n"
      "vmulh.s32 q3, q3, q6\n"
      "vrshl.s32 q2, q2, q7\n"
      "subs r2, r2, r0\n"
      "lsrs r4, r2, #1\n"
      "vctp.32 r4\n"
      "vrshl.s32 q3, q3, q7\n"
      "ldr r6, [r11, #12]\n"
      "vmax.s32 q2, q2, q0\n"
      "ldrd r1, r3, [r11]\n"
      "vmax.s32 q3, q3, q0\n"
      "ldr r7, [r11, #8]\n"
      "vmin.s32 q2, q2, q1\n"
      "add r6, r6, r0\n"
      "vmin.s32 q3, q3, q1\n"
      "adds r5, r5, #24\n"
      "vpst\n"
      "vstrht.32 q2, [r0], #8\n"
      "cmp r2, #8\n"
      "str r0, [r11, #16]\n"
      "vpst\n"
      "vstrht.32 q3, [r6]\n"
      "bgt.w 1f\n"
      "ldrd r6, r4, [r11, #44]\n"
      "ldr r0, [r11, #20]\n"
      "add r0, r0, r4\n"
      "ldr r4, [r11, #64]\n"
      "add r2, r0, r4\n"
      "strd r0, r2, [r11, #16]\n"
      "subs r6, r6, #2\n"
      "str r6, [r11, #44]\n"
      "ble.w 9f\n"
      /* A pair of pixels. */
      "6: ldrd r0, r2, [r11, #24]\n"
      "ldrd r4, r6, [r11, #32]\n"
      "ldr r8, [r11, #40]\n"
      "mov r1, r0\n" NEXT_RUN
      "mov r3, r0\n" NEXT_RUN
      "strd r1, r3, [r11]\n"
      "strd r0, r2, [r11, #24]\n"
      "ldr r5, [r11, #52]\n"
      "ldr r7, [r11, #8]\n"
      /* Four of its channels. */
      "1: ldm r5!, {r0, r2, r4, r6}\n"
      "vldrh.u16 q2, [r1], #16\n"
      "lsrs r7, r7, #1\n"
      "vldrb.s16 q4, [r5], #8\n"
      "mov r8, r0\n"
      "mov r10, r2\n"
      "mov r12, r4\n"
      "mov lr, r6\n"
      "bcs.w 3b\n"
      "bne.w 2b\n"
      "b.w 4b\n"
      "9:\n" INTARSIA_RESTORE_R7
      : "+r"(p)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr",
        "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}
#undef NEXT_RUN
#undef LAST_STEP
#undef STEP
#undef PRODUCTS_AND
#undef PRODUCTS
#else
INTARSIA_INLINE int32_t word_at(const int8_t *bytes) {
  int32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

INTARSIA_INLINE int16_t half_at(const int8_t *bytes) {
  int16_t half;
  memcpy(&half, bytes, sizeof half);
  return half;
}

INTARSIA_INLINE int16_t one_result(const int8_t *run, const int8_t *bias, const int8_t *weights,
                                   int32_t steps, int32_t low, int32_t high) {
  const int8_t *scale = bias + kBiases + steps * kStep;
  const int32_t shift = -word_at(scale + kBiases);
  int32_t sum = word_at(bias);
  for (int32_t i = 0; i < steps * kHalves; ++i)
    sum += half_at(run + 2 * i) * weights[i / kHalves * kStep + i % kHalves];
  const int64_t product = ((int64_t)sum * word_at(scale)) >> 32;
  return (int16_t)intarsia_clamp_i32((int32_t)((product + (INT64_C(1) << shift >> 1)) >> shift),
                                     low, high);
}

// Of a struct wide_pixels, whose first member is given.
INTARSIA_OUTLINE void all_pairs(struct intarsia_pixels *p, int32_t steps, bool general) {
  const struct wide_pixels *wide = (const struct wide_pixels *)p;
  (void)general;
  const int32_t block = block_bytes(steps), channels = p->channels / 2;
  for (; p->count > 0; p->count -= 2, p->output += 2 * p->pitch) {
    intarsia_next_pair(p);
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t *quad = p->weights + c / kChannels * block;
      const int32_t lane = c % kChannels;
      for (int32_t pixel = 0; pixel < 2; ++pixel) {
        const int16_t result =
            one_result(p->runs[pixel], quad + 4 * lane, quad + kBiases + lane * kHalves, steps,
                       wide->low[0], wide->high[0]);
        memcpy(p->output + 2 * c + pixel * p->apart, &result, sizeof result);
      }
    }
  }
}
#endif

// As intarsia_pixels_function.
INTARSIA_OUTLINE int8_t *all_pixels(struct intarsia_pixels *p, int32_t count, int8_t *output,
                                    int32_t steps, bool general) {
  return intarsia_by_pairs(p, count, output, steps, general, all_pairs);
}

void intarsia_mve_conv_s16(const struct intarsia_window *w, const int16_t *input, int16_t *output,
                           int16_t *scratch, const int32_t *weights) {
  const int32_t steps = (w->kernel_h * w->kernel_w * w->in_c + kRunVector - 1) / kRunVector;
  const uint32_t before = (uint32_t)steps - 1u;  // the last one
  const int32_t group = w->group > 0 ? w->group : w->out_c, block = block_bytes(steps);
  int8_t *copies = (int8_t *)scratch, *strips = copies;
  if (w->group > 0) strips += group / kChannels * block;
  struct wide_pixels wide;
  struct intarsia_pixels *p = &wide.pixels;
  p->passes = ((before + 1u) & ~1u) | (before & 1u);
  p->pitch = 2 * w->out_c;
  for (int32_t i = 0; i < kChannels; ++i) wide.low[i] = w->low, wide.high[i] = w->high;
  for (int32_t first = 0; first < w->out_c; first += group) {
    const int32_t channels = w->out_c - first < group ? w->out_c - first : group;
    p->channels = 2 * channels;
    p->weights = (const int8_t *)weights + first / kChannels * block;
    if (w->group > 0) {
      intarsia_copy(copies, p->weights, (channels + kChannels - 1) / kChannels * block);
      p->weights = copies;
    }
    intarsia_all_images(w, (const int8_t *)input, (int8_t *)(output + first), strips, p, steps,
                        false, all_pixels);
  }
}
