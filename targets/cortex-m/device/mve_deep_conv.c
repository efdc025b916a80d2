// Convolution of many channels on cores with Helium (mve_deep_conv.h). Each weight is loaded once for eight pixels, so that
// one in a slow memory waits once for them, where two pixels by four channels (mve_conv.c) would wait four times as often and
// copies of weights find no room in scratch. The eight sums take all even registers.
#include "intarsia/targets/cortex_m/mve_deep_conv.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/mve_strip.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kDeepVector = 16, kDeepFour = 4, kDeepMostRuns = 6, kDeepMostTaps = 3 };

// Up to three taps in all planes that they are in. The assembly knows the layout of both.
struct deep_run {
  const int8_t *fours[2];  // the first vectors
  int32_t planes, pitch;   // how many, and bytes between them
  int32_t taps;            // 0 behind the last run
};
struct deep_block {
  const int32_t *weights;
  int8_t *outputs[2];  // of the fours
  int32_t channels;    // left
  const struct deep_run *run, *first;
  int32_t places[kDeepFour];  // of a four's results
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct deep_run, planes) == 8 && offsetof(struct deep_run, pitch) == 12 &&
                   offsetof(struct deep_run, taps) == 16 && sizeof(struct deep_run) == 20 &&
                   offsetof(struct deep_block, outputs) == 4 &&
                   offsetof(struct deep_block, channels) == 12 &&
                   offsetof(struct deep_block, run) == 16 &&
                   offsetof(struct deep_block, first) == 20 &&
                   offsetof(struct deep_block, places) == 24,
               "the assembly's numbers");

// Sums of the first four r0, r2, r4, r6, of the second r8, r10, r12, lr; their vectors by r1 and r3, planes r7 apart, weights
// by r5. The block is in r11, or in q7 while r11 counts planes. At the beginning of a plane its first weights are in
// q0, its first vector in q3.
#define PRODUCTS(sum, weights, vector) "vmladava.s8 " sum ", " weights ", " vector "\n"
#define FIRST(at, to) "vldrw.32 " to ", [r1, #" at "]\n"
#define SECOND(at, to) "vldrw.32 " to ", [r3, #" at "]\n"
#define WEIGHTS(at, to) "vldrw.32 " to ", [r5, #" at "]\n"
#define NEXT_WEIGHTS(bytes) "vldrw.32 q0, [r5], #" bytes "\n"
#define NEXT_FIRST "add r1, r1, r7\n"
#define NEXT_SECOND "add r3, r3, r7\n"
#define COUNT "subs r11, r11, #1\n"
// A tap and what is loaded beside it to a line, which the tool would lay out otherwise each time.
// clang-format off
#define ONE_TAP                                                                                  \
  PRODUCTS("r0", "q0", "q3") FIRST("16", "q4")                                                   \
  PRODUCTS("r2", "q0", "q4") FIRST("32", "q5")                                                   \
  PRODUCTS("r4", "q0", "q5") FIRST("48", "q6") NEXT_FIRST PRODUCTS("r6", "q0", "q6")             \
  SECOND("0", "q3") PRODUCTS("r8", "q0", "q3") SECOND("16", "q4") PRODUCTS("r10", "q0", "q4")    \
  SECOND("32", "q5") COUNT PRODUCTS("r12", "q0", "q5") SECOND("48", "q6") NEXT_SECOND            \
  PRODUCTS("lr", "q0", "q6") NEXT_WEIGHTS("16") FIRST("0", "q3")
#define TWO_TAPS                                                                                 \
  PRODUCTS("r0", "q0", "q3") FIRST("16", "q4")                                                   \
  PRODUCTS("r2", "q0", "q4") WEIGHTS("-16", "q1")                                                \
  PRODUCTS("r0", "q1", "q4") FIRST("32", "q5")                                                   \
  PRODUCTS("r4", "q0", "q5") FIRST("48", "q6")                                                   \
  PRODUCTS("r2", "q1", "q5") FIRST("64", "q3")                                                   \
  PRODUCTS("r6", "q0", "q6") NEXT_FIRST                                                          \
  PRODUCTS("r4", "q1", "q6") SECOND("0", "q4")                                                   \
  PRODUCTS("r6", "q1", "q3") SECOND("16", "q5")                                                  \
  PRODUCTS("r8", "q0", "q4") COUNT                                                               \
  PRODUCTS("r10", "q0", "q5") SECOND("32", "q6")                                                 \
  PRODUCTS("r8", "q1", "q5") SECOND("48", "q4")                                                  \
  PRODUCTS("r12", "q0", "q6")                                                                    \
  PRODUCTS("r10", "q1", "q6") SECOND("64", "q5")                                                 \
  PRODUCTS("lr", "q0", "q4") NEXT_WEIGHTS("32") NEXT_SECOND                                      \
  PRODUCTS("r12", "q1", "q4") FIRST("0", "q3")                                                   \
  PRODUCTS("lr", "q1", "q5")
#define THREE_TAPS                                                                               \
  PRODUCTS("r0", "q0", "q3") FIRST("16", "q4")                                                   \
  PRODUCTS("r2", "q0", "q4") WEIGHTS("-32", "q1")                                                \
  PRODUCTS("r0", "q1", "q4") FIRST("32", "q5")                                                   \
  PRODUCTS("r4", "q0", "q5") WEIGHTS("-16", "q2")                                                \
  PRODUCTS("r2", "q1", "q5") FIRST("48", "q6")                                                   \
  PRODUCTS("r0", "q2", "q5")                                                                     \
  PRODUCTS("r6", "q0", "q6") FIRST("64", "q3")                                                   \
  PRODUCTS("r4", "q1", "q6")                                                                     \
  PRODUCTS("r2", "q2", "q6") FIRST("80", "q4")                                                   \
  PRODUCTS("r6", "q1", "q3") NEXT_FIRST                                                          \
  PRODUCTS("r4", "q2", "q3") SECOND("0", "q5")                                                   \
  PRODUCTS("r6", "q2", "q4") SECOND("16", "q6")                                                  \
  PRODUCTS("r8", "q0", "q5") COUNT                                                               \
  PRODUCTS("r10", "q0", "q6") SECOND("32", "q3")                                                 \
  PRODUCTS("r8", "q1", "q6") SECOND("48", "q4")                                                  \
  PRODUCTS("r12", "q0", "q3")                                                                    \
  PRODUCTS("r10", "q1", "q3")                                                                    \
  PRODUCTS("r8", "q2", "q3") SECOND("64", "q5")                                                  \
  PRODUCTS("lr", "q0", "q4") NEXT_WEIGHTS("48")                                                  \
  PRODUCTS("r12", "q1", "q4") SECOND("80", "q6")                                                 \
  PRODUCTS("r10", "q2", "q4") NEXT_SECOND                                                        \
  PRODUCTS("lr", "q1", "q5") FIRST("0", "q3")                                                    \
  PRODUCTS("r12", "q2", "q5")                                                                    \
  PRODUCTS("lr", "q2", "q6")
// clang-format on

INTARSIA_OUTLINE void deep_channels(struct deep_block *block) {
  register struct deep_block *b __asm__("r11") = block;
  __asm__ volatile(
      INTARSIA_SAVE_R7
      "ldr r5, [r11]\n"
      /* A channel. */
      "1: ldr r0, [r5], #4\n"
      "mov r2, r0\n"
      "mov r4, r0\n"
      "mov r6, r0\n"
      "mov r8, r0\n"
      "mov r10, r0\n"
      "mov r12, r0\n"
      "mov lr, r0\n"
      "ldr r7, [r11, #20]\n"
      /* A run of it. */
      "2: str r7, [r11, #16]\n"
      "ldrd r1, r3, [r7]\n"
      "vmov.32 q7[0], r11\n"
      "ldr r11, [r7, #16]\n"
      "vldrw.32 q3, [r1]\n"
      "cmp r11, #2\n"
      "ldrd r11, r7, [r7, #8]\n"
      "bcc.w 5f\n"
      "beq.w 4f\n" NEXT_WEIGHTS(
          "48") "3:\n" THREE_TAPS
                "bne.w 3b\n"
                "sub r5, r5, #48\n"
                "b.w 6f\n"
                "4:\n" NEXT_WEIGHTS("32") "7:\n" TWO_TAPS
                                          "bne.w 7b\n"
                                          "sub r5, r5, #32\n"
                                          "b.w 6f\n"
                                          "5:\n" NEXT_WEIGHTS("16") "8:\n" ONE_TAP
                                                                    "bne.w 8b\n"
                                                                    "sub r5, r5, #16\n"
                                                                    "6: vmov.32 r11, q7[0]\n"
                                                                    "ldr r7, [r11, #16]\n"
                                                                    "add r7, r7, #20\n"
                                                                    "ldr r1, [r7, #16]\n"
                                                                    "cmp r1, #0\n"
                                                                    "bne.w 2b\n"
                                                                    /* Its results. */
                                                                    "vmov q0[2], q0[0], r0, r4\n"
                                                                    "vmov q0[3], q0[1], r2, r6\n"
                                                                    "ldm r5!, {r1, r3, r7}\n"
                                                                    "vqrdmulh.s32 q0, q0, r1\n"
                                                                    "vmov q1[2], q1[0], r8, r12\n"
                                                                    "vmov q1[3], q1[1], r10, lr\n"
                                                                    "vshr.s32 q2, q0, #31\n"
                                                                    "vqrdmulh.s32 q1, q1, r1\n"
                                                                    "vldrw.32 q4, [r11, #24]\n"
                                                                    "vadd.i32 q0, q0, q2\n"
                                                                    "ldrd r0, r2, [r11, #4]\n"
                                                                    "vshr.s32 q3, q1, #31\n"
                                                                    "vadd.i32 q0, q0, r3\n"
                                                                    "ldr r4, [r11, #12]\n"
                                                                    "vadd.i32 q1, q1, q3\n"
                                                                    "add r1, r0, #1\n"
                                                                    "vqshl.s32 q0, r7\n"
                                                                    "subs r4, r4, #1\n"
                                                                    "vadd.i32 q1, q1, r3\n"
                                                                    "add r3, r2, #1\n"
                                                                    "vqshl.s32 q1, r7\n"
                                                                    "strd r1, r3, [r11, #4]\n"
                                                                    "vshr.s32 q0, q0, #24\n"
                                                                    "str r4, [r11, #12]\n"
                                                                    "vshr.s32 q1, q1, #24\n"
                                                                    "vstrb.32 q0, [r0, q4]\n"
                                                                    "vstrb.32 q1, [r2, q4]\n"
                                                                    "bgt.w 1b\n" INTARSIA_RESTORE_R7
      : "+r"(b)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr",
        "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
#undef PRODUCTS
#undef FIRST
#undef SECOND
#undef WEIGHTS
#undef NEXT_WEIGHTS
#undef NEXT_FIRST
#undef NEXT_SECOND
#undef COUNT
#undef ONE_TAP
#undef TWO_TAPS
#undef THREE_TAPS
#else
INTARSIA_OUTLINE void deep_channels(struct deep_block *b) {
  const int32_t *weights = b->weights;
  for (; b->channels > 0; --b->channels, ++b->outputs[0], ++b->outputs[1]) {
    int32_t sums[2][kDeepFour];
    for (int32_t pixel = 0; pixel < 2 * kDeepFour; ++pixel)
      sums[pixel / kDeepFour][pixel % kDeepFour] = *weights;
    const int8_t *from = (const int8_t *)(weights + 1);
    for (const struct deep_run *run = b->first; run->taps != 0; ++run)
      for (int32_t plane = 0; plane < run->planes; ++plane)
        for (int32_t tap = 0; tap < run->taps; ++tap, from += kDeepVector)
          for (int32_t pixel = 0; pixel < 2 * kDeepFour; ++pixel) {
            const int32_t four = pixel / kDeepFour, column = pixel % kDeepFour + tap;
            const int8_t *vector = run->fours[four] + plane * run->pitch + column * kDeepVector;
            for (int32_t lane = 0; lane < kDeepVector; ++lane)
              sums[four][pixel % kDeepFour] += from[lane] * vector[lane];
          }
    weights = (const int32_t *)(const void *)from;
    for (int32_t pixel = 0; pixel < 2 * kDeepFour; ++pixel)
      b->outputs[pixel / kDeepFour][b->places[pixel % kDeepFour]] = intarsia_mve_top_result(
          sums[pixel / kDeepFour][pixel % kDeepFour], weights[0], weights[1], weights[2], true);
    weights += 3;
  }
}
#endif

// The planes of `count` neighbouring pixels from row y, column x of the image on, either of which may lie outside.
static void deep_planes(const struct intarsia_window *w, const int8_t *image, int32_t y, int32_t x,
                        int32_t count, int32_t phases, int32_t pitch, int8_t *to) {
  const int32_t channels = w->in_c, stride = w->stride_w;
  for (int32_t phase = 0; phase < phases; ++phase, ++x) {
    const int32_t columns = count + (w->kernel_w - phase - 1) / stride;
    const int32_t before = intarsia_clamp_i32((stride - 1 - x) / stride, 0, columns);
    const int32_t end = intarsia_clamp_i32((w->in_w - x + stride - 1) / stride, before, columns);
    int32_t row = y;
    for (int32_t ky = 0; ky < w->kernel_h; ++ky, row += w->dilation_h) {
      const bool inside = row >= 0 && row < w->in_h && before < end;
      const int32_t first = inside ? before : columns, last = inside ? end : columns;
      const int8_t *from = image;
      if (inside) from += (row * w->in_w + x + first * stride) * channels;
      for (int32_t c = 0; c < channels; c += kDeepVector, to += pitch) {
        if (first > 0) intarsia_fill(to, w->in_zero, first * kDeepVector);
        if (last < columns)
          intarsia_fill(to + last * kDeepVector, w->in_zero, (columns - last) * kDeepVector);
        const int32_t lanes = intarsia_clamp_i32(channels - c, 0, kDeepVector);
        if (first < last)
          intarsia_strip_columns(from + c, to + first * kDeepVector, last - first, lanes,
                                 stride * channels, kDeepVector);
      }
    }
  }
}

// What taps take together: three, where two are left these, or one.
INTARSIA_INLINE int32_t deep_together(int32_t taps) {
  return taps < kDeepMostTaps ? taps : taps == kDeepMostTaps + 1 ? 2 : kDeepMostTaps;
}

void intarsia_mve_deep_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int32_t *weights) {
  const int32_t stride = w->stride_w, width = w->strip_w, fours = width == kDeepFour ? 2 : 1;
  const int32_t phases = w->kernel_w < stride ? w->kernel_w : stride;
  const int32_t columns = width + (w->kernel_w - 1) / stride, four = columns * kDeepVector;
  const int32_t rows = w->kernel_h * ((w->in_c + kDeepVector - 1) / kDeepVector);
  const int32_t pitch = fours * four;
  struct deep_run runs[kDeepMostRuns + 1];
  struct deep_run *run = runs;
  for (int32_t phase = 0; phase < phases; ++phase) {
    const int8_t *plane = scratch + phase * rows * pitch;
    for (int32_t left = (w->kernel_w - phase - 1) / stride + 1; left > 0; ++run) {
      run->fours[0] = plane;
      run->fours[1] = plane + (fours == 2 ? four : (width - kDeepFour) * kDeepVector);
      run->planes = rows;
      run->pitch = pitch;
      run->taps = deep_together(left);
      plane += run->taps * kDeepVector;
      left -= run->taps;
    }
  }
  run->taps = 0;
  struct deep_block b;
  b.run = b.first = runs;
  for (int32_t pixel = 0; pixel < kDeepFour; ++pixel) b.places[pixel] = pixel * w->out_c;
  const int32_t image = w->in_h * w->in_w * w->in_c;
  int32_t filled = 0;  // of two fours that have columns of their own
  for (int32_t n = 0; n < w->batches; ++n, input += image) {
    for (int32_t oy = 0; oy < w->out_h; ++oy, output += w->out_w * w->out_c) {
      for (int32_t next = 0; next < w->out_w; next += width) {
        const int32_t ox = next + width > w->out_w ? w->out_w - width : next;
        const bool last = n == w->batches - 1 && oy == w->out_h - 1 && next + width >= w->out_w;
        deep_planes(w, input, oy * w->stride_h - w->pad_top, ox * stride - w->pad_left, width,
                    phases, pitch, scratch + filled * four);
        b.outputs[filled] = output + ox * w->out_c;
        if (fours == 1) {
          b.outputs[1] = b.outputs[0] + (width - kDeepFour) * w->out_c;
        } else if (filled == 0 && last) {  // alone: both fours are this one
          b.outputs[1] = b.outputs[0];
          for (run = runs; run->taps != 0; ++run) run->fours[1] = run->fours[0];
        } else if (++filled < 2) {
          continue;
        }
        filled = 0;
        b.weights = weights;
        b.channels = w->out_c;
        deep_channels(&b);
      }
    }
  }
  if (w->low != -128 || w->high != 127)
    intarsia_mve_clamp(output - w->batches * w->out_h * w->out_w * w->out_c,
                       w->batches * w->out_h * w->out_w * w->out_c, w->low, w->high);
}
