// Convolution on cores with Helium: VMLADAVA adds sixteen products to a register. Two pixels by four
// channels share their loads, 14 instructions for 128 products, and their eight sums take all even registers.
#include "cortex_m/mve_conv.h"

#include <stddef.h>
#include <string.h>

#include "cortex_m/mve_results.h"
#include "cortex_m/mve_strip.h"
#include "cortex_m/optimise.h"

enum { kVector = 16, kQuad = 4, kUnrolled = 4, kStepBytes = 14 * 4 };

// Two pixels; the assembly knows the layout.
struct block {
  const int8_t *runs[2];
  int32_t passes;   // through the unrolled loop
  uint32_t entry;   // where the first of them enters it
  int8_t *output;   // of the first pixel
  const int8_t *end;
  uint32_t skipped;  // bytes of the loop before the entry, and the bit of the instruction set
  int32_t zero;
  uint16_t offsets[8];  // of results from the output: channel by channel, both pixels
  int8_t low[kVector], high[kVector];
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct block, passes) == 8 && offsetof(struct block, entry) == 12 &&
                   offsetof(struct block, output) == 16 && offsetof(struct block, skipped) == 24 &&
                   offsetof(struct block, offsets) == 32 && offsetof(struct block, low) == 48 &&
                   offsetof(struct block, high) == 64,
               "the assembly's numbers");
#endif

INTARSIA_INLINE void all_channels(struct block *block, const int8_t *weights, const int32_t *channels,
                                  int32_t steps, enum intarsia_mve_way way) {
#if INTARSIA_HAS_MVE
  (void)steps;
  register struct block *b __asm__("r11") = block;
  register const int8_t *weight __asm__("r5") = weights;
  register const int32_t *table __asm__("r9") = channels;
  // Sums of the first pixel (r1) r0, r2, r4, r6; of the second (r3) r8, r10, r12, lr.
#define STEP                   \
  "vldrb.8 q0, [r5], #16\n"    \
  "vldrb.8 q4, [r1], #16\n"    \
  "vmladava.s8 r0, q0, q4\n"   \
  "vldrb.8 q5, [r3], #16\n"    \
  "vmladava.s8 r8, q0, q5\n"   \
  "vldrb.8 q1, [r5], #16\n"    \
  "vmladava.s8 r2, q1, q4\n"   \
  "vmladava.s8 r10, q1, q5\n"  \
  "vldrb.8 q2, [r5], #16\n"    \
  "vmladava.s8 r4, q2, q4\n"   \
  "vmladava.s8 r12, q2, q5\n"  \
  "vldrb.8 q3, [r5], #16\n"    \
  "vmladava.s8 r6, q3, q4\n"   \
  "vmladava.s8 lr, q3, q5\n"
#define QUADS(fix, limit)                        \
  __asm__ volatile(                              \
      "ldrd r0, r2, [r11, #24]\n"                \
      "vldrh.16 q7, [r11, #32]\n"                \
      "adr.w r1, 2f\n"                           \
      "add r0, r0, r1\n"                         \
      "str r0, [r11, #12]\n"                     \
      "vdup.16 q6, r2\n"                         \
      "1: ldrd r1, r3, [r11]\n"                  \
      "ldm r9, {r0, r2, r4, r6}\n"               \
      "ldr r7, [r11, #8]\n"                      \
      "ldm r9!, {r8, r10, r12, lr}\n"            \
      "ldr pc, [r11, #12]\n"                     \
      "2:\n" STEP STEP STEP STEP                 \
      "subs r7, r7, #1\n"                        \
      "bne.w 2b\n"                               \
      "vldrw.32 q2, [r9], #16\n"                 \
      "vmov q0[2], q0[0], r0, r4\n"              \
      "vmov q0[3], q0[1], r2, r6\n"              \
      "vqrdmulh.s32 q0, q0, q2\n"                \
      "vmov q1[2], q1[0], r8, r12\n"             \
      "vmov q1[3], q1[1], r10, lr\n"             \
      "vqrdmulh.s32 q1, q1, q2\n"                \
      "vldrw.32 q2, [r9], #16\n" fix             \
      "vrshl.s32 q0, q0, q2\n"                   \
      "vrshl.s32 q1, q1, q2\n"                   \
      "ldrd r0, r2, [r11, #16]\n"                \
      INTARSIA_MVE_NARROW limit                  \
      "subs r2, r2, r0\n"                        \
      "vctp.32 r2\n"                             \
      "vpst\n"                                   \
      "vstrbt.16 q0, [r0, q7]\n"                 \
      "add r0, r0, #4\n"                         \
      "str r0, [r11, #16]\n"                     \
      "cmp r2, #4\n"                             \
      "bgt.w 1b\n"                               \
      : "+r"(b), "+r"(weight), "+r"(table)       \
      :                                          \
      : "r0", "r1", "r2", "r3", "r4", "r6", "r7", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", \
        "q5", "q6", "q7", "cc", "memory")
  if (way == INTARSIA_MVE_RECTIFIED) {
    QUADS("", "");
  } else if (way == INTARSIA_MVE_WHOLE) {
    QUADS(INTARSIA_MVE_FIX, "");
  } else {
    QUADS(INTARSIA_MVE_FIX, INTARSIA_MVE_LIMIT("48", "64"));
  }
#undef QUADS
#undef STEP
#else
  const int32_t count = (int32_t)(block->end - block->output);
  for (int32_t c = 0; c < count; ++c) {
    const int8_t *quad = weights + c / kQuad * steps * kQuad * kVector + c % kQuad * kVector;
    const int32_t *channel = channels + c / kQuad * 3 * kQuad + c % kQuad;
    for (int32_t pixel = 0; pixel < 2; ++pixel) {
      int32_t sum = channel[0];
      for (int32_t i = 0; i < steps * kVector; ++i)
        sum += block->runs[pixel][i] * quad[i / kVector * kQuad * kVector + i % kVector];
      block->output[c + block->offsets[pixel]] = intarsia_mve_result(
          sum, channel[kQuad], channel[2 * kQuad], block->zero, block->low[0], block->high[0], way);
    }
  }
#endif
}

// Pixels whose results follow one another in the output.
struct pixels {
  const int8_t *at;
  int32_t step;      // from a run to the next
  int32_t in_row;    // after so many of them
  int32_t gap;       // so many bytes more
  int32_t count;
  int8_t *output;
};

struct convolution {
  const struct intarsia_window *window;
  const int8_t *weights;
  const int32_t *channels;
  int32_t run, steps;
  const int8_t *last;  // no run after this one can be read to a multiple of 16 bytes
  int8_t *copies;      // of those that come after
  struct block block;
};

INTARSIA_INLINE void set_offsets(struct block *block, int32_t apart) {
  for (int32_t i = 0; i < 8; ++i) block->offsets[i] = (uint16_t)(i / 2 + i % 2 * apart);
}

INTARSIA_INLINE void all_pixels(struct convolution *c, struct pixels p, enum intarsia_mve_way way) {
  const int32_t out_c = c->window->out_c;
  int32_t x = 0;
  set_offsets(&c->block, out_c);
  for (; p.count > 0; p.count -= 2) {
    const int32_t pixels = p.count > 1 ? 2 : 1;
    for (int32_t i = 0; i < pixels; ++i) {
      c->block.runs[i] = p.at;
      if (p.at > c->last) {
        c->block.runs[i] = c->copies + i * c->steps * kVector;
        intarsia_copy(c->copies + i * c->steps * kVector, p.at, c->run);
      }
      p.at += p.step;
      if (++x == p.in_row) x = 0, p.at += p.gap;
    }
    if (pixels == 1) {
      c->block.runs[1] = c->block.runs[0];
      set_offsets(&c->block, 0);
    }
    c->block.output = p.output;
    c->block.end = p.output + out_c;
    all_channels(&c->block, c->weights, c->channels, c->steps, way);
    p.output += 2 * out_c;
  }
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch,
                              const int8_t *weights, const int32_t *channels, enum intarsia_mve_way way) {
  const int32_t column = w->kernel_h * w->in_c, run = w->kernel_w * column, step = w->stride_w * column;
  const int32_t steps = (run + kVector - 1) / kVector, image = w->in_h * w->in_w * w->in_c;
  struct convolution c = {.window = w, .weights = weights, .channels = channels, .run = run, .steps = steps};
  c.block.passes = (steps + kUnrolled - 1) / kUnrolled;
  c.block.skipped = (uint32_t)(c.block.passes * kUnrolled - steps) * kStepBytes | 1u;
  c.block.zero = w->out_zero;
  memset(c.block.low, w->low, sizeof c.block.low);
  memset(c.block.high, w->high, sizeof c.block.high);
  // Without strips, the image is one.
  const bool strips = w->strip_h > 0;
  const int32_t strip_h = strips ? w->strip_h : w->out_h, strip_w = strips ? w->strip_w : w->out_w;
  uint8_t offsets[kStripLanes];
  const bool spread = strips && w->in_c <= kStripLanes / 2 && intarsia_strip_offsets(w, offsets);
  c.copies = scratch;
  c.last = strips ? scratch + ((strip_w - 1) * w->stride_w + w->kernel_w) * column * strip_h
                  : input + w->batches * image - steps * kVector;
  for (int32_t n = 0; n < w->batches; ++n, input += image) {
    for (int32_t oy = 0; oy < w->out_h; oy += strip_h) {
      const int32_t rows = w->out_h - oy < strip_h ? w->out_h - oy : strip_h;
      for (int32_t ox = 0; ox < w->out_w; ox += strip_w) {
        const int32_t in_row = w->out_w - ox < strip_w ? w->out_w - ox : strip_w;
        struct pixels p = {input, step, in_row, w->stride_h * w->in_w * w->in_c - in_row * step, rows * in_row, output};
        if (strips) {
          const int32_t columns = (in_row - 1) * w->stride_w + w->kernel_w;
          for (int32_t row = 0; row < rows; ++row)
            intarsia_strip(w, input, (oy + row) * w->stride_h - w->pad_top, ox * w->stride_w - w->pad_left, columns,
                           spread ? offsets : NULL, scratch + row * columns * column);
          p.at = scratch;
          p.gap = columns * column - in_row * step;
        }
        all_pixels(&c, p, way);
        output += p.count * w->out_c;
      }
    }
  }
}

#define INTARSIA_DEFINE(name, way)                                                                   \
  void intarsia_mve_conv##name##_s8(const struct intarsia_window *w, const int8_t *input,            \
                                    int8_t *output, int8_t *scratch, const int8_t *weights,          \
                                    const int32_t *channels) {                                       \
    convolve(w, input, output, scratch, weights, channels, way);                                     \
  }
INTARSIA_DEFINE(_rectified, INTARSIA_MVE_RECTIFIED)
INTARSIA_DEFINE(, INTARSIA_MVE_WHOLE)
INTARSIA_DEFINE(_limited, INTARSIA_MVE_LIMITED)
