// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and two output channels at once are dot products with four such
// columns. Pixels that are left over go one by one.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

// `words` words of four elements each into one of `pixels` columns that stand side by side.
INTARSIA_OUTLINE uint32_t *expand(uint32_t *column, const int8_t *from, int32_t words,
                                  int32_t pixels) {
  for (; words > 0; --words, from += 4, column += 2 * pixels) {
    const uint32_t word = intarsia_load_word(from);
    column[0] = intarsia_even_pair(word);
    column[pixels] = intarsia_odd_pair(word);
  }
  return column;
}

// The same into one of four columns.
INTARSIA_INLINE uint32_t *expand_words(uint32_t *column, const int8_t *from, int32_t words) {
#if INTARSIA_HAS_DSP_WORDS
  uint32_t even, odd;
#define INTARSIA_WORD               \
  "ldr %[odd], [%[from]], #4\n"     \
  "sxtb16 %[even], %[odd]\n"        \
  "sxtb16 %[odd], %[odd], ror #8\n" \
  "str %[even], [%[to]], #16\n"     \
  "str %[odd], [%[to]], #16\n"
  __asm__ volatile(
      "subs %[words], #4\n"
      "blt 2f\n"
      "1:\n" INTARSIA_WORD INTARSIA_WORD INTARSIA_WORD INTARSIA_WORD
      "subs %[words], #4\n"
      "bge 1b\n"
      "2: adds %[words], #4\n"
      "beq 4f\n"
      "3:\n" INTARSIA_WORD
      "subs %[words], #1\n"
      "bne 3b\n"
      "4:\n"
      : [to] "+r"(column), [from] "+r"(from), [words] "+r"(words), [even] "=&r"(even),
        [odd] "=&r"(odd)
      :
      : "cc", "memory");
#undef INTARSIA_WORD
  return column;
#else
  return expand(column, from, words, 4);
#endif
}

// The column of one output pixel. Windows that reach over an edge, or whose rows are not made of words, are
// copied first.
INTARSIA_OUTLINE void gather(const struct intarsia_window *w, const struct intarsia_place *at,
                             uint32_t *column, int32_t pixels, int8_t *window) {
  const int32_t run = w->kernel_w * w->in_c;
  const int32_t x = at->x * w->stride_w - w->pad_left, y = at->y * w->stride_h - w->pad_top;
  const int8_t *row = window;
  int32_t rows = 1, words = (w->kernel_h * run + 3) / 4, pitch = 0;
  if (run % 4 == 0 && x >= 0 && x + w->kernel_w <= w->in_w && y >= 0 &&
      y + (w->kernel_h - 1) * w->dilation_h < w->in_h) {
    row = at->image + (y * w->in_w + x) * w->in_c;
    rows = w->kernel_h, words = run / 4, pitch = w->dilation_h * w->in_w * w->in_c;
  } else {
    intarsia_gather(w, at, window);
  }
  for (; rows > 0; --rows, row += pitch)
    column = pixels == 4 ? expand_words(column, row, words) : expand(column, row, words, pixels);
}

// What the assembly of four pixels works on; its registers are taken.
struct four_pixels {
  const struct intarsia_channel *channels;
  int8_t *output;
  int32_t out_c;
  const int8_t *weights;
  const uint32_t *columns;
  int32_t left;  // channels
  int32_t low, high;
  const uint32_t *end_of_fours, *end;  // of the columns: of four groups at a time, and of all
};

INTARSIA_INLINE void pixels_by_four(const struct intarsia_window *w, const uint32_t *columns,
                                    int8_t *output, const int8_t *weights,
                                    const struct intarsia_channel *channels, int32_t groups,
                                    enum intarsia_way way) {
  const int32_t out_c = w->out_c, low = w->low, high = w->high;
  for (int32_t left = out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    // Before the stores: the compiler cannot know that they leave the table alone.
    const struct intarsia_channel both[2] = {channels[0], channels[1]};
    int32_t sums[8];
    for (int32_t i = 0; i < 8; ++i) sums[i] = both[i / 4].bias;
    intarsia_dot_2x4(columns, weights, groups, sums);
    for (int32_t c = 0; c < 2 && c < left; ++c, ++output)
      for (int32_t pixel = 0; pixel < 4; ++pixel)
        output[pixel * out_c] = intarsia_result(sums[4 * c + pixel], &both[c], low, high, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// The quick ways. On the stack: the ends of the columns, which no register is left for, and what is worked on (r5 at the
// beginning). Sums r6-r9 of the first channel and r10-r12, lr of the second; the channel's multiplier, rounding and
// shift r3-r5.
#define INTARSIA_NO_LIMIT(a, b, c, d)
#define INTARSIA_LIMITS(a, b, c, d)                                                   \
  "ldr.w r5, [sp, #8]\n"                                                              \
  "ldr.w r3, [r5, #24]\n"                                                             \
  "ldr.w r4, [r5, #28]\n" INTARSIA_LIMIT(a, "r3", "r4") INTARSIA_LIMIT(b, "r3", "r4") \
      INTARSIA_LIMIT(c, "r3", "r4") INTARSIA_LIMIT(d, "r3", "r4")
#define INTARSIA_RESULTS(result, a, b, c, d)                                          \
  result(a, "r3", "r4", "r5") result(b, "r3", "r4", "r5") result(c, "r3", "r4", "r5") \
      result(d, "r3", "r4", "r5")
#define INTARSIA_FOUR_PIXELS(result, limit)                                  \
  const uint32_t *const end = columns + 8 * groups;                          \
  struct four_pixels work = {channels, output,  w->out_c,                    \
                             weights,  columns, w->out_c,                    \
                             w->low,   w->high, columns + 8 * (groups & ~3), \
                             end};                                           \
  register struct four_pixels *at __asm__("r5") = &work;                     \
  __asm__ volatile(                                                                                         \
      INTARSIA_SAVE_R7                                                                                      \
      "ldr.w r3, [r5, #32]\n"                                                                               \
      "ldr.w r4, [r5, #36]\n"                                                                               \
      "push {r3, r4, r5}\n"                                                                                 \
      "1: ldr.w r2, [r5]\n"                                                                                 \
      "ldr.w r0, [r5, #12]\n"                                                                               \
      "ldr.w r1, [r5, #16]\n"                                                                               \
      "ldr.w r6, [r2]\n"                                                                                    \
      "ldr.w r10, [r2, #16]\n"                                                                              \
      "ldr.w r4, [sp]\n"                                                                                    \
      "mov.w r7, r6\n"                                                                                      \
      "mov.w r8, r6\n"                                                                                      \
      "mov.w r9, r6\n"                                                                                      \
      "mov.w r11, r10\n"                                                                                    \
      "mov.w r12, r10\n"                                                                                    \
      "mov.w lr, r10\n"                                                                                     \
      "cmp.w r1, r4\n"                                                                                      \
      "beq.w 3f\n"                                                                                          \
      ".balign 4\n"                                                                                         \
      "2:\n" INTARSIA_WORD_2X4 INTARSIA_WORD_2X4 INTARSIA_WORD_2X4 INTARSIA_WORD_2X4                        \
          INTARSIA_WORD_2X4 INTARSIA_WORD_2X4 INTARSIA_WORD_2X4 INTARSIA_WORD_2X4                           \
      "ldr.w r4, [sp]\n"                                                                                    \
      "cmp.w r1, r4\n"                                                                                      \
      "bne.w 2b\n"                                                                                          \
      "3: ldr.w r4, [sp, #4]\n"                                                                             \
      "cmp.w r1, r4\n"                                                                                      \
      "beq.w 5f\n"                                                                                          \
      "4:\n" INTARSIA_WORD_2X4 INTARSIA_WORD_2X4                                                            \
      "ldr.w r4, [sp, #4]\n"                                                                                \
      "cmp.w r1, r4\n"                                                                                      \
      "bne.w 4b\n"                                                                                          \
      "5: ldr.w r5, [sp, #8]\n"                                                                             \
      "str.w r0, [r5, #12]\n"                                                                               \
      "ldr.w r0, [r5]\n"                                                                                    \
      "ldr.w r1, [r5, #4]\n"                                                                                \
      "ldr.w r2, [r5, #8]\n"                                                                                \
      "ldr.w r3, [r0, #4]\n"                                                                                \
      "ldr.w r4, [r0, #8]\n"                                                                                \
      "ldr.w r5, [r0, #12]\n"                                                                               \
      INTARSIA_RESULTS(result, "r6", "r7", "r8", "r9") limit("r6", "r7", "r8", "r9")                        \
      "ldr.w r3, [r0, #20]\n"                                                                               \
      "ldr.w r4, [r0, #24]\n"                                                                               \
      "ldr.w r5, [r0, #28]\n"                                                                               \
      INTARSIA_RESULTS(result, "r10", "r11", "r12", "lr") limit("r10", "r11", "r12", "lr")                  \
      "add.w r3, r1, r2\n"                                                                                  \
      "add.w r4, r1, r2, lsl #1\n"                                                                          \
      "add.w r5, r3, r2, lsl #1\n"                                                                          \
      "strb.w r6, [r1]\n"                                                                                   \
      "strb.w r7, [r3]\n"                                                                                   \
      "ldr.w r2, [sp, #8]\n"                                                                                \
      "strb.w r8, [r4]\n"                                                                                   \
      "strb.w r9, [r5]\n"                                                                                   \
      "ldr.w r6, [r2, #20]\n"                                                                               \
      "add.w r0, r0, #32\n"                                                                                 \
      "subs.w r6, r6, #2\n"                                                                                 \
      "blt.w 6f\n"                                                                                          \
      "strb.w r10, [r1, #1]\n"                                                                              \
      "strb.w r11, [r3, #1]\n"                                                                              \
      "strb.w r12, [r4, #1]\n"                                                                              \
      "strb.w lr, [r5, #1]\n"                                                                               \
      "str.w r6, [r2, #20]\n"                                                                               \
      "add.w r1, r1, #2\n"                                                                                  \
      "mov.w r5, r2\n"                                                                                      \
      "strd r0, r1, [r2]\n"                                                                                 \
      "bgt.w 1b\n"                                                                                          \
      "6: add sp, sp, #12\n"                                                                                \
      INTARSIA_RESTORE_R7                                                                                   \
      : "+r"(at)                                                                                            \
      :                                                                                                     \
      : "r0", "r1", "r2", "r3", "r4", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
#endif

#if INTARSIA_HAS_DSP_LOOPS
#define INTARSIA_FOUR(suffix, way, result, limit)                                       \
  INTARSIA_OUTLINE void four_##suffix##_pushes_16(                                      \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,         \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) { \
    INTARSIA_FOUR_PIXELS(result, limit);                                                \
  }
#else
#define INTARSIA_FOUR(suffix, way, result, limit)                                       \
  INTARSIA_OUTLINE void four_##suffix##_pushes_16(                                      \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,         \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) { \
    pixels_by_four(w, columns, output, weights, channels, groups, way);                 \
  }
#endif

INTARSIA_FOUR(whole, INTARSIA_WHOLE, INTARSIA_RESULT, INTARSIA_NO_LIMIT)
INTARSIA_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_RECTIFIED_RESULT, INTARSIA_NO_LIMIT)
INTARSIA_FOUR(limited, INTARSIA_LIMITED, INTARSIA_RESULT, INTARSIA_LIMITS)
INTARSIA_OUTLINE void four_any_pushes_16(const struct intarsia_window *w, const uint32_t *columns,
                                         int8_t *output, const int8_t *weights,
                                         const struct intarsia_channel *channels, int32_t groups) {
  pixels_by_four(w, columns, output, weights, channels, groups, INTARSIA_ANY);
}

// One for all ways from sums to results.
INTARSIA_OUTLINE void two_channels(const uint32_t *column, const int8_t *weights, int32_t groups,
                                   int32_t sums[2]) {
  intarsia_dot_2x1(column, weights, groups, sums);
}

INTARSIA_INLINE void one_pixel(const struct intarsia_window *w, const uint32_t *column,
                               int8_t *output, const int8_t *weights,
                               const struct intarsia_channel *channels, int32_t groups,
                               enum intarsia_way way) {
  const int32_t low = w->low, high = w->high;
  for (int32_t left = w->out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    int32_t sums[2] = {channels[0].bias, channels[1].bias};
    two_channels(column, weights, groups, sums);
    *output++ = intarsia_result(sums[0], channels, low, high, way);
    if (left > 1) *output++ = intarsia_result(sums[1], channels + 1, low, high, way);
  }
}

typedef void pixels_function(const struct intarsia_window *w, const uint32_t *columns,
                             int8_t *output, const int8_t *weights,
                             const struct intarsia_channel *channels, int32_t groups);

// Windows on their way into columns.
struct staging {
  const struct intarsia_window *w;
  struct intarsia_place at;
  uint32_t *columns;
  int8_t *window;  // one as it is, where it has to be copied first
  int32_t groups;
  bool plain;  // rows of pixels as they are
};

// The number of pixels.
INTARSIA_OUTLINE int32_t start(struct staging *s, const struct intarsia_window *w,
                               const int8_t *input, int8_t *scratch) {
  const int32_t pixels = w->batches * w->out_h * w->out_w;
  s->w = w;
  s->at = (struct intarsia_place){input, 0, 0};
  s->columns = (uint32_t *)(void *)scratch;
  s->groups = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4;
  s->window = scratch + (pixels < 4 ? 8 : 32) * s->groups;
  s->plain = w->kernel_h == 1 && w->kernel_w == 1 && w->stride_w == 1 && w->out_h == 1 &&
             w->batches == 1 && w->pad_left == 0 && w->in_w == w->out_w && w->in_c % 4 == 0;
  return pixels;
}

INTARSIA_OUTLINE void stage_four(struct staging *s) {
  if (s->plain) {
    const int8_t *from = s->at.image + s->at.x * s->w->in_c;
    for (int32_t i = 0; i < 4; ++i, from += s->w->in_c)
      expand_words(s->columns + i, from, s->groups);
    s->at.x += 4;
    return;
  }
  for (int32_t i = 0; i < 4; ++i, intarsia_advance(s->w, &s->at))
    gather(s->w, &s->at, s->columns + i, 4, s->window);
}

INTARSIA_OUTLINE void stage_one(struct staging *s) {
  gather(s->w, &s->at, s->columns, 1, s->window);
  intarsia_advance(s->w, &s->at);
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              pixels_function *four, pixels_function *one) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  struct staging s;
  int32_t pixels = start(&s, w, input, scratch);
  for (; pixels >= 4; pixels -= 4, output += 4 * w->out_c) {
    stage_four(&s);
    four(w, s.columns, output, weights, channels, s.groups);
  }
  for (; pixels > 0; --pixels, output += w->out_c) {
    stage_one(&s);
    one(w, s.columns, output, weights, channels, s.groups);
  }
}

#define INTARSIA_KERNEL(name, suffix, way)                                                      \
  INTARSIA_OUTLINE void one_##suffix(const struct intarsia_window *w, const uint32_t *columns,  \
                                     int8_t *output, const int8_t *weights,                     \
                                     const struct intarsia_channel *channels, int32_t groups) { \
    one_pixel(w, columns, output, weights, channels, groups, way);                              \
  }                                                                                             \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output,          \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {                  \
    convolve(window, input, output, scratch, weights, channels, four_##suffix##_pushes_16,      \
             one_##suffix);                                                                     \
  }

INTARSIA_KERNEL(intarsia_dsp_conv_s8, whole, INTARSIA_WHOLE)
INTARSIA_KERNEL(intarsia_dsp_conv_rectified_s8, rectified, INTARSIA_RECTIFIED)
INTARSIA_KERNEL(intarsia_dsp_conv_limited_s8, limited, INTARSIA_LIMITED)
INTARSIA_KERNEL(intarsia_dsp_conv_any_s8, any, INTARSIA_ANY)
