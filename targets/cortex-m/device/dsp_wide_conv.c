// Convolution of int16 activations on cores with the DSP extension, as dsp_conv.c: the windows of four pixels side by side in
// scratch, and two channels at once are dot products with all of them. Elements are halfwords already and stay in order; weights
// have those of a word in the bytes that SXTB16 takes together.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/clamp.h"
#include "intarsia/targets/cortex_m/dsp_four.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/wide_dot.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

enum { kWidePixels = 4 };

// Elements into every fourth word from `column` on, two in each; of an odd number the last word's other half is zero. Returns where
// the next row begins.
INTARSIA_OUTLINE uint32_t *wide_spread(uint32_t *column, const int16_t *from, int32_t count) {
  for (; count >= 8; count -= 8, from += 8, column += 4 * kWidePixels) {
    column[0] = intarsia_load_halves(from);
    column[4] = intarsia_load_halves(from + 2);
    column[8] = intarsia_load_halves(from + 4);
    column[12] = intarsia_load_halves(from + 6);
  }
  for (; count >= 2; count -= 2, from += 2, column += kWidePixels)
    *column = intarsia_load_halves(from);
  if (count == 0) return column;
  *column = (uint16_t)*from;
  return column + kWidePixels;
}

INTARSIA_INLINE uint32_t *wide_zeros(uint32_t *column, int32_t words) {
  for (; words > 0; --words, column += kWidePixels) *column = 0;
  return column;
}

// `words` words of four pixels, `step` elements apart; words > 0.
INTARSIA_OUTLINE uint32_t *wide_spread_four(uint32_t *columns, const int16_t *from, int32_t step,
                                            int32_t words) {
#if INTARSIA_HAS_DSP_WORDS
  const int16_t *last = from + 3 * step;
  uint32_t a, b, c, d;
  __asm__ volatile(
      ".balign 4\n"
      "1: ldr.w %[a], [%[from]]\n"
      "ldr.w %[b], [%[from], %[step]]\n"
      "ldr.w %[c], [%[from], %[step], lsl #1]\n"
      "ldr.w %[d], [%[last]], #4\n"
      "add.w %[from], %[from], #4\n"
      "subs.w %[words], %[words], #1\n"
      "str.w %[a], [%[to]], #16\n"
      "str %[b], [%[to], #-12]\n"
      "str %[c], [%[to], #-8]\n"
      "str %[d], [%[to], #-4]\n"
      "bne.w 1b\n"
      : [to] "+r"(columns), [from] "+r"(from), [last] "+r"(last), [words] "+r"(words), [a] "=&r"(a),
        [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
      : [step] "r"(2 * step)
      : "cc", "memory");
  return columns;
#else
  for (int32_t pixel = 0; pixel < kWidePixels; ++pixel)
    (void)wide_spread(columns + pixel, from + pixel * step, 2 * words);
  return columns + kWidePixels * words;
#endif
}

struct wide_staging {
  const struct intarsia_window *w;
  const int16_t *image;
  int32_t y, x;  // of the output
  uint32_t *columns;
  int16_t *row;   // one of a window, where it has to be put together first
  int32_t words;  // of a pixel
};

INTARSIA_INLINE void wide_advance(struct wide_staging *s, int32_t pixels) {
  const struct intarsia_window *w = s->w;
  s->x += pixels;
  if (s->x < w->out_w) return;
  s->x = 0;
  if (++s->y < w->out_h) return;
  s->y = 0;
  s->image += w->in_h * w->in_w * w->in_c;
}

// Zeros, elements and zeros, which need not begin or end with a word.
INTARSIA_OUTLINE uint32_t *wide_edge(const struct wide_staging *s, uint32_t *column,
                                     const int16_t *row, int32_t before, int32_t count) {
  const int32_t all = s->w->kernel_w * s->w->in_c;
  int16_t *padded = s->row;
  int8_t *to = intarsia_fill((int8_t *)padded, 0, 2 * before);
  to = intarsia_copy(to, (const int8_t *)(row + before), 2 * count);
  (void)intarsia_fill(to, 0, 2 * (all - before - count));
  return wide_spread(column, padded, all);
}

INTARSIA_OUTLINE void wide_gather(const struct wide_staging *s, uint32_t *column) {
  const struct intarsia_window *w = s->w;
  const int32_t channels = w->in_c, all = w->kernel_w * channels;
  const int32_t x = s->x * w->stride_w - w->pad_left;
  const int32_t first = intarsia_clamp_i32(-x, 0, w->kernel_w);
  const int32_t last = intarsia_clamp_i32(w->in_w - x, first, w->kernel_w);
  const uint32_t *end = column + kWidePixels * s->words;
  int32_t y = s->y * w->stride_h - w->pad_top;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, y += w->dilation_h) {
    const int16_t *row = s->image + (y * w->in_w + x) * channels;
    if (y < 0 || y >= w->in_h)
      column = wide_zeros(column, (all + 1) / 2);
    else if (first == 0 && last == w->kernel_w)
      column = wide_spread(column, row, all);
    else
      column = wide_edge(s, column, row, first * channels, (last - first) * channels);
  }
  (void)wide_zeros(column, (int32_t)(end - column) / kWidePixels);
}

// Windows of one row of outputs, beside no edge.
INTARSIA_INLINE bool wide_together(struct wide_staging *s) {
  const struct intarsia_window *w = s->w;
  const int32_t channels = w->in_c, step = w->stride_w * channels, all = w->kernel_w * channels;
  const int32_t x = s->x * w->stride_w - w->pad_left;
  if (s->x + kWidePixels > w->out_w || x < 0 ||
      x + (kWidePixels - 1) * w->stride_w + w->kernel_w > w->in_w)
    return false;
  uint32_t *columns = s->columns;
  int32_t y = s->y * w->stride_h - w->pad_top;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, y += w->dilation_h) {
    if (y < 0 || y >= w->in_h) {
      for (int32_t i = 0; i < kWidePixels * ((all + 1) / 2); ++i) *columns++ = 0;
      continue;
    }
    const int16_t *row = s->image + (y * w->in_w + x) * channels;
    if (all > 1) columns = wide_spread_four(columns, row, step, all / 2);
    if (all % 2 == 0) continue;
    row += all - 1;
    for (int32_t i = 0; i < kWidePixels; ++i, row += step) *columns++ = (uint16_t)*row;
  }
  while (columns != s->columns + kWidePixels * s->words) *columns++ = 0;
  return true;
}

#if INTARSIA_HAS_DSP_LOOPS
#define WIDE_FOUR(name, result)                                                                    \
  INTARSIA_OUTLINE void name(const struct wide_staging *s, int8_t *output, const int8_t *weights,  \
                             const struct intarsia_channel *channels) {                            \
    struct four_pixels work = intarsia_four_pixels(                                                \
        s->w, s->columns, s->columns + kWidePixels * s->words, output, channels, s->words / 2, 8); \
    work.out_c *= 2;                                                                               \
    INTARSIA_FOUR_PIXELS(work, weights, channels, INTARSIA_FOUR_FIRST_UNIT, INTARSIA_FOUR_UNITS,   \
                         INTARSIA_FOUR_ENTRIES, result, INTARSIA_FOUR_UNLIMITED, "strh.w", "2",    \
                         "4");                                                                     \
  }
WIDE_FOUR(wide_four_pushes_40, INTARSIA_FOUR_WIDE)
WIDE_FOUR(wide_four_above_pushes_40, INTARSIA_FOUR_WIDE_ABOVE)
#undef WIDE_FOUR
#endif

INTARSIA_INLINE int16_t wide_step_result(int32_t sum, const struct intarsia_channel *channel,
                                         int32_t low, int32_t high) {
  const int32_t scaled = (int32_t)(((int64_t)sum * channel->multiplier) >> 32);
  return (int16_t)intarsia_clamp_i32((scaled + channel->round) >> channel->shift, low, high);
}

// The first `pixels` of the four in scratch.
INTARSIA_OUTLINE void wide_some(const struct wide_staging *s, int16_t *output, int32_t pixels,
                                const int8_t *weights, const struct intarsia_channel *channels) {
  const int32_t out_c = s->w->out_c, low = s->w->low, high = s->w->high;
  for (int32_t left = out_c; left > 0; left -= 2, channels += 2, weights += 4 * s->words) {
    int32_t sums[8];
    for (int32_t i = 0; i < 8; ++i) sums[i] = channels[i / 4].bias;
    intarsia_dot_2x4(s->columns, weights, s->words / 2, sums);
    for (int32_t c = 0; c < 2 && c < left; ++c, ++output)
      for (int32_t pixel = 0; pixel < pixels; ++pixel)
        output[pixel * out_c] = wide_step_result(sums[4 * c + pixel], &channels[c], low, high);
  }
}

// The range of int16, or what of it is not negative. Others are rare: all results are limited to them at the end.
INTARSIA_INLINE void wide_four(const struct wide_staging *s, int16_t *output, const int8_t *weights,
                               const struct intarsia_channel *channels) {
#if INTARSIA_HAS_DSP_LOOPS
  if (s->w->low < 0)
    wide_four_pushes_40(s, (int8_t *)output, weights, channels);
  else
    wide_four_above_pushes_40(s, (int8_t *)output, weights, channels);
#else
  wide_some(s, output, kWidePixels, weights, channels);
#endif
}

// The windows of the next four pixels.
INTARSIA_OUTLINE void wide_stage(struct wide_staging *s) {
  if (wide_together(s)) {
    wide_advance(s, kWidePixels);
    return;
  }
  for (int32_t i = 0; i < kWidePixels; ++i, wide_advance(s, 1)) wide_gather(s, s->columns + i);
}

INTARSIA_INLINE void all_pixels(const struct intarsia_window *w, const int16_t *input,
                                int16_t *output, int16_t *scratch, const int8_t *weights,
                                const int32_t *channel_words) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  struct wide_staging s = {w, input, 0, 0, (uint32_t *)(void *)scratch, 0, 0};
  s.words = (w->kernel_h * ((w->kernel_w * w->in_c + 1) / 2) + 1) & ~1;
  s.row = scratch + 2 * kWidePixels * s.words;
  const int32_t image = w->out_h * w->out_w, pixels = w->batches * image;
  int32_t left = pixels;
  for (; left >= kWidePixels; left -= kWidePixels, output += kWidePixels * w->out_c) {
    wide_stage(&s);
    wide_four(&s, output, weights, channels);
  }
  if (left == 0) return;
  if (pixels >= kWidePixels) {  // the last four once more
    const int32_t first = pixels - kWidePixels, place = first % image;
    s.image = input + first / image * (w->in_h * w->in_w * w->in_c);
    s.y = place / w->out_w, s.x = place % w->out_w;
    wide_stage(&s);
    wide_four(&s, output - (kWidePixels - left) * w->out_c, weights, channels);
    return;
  }
  for (int32_t i = 0; i < kWidePixels; ++i) {  // the last of them several times
    wide_gather(&s, s.columns + i);
    if (i + 1 < left) wide_advance(&s, 1);
  }
  wide_some(&s, output, left, weights, channels);
}

void intarsia_dsp_conv_s16(const struct intarsia_window *w, const int16_t *input, int16_t *output,
                           int16_t *scratch, const int8_t *weights, const int32_t *channel_words) {
  all_pixels(w, input, output, scratch, weights, channel_words);
  if (w->high != INT16_MAX || (w->low != 0 && w->low != INT16_MIN))
    intarsia_each_clamp_s16(output, output, w->batches * w->out_h * w->out_w * w->out_c, w->low,
                            w->high);
}
