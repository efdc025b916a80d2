// Convolution on cores with Helium: VMLADAVA adds sixteen products to a register. Two pixels by four
// channels share their loads, 14 instructions for 128 products, and their eight sums take all even registers.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/mve_strip.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kVector = 16, kQuad = 4, kUnrolled = 4, kStepBytes = 14 * 4 + INTARSIA_LANDING_BYTES };

// Pixels whose results follow one another; the assembly knows the layout.
struct pixels {
  const int8_t *runs[2];  // of the two under way
  int32_t passes;         // through the unrolled loop
  uint32_t entry;         // where the first of them enters it
  int8_t *output;         // of the first of the two
  const int8_t *end;
  uint32_t skipped;  // bytes of the loop before the entry, and the bit of the instruction set
  int32_t zero;
  const int8_t *at;  // the next run
  int32_t in_row;    // rows left until the gap
  int32_t step;      // from a run to the next
  int32_t gap;       // bytes more after the last run of a row
  int32_t row;       // pixels of a row
  int32_t count;     // of pixels to come, an even number
  int32_t channels;
  int32_t general;  // mve_results.h
  const int8_t *weights;
  const int32_t *table;
  uint16_t offsets[8];  // of results from the output: channel by channel, both pixels
  int8_t low[kVector], high[kVector];
  uint32_t finish;         // where the way of results begins
  const int32_t *channel;  // of the table, where no register is left for it
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct pixels, passes) == 8 && offsetof(struct pixels, output) == 16 &&
                   offsetof(struct pixels, skipped) == 24 && offsetof(struct pixels, at) == 32 &&
                   offsetof(struct pixels, step) == 40 && offsetof(struct pixels, row) == 48 &&
                   offsetof(struct pixels, channels) == 56 &&
                   offsetof(struct pixels, weights) == 64 &&
                   offsetof(struct pixels, offsets) == 72 && offsetof(struct pixels, low) == 88 &&
                   offsetof(struct pixels, high) == 104 && offsetof(struct pixels, finish) == 120 &&
                   offsetof(struct pixels, channel) == 124,
               "the assembly's numbers");

// The table in r9, or in memory: before the loop by way of r7, after it by way of r1.
#if INTARSIA_FREE_R9
#define TABLE_FIRST "ldrd r5, r9, [r11, #64]\n"
#define TABLE_START            \
  "ldm r9, {r0, r2, r4, r6}\n" \
  "ldr r7, [r11, #8]\n"        \
  "ldm r9!, {r8, r10, r12, lr}\n"
#define TABLE "r9"
#define TABLE_LOAD
#define TABLE_STORE
#define TABLE_CLOBBER "r9",
#else
#define TABLE_FIRST           \
  "ldrd r5, r7, [r11, #64]\n" \
  "str r7, [r11, #124]\n"
#define TABLE_START               \
  "ldr r7, [r11, #124]\n"         \
  "ldm r7, {r0, r2, r4, r6}\n"    \
  "ldm r7!, {r8, r10, r12, lr}\n" \
  "str r7, [r11, #124]\n"         \
  "ldr r7, [r11, #8]\n"
#define TABLE "r1"
#define TABLE_LOAD "ldr r1, [r11, #124]\n"
#define TABLE_STORE "str r1, [r11, #124]\n"
#define TABLE_CLOBBER
#endif

INTARSIA_OUTLINE void all_pairs(struct pixels *pixels, int32_t steps) {
  (void)steps;
  register struct pixels *p __asm__("r11") = pixels;
  // Sums of the first pixel (r1) r0, r2, r4, r6; of the second (r3) r8, r10, r12, lr. Weights r5, passes r7.
#define STEP                  \
  INTARSIA_LANDING            \
  "vldrb.8 q0, [r5], #16\n"   \
  "vldrb.8 q4, [r1], #16\n"   \
  "vmladava.s8 r0, q0, q4\n"  \
  "vldrb.8 q5, [r3], #16\n"   \
  "vmladava.s8 r8, q0, q5\n"  \
  "vldrb.8 q1, [r5], #16\n"   \
  "vmladava.s8 r2, q1, q4\n"  \
  "vmladava.s8 r10, q1, q5\n" \
  "vldrb.8 q2, [r5], #16\n"   \
  "vmladava.s8 r4, q2, q4\n"  \
  "vmladava.s8 r12, q2, q5\n" \
  "vldrb.8 q3, [r5], #16\n"   \
  "vmladava.s8 r6, q3, q4\n"  \
  "vmladava.s8 lr, q3, q5\n"
#define NEXT_RUN      \
  "add r0, r0, r4\n"  \
  "subs r2, r2, #1\n" \
  "itt eq\n"          \
  "moveq r2, r8\n"    \
  "addeq r0, r0, r6\n"
  __asm__ volatile(
      INTARSIA_SAVE_R7 "ldrd r0, r2, [r11, #24]\n"
      "vdup.16 q6, r2\n"
      "vldrh.16 q7, [r11, #72]\n"
      "adr.w r1, 2f\n"
      "add r0, r0, r1\n"
      "str r0, [r11, #12]\n"
      "ldr r0, [r11, #60]\n"
      "adr.w r1, 3f\n"
      "adr.w r2, 4f\n"
      "cmp r0, #0\n"
      "it ne\n"
      "movne r1, r2\n"
      "orr r1, r1, #1\n"
      "str r1, [r11, #120]\n"
      // A pair of pixels.
      "0: ldrd r0, r2, [r11, #32]\n"
      "ldrd r4, r6, [r11, #40]\n"
      "ldr r8, [r11, #48]\n"
      "mov r1, r0\n" NEXT_RUN
      "mov r3, r0\n" NEXT_RUN
      "strd r1, r3, [r11]\n"
      "strd r0, r2, [r11, #32]\n"
      TABLE_FIRST
      // Four of its channels.
      "1: ldrd r1, r3, [r11]\n" TABLE_START "ldr pc, [r11, #12]\n"
      ".balign 4\n"  // makes the section so, which ADR stands on
      "2:\n" STEP STEP STEP STEP
      "subs r7, r7, #1\n"
      "bne.w 2b\n" TABLE_LOAD "vldrw.32 q2, [" TABLE "], #16\n"
      "vmov q0[2], q0[0], r0, r4\n"
      "vmov q0[3], q0[1], r2, r6\n"
      "vqrdmulh.s32 q0, q0, q2\n"
      "vmov q1[2], q1[0], r8, r12\n"
      "vmov q1[3], q1[1], r10, lr\n"
      "vqrdmulh.s32 q1, q1, q2\n"
      "vldrw.32 q2, [" TABLE "], #16\n" TABLE_STORE
      "ldr pc, [r11, #120]\n"
      "4:\n" INTARSIA_LANDING INTARSIA_MVE_FIX("q0", "q1", "q3")
      "vrshl.s32 q0, q0, q2\n"
      "vrshl.s32 q1, q1, q2\n" INTARSIA_MVE_NARROW("q0", "q1", "q6") INTARSIA_MVE_LIMIT("q0", "q4", "88", "104")
      "b.w 5f\n"
      "3:\n" INTARSIA_LANDING "vrshl.s32 q0, q0, q2\n"
      "vrshl.s32 q1, q1, q2\n" INTARSIA_MVE_NARROW("q0", "q1", "q6")
      "5: ldrd r0, r2, [r11, #16]\n"
      "subs r2, r2, r0\n"
      "vctp.32 r2\n"
      "vpst\n"
      "vstrbt.16 q0, [r0, q7]\n"
      "add r0, r0, #4\n"
      "str r0, [r11, #16]\n"
      "cmp r2, #4\n"
      "bgt.w 1b\n"
      "ldrd r6, r4, [r11, #52]\n"
      "ldr r0, [r11, #20]\n"
      "add r0, r0, r4\n"
      "add r2, r0, r4\n"
      "strd r0, r2, [r11, #16]\n"
      "subs r6, r6, #2\n"
      "str r6, [r11, #52]\n"
      "bgt.w 0b\n" INTARSIA_RESTORE_R7
      : "+r"(p)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", TABLE_CLOBBER "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4",
        "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
#undef NEXT_RUN
#undef STEP
}
#else
static void next_pair(struct pixels *p) {
  for (int32_t pixel = 0; pixel < 2; ++pixel) {
    p->runs[pixel] = p->at;
    p->at += p->step;
    if (--p->in_row == 0) p->in_row = p->row, p->at += p->gap;
  }
}

INTARSIA_OUTLINE void all_pairs(struct pixels *p, int32_t steps) {
  for (; p->count > 0; p->count -= 2, p->output += 2 * p->channels) {
    next_pair(p);
    for (int32_t c = 0; c < p->channels; ++c) {
      const int8_t *quad = p->weights + c / kQuad * steps * kQuad * kVector + c % kQuad * kVector;
      const int32_t *channel = p->table + c / kQuad * 3 * kQuad + c % kQuad;
      for (int32_t pixel = 0; pixel < 2; ++pixel) {
        int32_t sum = channel[0];
        for (int32_t i = 0; i < steps * kVector; ++i)
          sum += p->runs[pixel][i] * quad[i / kVector * kQuad * kVector + i % kVector];
        p->output[c + p->offsets[pixel]] =
            intarsia_mve_result(sum, channel[kQuad], channel[2 * kQuad], p->zero, p->general != 0,
                                p->low[0], p->high[0]);
      }
    }
  }
}
#endif

INTARSIA_INLINE void set_offsets(struct pixels *p, int32_t apart) {
  for (int32_t i = 0; i < 8; ++i) p->offsets[i] = (uint16_t)(i / 2 + i % 2 * apart);
}

// `count` pixels, row by row from the beginning of a row on. Returns where their results end.
INTARSIA_OUTLINE int8_t *all_pixels(struct pixels *p, int32_t count, int8_t *output,
                                    int32_t steps) {
  const int32_t channels = p->channels, single = count & 1;
  p->in_row = p->row;
  p->output = output;
  p->end = output + channels;
  p->count = count - single;
  if (p->count > 0) {
    set_offsets(p, channels);
    all_pairs(p, steps);
  }
  output += count * channels;
  if (single != 0) {  // the pair is it twice
    set_offsets(p, 0);
    p->output = output - channels;
    p->end = output;
    p->step = p->gap = 0;
    p->count = 2;
    all_pairs(p, steps);
  }
  return output;
}

// Runs as they lie in the input. Those at its end that cannot be read to a multiple of 16 bytes are copied,
// last pixel first; the others stay an even number.
static int8_t *runs_in_place(const struct intarsia_window *w, const int8_t *image, int8_t *output,
                             int8_t *scratch, struct pixels *p, int32_t steps) {
  const int32_t run = w->kernel_w * w->in_c, filled = steps * kVector;
  const int32_t step = w->stride_w * w->in_c, pitch = w->stride_h * w->in_w * w->in_c;
  const int32_t last = w->in_h * w->in_w * w->in_c - filled, count = w->out_h * w->out_w;
  int32_t copied = 0;
  for (int32_t y = w->out_h - 1, x = w->out_w - 1; copied < count; ++copied) {
    const int32_t at = y * pitch + x * step;
    if (at <= last && (copied == 0 || (count - copied) % 2 == 0)) break;
    intarsia_copy(scratch + copied * filled, image + at, run);
    if (--x < 0) x = w->out_w - 1, --y;
  }
  p->at = image;
  p->step = step;
  p->row = w->out_w;
  p->gap = pitch - w->out_w * step;
  output = all_pixels(p, count - copied, output, steps);
  p->at = scratch + (copied - 1) * filled;
  p->step = -filled;
  p->row = copied;
  p->gap = 0;
  return all_pixels(p, copied, output, steps);
}

static int8_t *runs_of_strips(const struct intarsia_window *w, const int8_t *image, int8_t *output,
                              int8_t *scratch, struct pixels *p, int32_t steps,
                              const uint8_t *offsets) {
  const int32_t column = w->kernel_h * w->in_c;
  for (int32_t oy = 0; oy < w->out_h; oy += w->strip_h) {
    const int32_t rows = w->out_h - oy < w->strip_h ? w->out_h - oy : w->strip_h;
    for (int32_t ox = 0; ox < w->out_w; ox += w->strip_w) {
      const int32_t in_row = w->out_w - ox < w->strip_w ? w->out_w - ox : w->strip_w;
      const int32_t columns = (in_row - 1) * w->stride_w + w->kernel_w;
      for (int32_t row = 0; row < rows; ++row)
        intarsia_strip(w, image, (oy + row) * w->stride_h - w->pad_top,
                       ox * w->stride_w - w->pad_left, columns, offsets,
                       scratch + row * columns * column);
      p->at = scratch;
      p->step = w->stride_w * column;
      p->row = in_row;
      p->gap = columns * column - in_row * p->step;
      output = all_pixels(p, rows * in_row, output, steps);
    }
  }
  return output;
}

void intarsia_mve_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  const int32_t steps = (w->kernel_h * w->kernel_w * w->in_c + kVector - 1) / kVector;
  struct pixels p;
  p.passes = (steps + kUnrolled - 1) / kUnrolled;
  p.skipped = (uint32_t)(p.passes * kUnrolled - steps) * kStepBytes | 1u;
  p.zero = w->out_zero;
  p.channels = w->out_c;
  p.general = intarsia_mve_is_general(w);
  p.weights = weights;
  p.table = channels;
  intarsia_mve_limits(w, p.low, p.high);
  uint8_t offsets[kStripLanes];
  const bool spread =
      w->strip_h > 0 && w->in_c <= kStripLanes / 2 && intarsia_strip_offsets(w, offsets);
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * w->in_c) {
    if (w->strip_h > 0)
      output = runs_of_strips(w, input, output, scratch, &p, steps, spread ? offsets : NULL);
    else
      output = runs_in_place(w, input, output, scratch, &p, steps);
  }
}
