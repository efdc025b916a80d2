// Convolution on cores with Helium: VMLADAVA adds sixteen products to a register. Two pixels by four
// channels share their loads, 14 instructions for 128 products, and their eight sums take all even registers.
//
// The unit that multiplies is busy for two cycles with each VMLADAVA, and every second cycle is free for another
// instruction: loads lie one by one between the products, those of the next step among them, and the last step, which
// loads no further one, has the numbers of the results and their first instructions there.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/mve_pixels.h"
#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/mve_short_runs.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kVector = 16, kQuad = 4 };

#if INTARSIA_HAS_MVE
// The table in r9, or in memory: before the loop by way of r1, after it too, which is free by then.
#if INTARSIA_FREE_R9
#define TABLE_FIRST "ldrd r5, r9, [r11, #52]\n"
#define TABLE "r9"
#define TABLE_START
#define TABLE_STARTED
#define TABLE_LOAD
#define TABLE_STORE
#define TABLE_CLOBBER "r9",
#else
#define TABLE_FIRST           \
  "ldrd r5, r7, [r11, #52]\n" \
  "str r7, [r11, #60]\n"
#define TABLE "r1"
#define TABLE_START "ldr r1, [r11, #60]\n"
#define TABLE_STARTED    \
  "str r1, [r11, #60]\n" \
  "ldr r1, [r11]\n"
#define TABLE_LOAD "ldr r1, [r11, #60]\n"
#define TABLE_STORE "str r1, [r11, #60]\n"
#define TABLE_CLOBBER
#endif

// Sums of the first pixel (r1) r0, r2, r4, r6; of the second (r3) r8, r10, r12, lr. Weights r5, passes r7. At the
// beginning of a step its first weights are in q4, the first pixel in q2.
#define PRODUCTS(sum, weights, pixel) "vmladava.s8 " sum ", " weights ", " pixel "\n"
#define PRODUCTS_AND(sum, weights, pixel, then) PRODUCTS(sum, weights, pixel) then
#define STEP(other)                                           \
  PRODUCTS_AND("r0", "q4", "q2", "vldrb.8 q3, [r3], #16\n")   \
  PRODUCTS_AND("r8", "q4", "q3", "vldrb.8 q1, [r5], #64\n")   \
  PRODUCTS_AND("r2", "q1", "q2", other)                       \
  PRODUCTS_AND("r10", "q1", "q3", "vldrb.8 q0, [r5, #-48]\n") \
  PRODUCTS_AND("r4", "q0", "q2", "vldrb.8 q4, [r5, #-16]\n")  \
  PRODUCTS_AND("r12", "q0", "q3", "vldrb.8 q1, [r5, #-32]\n") \
  PRODUCTS_AND("r6", "q1", "q2", "vldrb.8 q2, [r1], #16\n")   \
  PRODUCTS("lr", "q1", "q3")
// The first pixel's four sums go to q2, the second's to q3; their multipliers are in q6.
#define LAST_STEP                                                              \
  PRODUCTS_AND("r0", "q4", "q2", "vldrb.8 q1, [r5], #64\n")                    \
  PRODUCTS_AND("r2", "q1", "q2", "vldrb.8 q0, [r5, #-48]\n")                   \
  PRODUCTS_AND("r4", "q0", "q2", "vldrb.8 q5, [r5, #-32]\n")                   \
  PRODUCTS_AND("r6", "q5", "q2", "vldrb.8 q3, [r3]\n")                         \
  PRODUCTS_AND("r8", "q4", "q3", TABLE_LOAD "vldrw.32 q6, [" TABLE "], #16\n") \
  PRODUCTS_AND("r10", "q1", "q3", "vmov q2[2], q2[0], r0, r4\n")               \
  PRODUCTS_AND("r12", "q0", "q3", "vmov q2[3], q2[1], r2, r6\n")               \
  PRODUCTS("lr", "q5", "q3")
#define NEXT_RUN      \
  "add r0, r0, r4\n"  \
  "subs r2, r2, #1\n" \
  "itt eq\n"          \
  "moveq r2, r8\n"    \
  "addeq r0, r0, r6\n"
// The chain of mve_results.h for both pixels, and between its instructions what else is to do for the next channels.
#define ALL_PAIRS(sign_a, minus_a, sign_b, minus_b) \
  __asm__ volatile(                                                                                   \
      INTARSIA_SAVE_R7 "b.w 6f\n"                                                                     \
      "2:\n" STEP("") "3:\n" STEP("subs r7, r7, #1\n")                                                \
      "bne.w 2b\n"                                                                                    \
      "4:\n" LAST_STEP                                                                                \
      "ldrd r0, r2, [r11, #16]\n"                                                                     \
      "vqrdmulh.s32 q2, q2, q6\n"                                                                     \
      "vldrw.32 q7, [" TABLE "], #16\n"                                                               \
      "vmov q3[2], q3[0], r8, r12\n"                                                                  \
      "vmov q3[3], q3[1], r10, lr\n" sign_a                                                           \
      "vqrdmulh.s32 q3, q3, q6\n"                                                                     \
      "vadd.i32 q2, q2, q7\n"                                                                         \
      "vldrw.32 q6, [" TABLE "], #16\n" minus_a TABLE_STORE                                           \
      "subs r2, r2, r0\n" sign_b                                                                      \
      "vctp.32 r2\n"                                                                                  \
      "vqshl.s32 q2, q2, q6\n"                                                                        \
      "ldr r4, [r11, #12]\n"                                                                          \
      "vadd.i32 q3, q3, q7\n"                                                                         \
      "add r4, r4, r0\n" minus_b                                                                      \
      "ldrd r1, r3, [r11]\n"                                                                          \
      "vqshl.s32 q3, q3, q6\n"                                                                        \
      "ldr r7, [r11, #8]\n"                                                                           \
      "vshr.s32 q2, q2, #24\n"                                                               \
      "vshr.s32 q3, q3, #24\n"                                                                        \
      "vpst\n"                                                                                     \
      "vstrbt.32 q2, [r0], #4\n"                                                                      \
      "vpst\n"                                                                                        \
      "vstrbt.32 q3, [r4]\n"                                                                          \
      "cmp r2, #4\n"                                                                                  \
      "str r0, [r11, #16]\n"                                                                          \
      "bgt.w 1f\n"                                                                                    \
      "ldrd r6, r4, [r11, #44]\n"                                                                     \
      "ldr r0, [r11, #20]\n"                                                                          \
      "add r0, r0, r4\n"                                                                              \
      "ldr r4, [r11, #64]\n"                                                                          \
      "add r2, r0, r4\n"                                                                              \
      "strd r0, r2, [r11, #16]\n"                                                                     \
      "subs r6, r6, #2\n"                                                                             \
      "str r6, [r11, #44]\n"                                                                          \
      "ble.w 9f\n"                                                                                    \
      /* A pair of pixels. */                                                                         \
      "6: ldrd r0, r2, [r11, #24]\n"                                                                  \
      "ldrd r4, r6, [r11, #32]\n"                                                                     \
      "ldr r8, [r11, #40]\n"                                                                          \
      "mov r1, r0\n" NEXT_RUN                                                                         \
      "mov r3, r0\n" NEXT_RUN                                                                         \
      "strd r1, r3, [r11]\n"                                                                          \
      "strd r0, r2, [r11, #24]\n" TABLE_FIRST                                                         \
      "ldr r7, [r11, #8]\n"                                                                           \
      "add r5, r5, #16\n"                                                                             \
      /* Four of its channels. */                                                                     \
      "1:\n" TABLE_START                                                                              \
      "ldm " TABLE "!, {r0, r2, r4, r6}\n" TABLE_STARTED                                              \
      "lsrs r7, r7, #1\n"                                                                             \
      "vldrb.8 q4, [r5, #-16]\n"                                                                      \
      "mov r8, r0\n"                                                                                  \
      "mov r10, r2\n"                                                                                 \
      "vldrb.8 q2, [r1], #16\n"                                                                       \
      "mov r12, r4\n"                                                                                 \
      "mov lr, r6\n"                                                                                  \
      "bcs.w 3b\n"                                                                                    \
      "bne.w 2b\n"                                                                                    \
      "b.w 4b\n"                                                                               \
      "9:\n" INTARSIA_RESTORE_R7                                                                      \
      : "+r"(p)                                                                                       \
      :                                                                                               \
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", TABLE_CLOBBER "r10",     \
        "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE,      \
        "cc", "memory")

INTARSIA_OUTLINE void rectified_pairs(struct intarsia_pixels *pixels) {
  register struct intarsia_pixels *p __asm__("r11") = pixels;
  ALL_PAIRS("", "", "", "");
}

INTARSIA_OUTLINE void other_pairs(struct intarsia_pixels *pixels) {
  register struct intarsia_pixels *p __asm__("r11") = pixels;
  ALL_PAIRS("vshr.s32 q4, q2, #31\n", "vadd.i32 q2, q2, q4\n", "vshr.s32 q4, q3, #31\n",
            "vadd.i32 q3, q3, q4\n");
}
#undef ALL_PAIRS
#undef NEXT_RUN
#undef LAST_STEP
#undef STEP
#undef PRODUCTS_AND
#undef PRODUCTS

INTARSIA_OUTLINE void short_row(const struct intarsia_pixels *p, const int8_t *run, int32_t pixels,
                                int8_t *output, int32_t steps, bool general) {
  const int32_t single = pixels & 1, last = pixels - 1;
  for (int32_t odd = 0; odd <= single; ++odd) {  // the pair is the last pixel twice
    const int32_t apart = odd != 0 ? 0 : 1;
    struct short_runs r = {{run, run + apart * p->step},
                           2 * p->step,
                           odd != 0 ? 1 : pixels / 2,
                           {output, output + apart * p->pitch},
                           2 * p->pitch,
                           p->channels,
                           p->weights,
                           p->table};
    if (r.pairs > 0) intarsia_short_runs(&r, steps, general);
    run += last * p->step;
    output += last * p->pitch;
  }
}

static int8_t *all_short_runs(const struct intarsia_pixels *p, int32_t count, int32_t row,
                              int8_t *output, int32_t steps, bool general) {
  const int8_t *run = p->at;
  while (count > 0) {
    const int32_t pixels = count < row ? count : row;
    short_row(p, run, pixels, output, steps, general);
    run += row * p->step + p->gap;
    output += pixels * p->pitch;
    count -= pixels;
  }
  return output;
}

INTARSIA_INLINE void all_pairs(struct intarsia_pixels *p, int32_t steps, bool general) {
  (void)steps;
  if (general)
    other_pairs(p);
  else
    rectified_pairs(p);
}
#else
INTARSIA_OUTLINE void all_pairs(struct intarsia_pixels *p, int32_t steps, bool general) {
  for (; p->count > 0; p->count -= 2, p->output += 2 * p->pitch) {
    intarsia_next_pair(p);
    for (int32_t c = 0; c < p->channels; ++c) {
      const int8_t *quad = p->weights + c / kQuad * steps * kQuad * kVector + c % kQuad * kVector;
      const int32_t *channel = p->table + c / kQuad * 4 * kQuad + c % kQuad;
      for (int32_t pixel = 0; pixel < 2; ++pixel) {
        int32_t sum = channel[0];
        for (int32_t i = 0; i < steps * kVector; ++i)
          sum += p->runs[pixel][i] * quad[i / kVector * kQuad * kVector + i % kVector];
        p->output[c + pixel * p->apart] = intarsia_mve_top_result(
            sum, channel[kQuad], channel[2 * kQuad], channel[3 * kQuad], general);
      }
    }
  }
}
#endif

// As intarsia_pixels_function.
INTARSIA_OUTLINE int8_t *all_pixels(struct intarsia_pixels *p, int32_t count, int8_t *output,
                                    int32_t steps, bool general) {
#if INTARSIA_HAS_MVE
  const int32_t row = p->gap == 0 ? count : p->row;
  if (steps <= kMostShort && row >= kFewestPixels)
    return all_short_runs(p, count, row, output, steps, general);
#endif
  return intarsia_by_pairs(p, count, output, steps, general, all_pairs);
}

void intarsia_mve_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  const int32_t steps = (w->kernel_h * w->kernel_w * w->in_c + kVector - 1) / kVector;
  const uint32_t before = (uint32_t)steps - 1u;  // the last one
  const bool general = intarsia_mve_is_general(w);
  const int32_t group = w->group > 0 ? w->group : w->out_c, weight_bytes = steps * kVector * group;
  struct intarsia_pixels p;
  p.passes = ((before + 1u) & ~1u) | (before & 1u);
  p.pitch = w->out_c;
  int8_t *rest = scratch;
  if (w->group > 0) rest += weight_bytes + group * 4 * (int32_t)sizeof *channels;
  for (int32_t first = 0; first < w->out_c; first += group) {
    p.channels = w->out_c - first < group ? w->out_c - first : group;
    p.weights = weights + first * steps * kVector;
    p.table = channels + first * 4;
    if (w->group > 0) {  // of the last group, blocks of four that it has
      const int32_t filled = (p.channels + kQuad - 1) / kQuad * kQuad;
      intarsia_copy(scratch, p.weights, steps * kVector * filled);
      intarsia_copy(scratch + weight_bytes, (const int8_t *)p.table,
                    filled * 4 * (int32_t)sizeof *channels);
      p.weights = scratch;
      p.table = (const int32_t *)(const void *)(scratch + weight_bytes);
    }
    intarsia_all_images(w, input, output + first, rest, &p, steps, general, all_pixels);
  }
  if (w->low != -128 || w->high != 127)
    intarsia_mve_clamp(output, w->batches * w->out_h * w->out_w * w->out_c, w->low, w->high);
}
