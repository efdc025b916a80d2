// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and every output channel is a dot product with four such
// columns at once. Pixels that are left over go one by one, two channels at once.
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
  const uint32_t *columns;
  int32_t groups, left;
  const int8_t *weights;
  int32_t low, high;
};

INTARSIA_INLINE void pixels_by_four(const struct intarsia_window *w, const uint32_t *columns,
                                    int8_t *output, const int8_t *weights,
                                    const struct intarsia_channel *channels, int32_t groups,
                                    enum intarsia_way way) {
  const int32_t out_c = w->out_c, low = w->low, high = w->high;
  for (const struct intarsia_channel *end = channels + out_c; channels != end;
       ++channels, ++output) {
    int32_t sums[4];
    intarsia_dot_1x4(columns, weights, groups, channels->bias, sums);
    weights += 4 * groups;
    // Before the stores: the compiler cannot know that they leave the table alone.
    const struct intarsia_channel channel = *channels;
    output[0] = intarsia_result(sums[0], &channel, low, high, way);
    output[out_c] = intarsia_result(sums[1], &channel, low, high, way);
    output[2 * out_c] = intarsia_result(sums[2], &channel, low, high, way);
    output[3 * out_c] = intarsia_result(sums[3], &channel, low, high, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// The quick ways: sums r8-r11, weights r7, columns r12, groups left lr; then limits r1, lr.
#define INTARSIA_NO_LIMIT(sum)
#define INTARSIA_LIMITS(sum) INTARSIA_LIMIT(sum, "r1", "lr")
#define INTARSIA_FOUR_PIXELS(result, limit)                                \
  struct four_pixels work = {channels, output,  w->out_c, columns, groups, \
                             w->out_c, weights, w->low,   w->high};        \
  register struct four_pixels *at __asm__("r0") = &work;                   \
  __asm__ volatile(                                                                               \
      INTARSIA_SAVE_R7 "ldr r7, [r0, #24]\n"                                                                       \
      "1: ldr r5, [r0]\n"                                                                         \
      "ldr r12, [r0, #12]\n"                                                                      \
      "ldr lr, [r0, #16]\n"                                                                       \
      "ldr r8, [r5]\n"                                                                            \
      "mov r9, r8\n"                                                                              \
      "mov r10, r8\n"                                                                             \
      "mov r11, r8\n"                                                                             \
      "subs lr, lr, #4\n"                                                                         \
      "blt 3f\n"                                                                                  \
      "2:\n" INTARSIA_GROUP_1X4 INTARSIA_GROUP_1X4 INTARSIA_GROUP_1X4 INTARSIA_GROUP_1X4          \
      "subs lr, lr, #4\n"                                                                         \
      "bge 2b\n"                                                                                  \
      "3: adds lr, lr, #4\n"                                                                      \
      "beq 5f\n"                                                                                  \
      "4:\n" INTARSIA_GROUP_1X4                                                                   \
      "subs lr, lr, #1\n"                                                                         \
      "bne 4b\n"                                                                                  \
      "5: ldr r5, [r0]\n"                                                                         \
      "ldrd r6, r12, [r0, #4]\n"                                                                  \
      "ldmia r5!, {r1, r2, r3, r4}\n"                                                             \
      "add lr, r6, #1\n"                                                                          \
      "strd r5, lr, [r0]\n"                                                                       \
      "ldrd r1, lr, [r0, #28]\n"                                                                  \
      result("r8", "r2", "r3", "r4") limit("r8")                                                  \
      "strb r8, [r6]\n"                                                                           \
      result("r9", "r2", "r3", "r4") limit("r9")                                                  \
      "strb r9, [r6, r12]\n"                                                                      \
      result("r10", "r2", "r3", "r4") limit("r10")                                                \
      "add r6, r6, r12, lsl #1\n"                                                                 \
      "strb r10, [r6]\n"                                                                          \
      result("r11", "r2", "r3", "r4") limit("r11")                                                \
      "strb r11, [r6, r12]\n"                                                                     \
      "ldr r1, [r0, #20]\n"                                                                       \
      "subs r1, r1, #1\n"                                                                         \
      "str r1, [r0, #20]\n"                                                                       \
      "bne 1b\n" INTARSIA_RESTORE_R7 \
      : "+r"(at)                                                                                  \
      :                                                                                           \
      : "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
#endif

#if INTARSIA_HAS_DSP_LOOPS
#define INTARSIA_FOUR(suffix, way, result, limit)                                                \
  INTARSIA_OUTLINE void four_##suffix(const struct intarsia_window *w, const uint32_t *columns,  \
                                      int8_t *output, const int8_t *weights,                     \
                                      const struct intarsia_channel *channels, int32_t groups) { \
    INTARSIA_FOUR_PIXELS(result, limit);                                                         \
  }
#else
#define INTARSIA_FOUR(suffix, way, result, limit)                                                \
  INTARSIA_OUTLINE void four_##suffix(const struct intarsia_window *w, const uint32_t *columns,  \
                                      int8_t *output, const int8_t *weights,                     \
                                      const struct intarsia_channel *channels, int32_t groups) { \
    pixels_by_four(w, columns, output, weights, channels, groups, way);                          \
  }
#endif

INTARSIA_FOUR(whole, INTARSIA_WHOLE, INTARSIA_RESULT, INTARSIA_NO_LIMIT)
INTARSIA_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_RECTIFIED_RESULT, INTARSIA_NO_LIMIT)
INTARSIA_FOUR(limited, INTARSIA_LIMITED, INTARSIA_RESULT, INTARSIA_LIMITS)
INTARSIA_OUTLINE void four_any(const struct intarsia_window *w, const uint32_t *columns,
                               int8_t *output, const int8_t *weights,
                               const struct intarsia_channel *channels, int32_t groups) {
  pixels_by_four(w, columns, output, weights, channels, groups, INTARSIA_ANY);
}

// One for all ways from sums to results.
INTARSIA_OUTLINE void two_channels(const uint32_t *column, const int8_t *first,
                                   const int8_t *second, int32_t groups, int32_t sums[2]) {
  intarsia_dot_2x1(column, first, second, groups, sums);
}

INTARSIA_INLINE void one_pixel(const struct intarsia_window *w, const uint32_t *column,
                               int8_t *output, const int8_t *weights,
                               const struct intarsia_channel *channels, int32_t groups,
                               enum intarsia_way way) {
  const int32_t low = w->low, high = w->high;
  for (int32_t left = w->out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    const int32_t second = left > 1 ? 1 : 0;  // the last of an odd number goes twice
    int32_t sums[2] = {channels[0].bias, channels[second].bias};
    two_channels(column, weights, weights + second * 4 * groups, groups, sums);
    *output++ = intarsia_result(sums[0], channels, low, high, way);
    if (second != 0) *output++ = intarsia_result(sums[1], channels + 1, low, high, way);
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
    convolve(window, input, output, scratch, weights, channels, four_##suffix, one_##suffix);   \
  }

INTARSIA_KERNEL(intarsia_dsp_conv_s8, whole, INTARSIA_WHOLE)
INTARSIA_KERNEL(intarsia_dsp_conv_rectified_s8, rectified, INTARSIA_RECTIFIED)
INTARSIA_KERNEL(intarsia_dsp_conv_limited_s8, limited, INTARSIA_LIMITED)
INTARSIA_KERNEL(intarsia_dsp_conv_any_s8, any, INTARSIA_ANY)
