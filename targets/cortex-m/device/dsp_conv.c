// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and two output channels at once are dot products with four such
// columns. Pixels that are left over go one by one.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_four.h"
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
#define INTARSIA_WIDEN              \
  "ldr %[odd], [%[from]], #4\n"     \
  "sxtb16 %[even], %[odd]\n"        \
  "sxtb16 %[odd], %[odd], ror #8\n" \
  "str %[even], [%[to]], #16\n"     \
  "str %[odd], [%[to]], #16\n"
  __asm__ volatile(
      "subs %[words], #4\n"
      "blt 2f\n"
      "1:\n" INTARSIA_WIDEN INTARSIA_WIDEN INTARSIA_WIDEN INTARSIA_WIDEN
      "subs %[words], #4\n"
      "bge 1b\n"
      "2: adds %[words], #4\n"
      "beq 4f\n"
      "3:\n" INTARSIA_WIDEN
      "subs %[words], #1\n"
      "bne 3b\n"
      "4:\n"
      : [to] "+r"(column), [from] "+r"(from), [words] "+r"(words), [even] "=&r"(even),
        [odd] "=&r"(odd)
      :
      : "cc", "memory");
#undef INTARSIA_WIDEN
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
// A unit is a group of four elements: two words. Eight of them in the loop.
// clang-format off
#define INTARSIA_UNIT INTARSIA_WORD(4, 8, 12, "[r1], #16") INTARSIA_WORD(4, 8, 12, "[r1], #16")
#define INTARSIA_FIRST_UNIT INTARSIA_FIRST_WORD(4, 8, 12, "[r1], #16") INTARSIA_WORD(4, 8, 12, "[r1], #16")
#define INTARSIA_UNITS                                                                 \
  "50:\n" INTARSIA_UNIT "51:\n" INTARSIA_UNIT "52:\n" INTARSIA_UNIT "53:\n" INTARSIA_UNIT \
  "54:\n" INTARSIA_UNIT "55:\n" INTARSIA_UNIT "56:\n" INTARSIA_UNIT "57:\n" INTARSIA_UNIT
#define INTARSIA_ENTRIES                                                               \
  ".short (50f-4b)/2, (51f-4b)/2, (52f-4b)/2, (53f-4b)/2, (54f-4b)/2, (55f-4b)/2, (56f-4b)/2, (57f-4b)/2, (3f-4b)/2\n"
#define INTARSIA_FOUR(suffix, way, result, limit)                                                     \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40(                                                    \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,                       \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) {               \
    const struct four_pixels work = intarsia_four_pixels(w, columns, columns + 8 * groups, output, channels, groups, 8); \
    INTARSIA_FOUR_PIXELS(work, weights, channels, INTARSIA_FIRST_UNIT, INTARSIA_UNITS, INTARSIA_ENTRIES, result, limit); \
  }
// clang-format on
#else
#define INTARSIA_FOUR(suffix, way, result, limit)                                       \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40(                                      \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,         \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) { \
    pixels_by_four(w, columns, output, weights, channels, groups, way);                 \
  }
#endif

INTARSIA_FOUR(whole, INTARSIA_WHOLE, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_FOUR_RECTIFIED, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(limited, INTARSIA_LIMITED, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_LIMITED)
INTARSIA_OUTLINE void four_any_pushes_40(const struct intarsia_window *w, const uint32_t *columns,
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
    convolve(window, input, output, scratch, weights, channels, four_##suffix##_pushes_40,      \
             one_##suffix);                                                                     \
  }

INTARSIA_KERNEL(intarsia_dsp_conv_s8, whole, INTARSIA_WHOLE)
INTARSIA_KERNEL(intarsia_dsp_conv_rectified_s8, rectified, INTARSIA_RECTIFIED)
INTARSIA_KERNEL(intarsia_dsp_conv_limited_s8, limited, INTARSIA_LIMITED)
INTARSIA_KERNEL(intarsia_dsp_conv_any_s8, any, INTARSIA_ANY)
