// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and every output channel is a dot product with four such
// columns at once. Pixels that are left over go one by one, two channels at once.
#include "cortex_m/dsp_conv.h"

#include "cortex_m/dsp_dot.h"
#include "cortex_m/optimise.h"

// The columns of `pixels` pixels stand side by side; `column` is one of them.
struct place {
  const int8_t *image;
  int32_t y, x;
};

INTARSIA_INLINE uint32_t *expand(uint32_t *column, const int8_t *from, int32_t count, int32_t pixels) {
  for (; count >= 4; count -= 4, from += 4, column += 2 * pixels) {
    const uint32_t word = intarsia_load_word(from);
    column[0] = intarsia_even_pair(word);
    column[pixels] = intarsia_odd_pair(word);
  }
  if (count > 0) {  // the weights of the missing elements are zero
    uint32_t word = (uint8_t)from[0];
    if (count > 1) word |= (uint32_t)(uint8_t)from[1] << 8;
    if (count > 2) word |= (uint32_t)(uint8_t)from[2] << 16;
    column[0] = intarsia_even_pair(word);
    column[pixels] = intarsia_odd_pair(word);
    column += 2 * pixels;
  }
  return column;
}

INTARSIA_INLINE uint32_t *fill(uint32_t *column, int32_t value, int32_t count, int32_t pixels) {
  const uint32_t pair = (uint32_t)value << 16 | ((uint32_t)value & 0xffffu);
  for (; count > 0; count -= 4, column += 2 * pixels) {
    column[0] = pair;
    column[pixels] = pair;
  }
  return column;
}

// One row of the window where it reaches over the left or right edge: `first` .. `last` - 1 of its
// columns are inside.
static uint32_t *clipped_row(const struct intarsia_window *w, uint32_t *column, const int8_t *row,
                             int32_t first, int32_t last, int32_t pixels) {
  const int32_t channels = w->in_c;
  if (channels % 4 == 0) {
    column = fill(column, w->in_zero, first * channels, pixels);
    column = expand(column, row + first * channels, (last - first) * channels, pixels);
    return fill(column, w->in_zero, (w->kernel_w - last) * channels, pixels);
  }
  // Groups of four begin anywhere: element by element.
  const int32_t begin = first * channels, end = last * channels, run = w->kernel_w * channels;
  for (int32_t at = 0; at < run; at += 4, column += 2 * pixels) {
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t k = at + i;
      const int8_t value = k >= begin && k < end ? row[k] : (int8_t)w->in_zero;
      word |= (uint32_t)(uint8_t)value << (8 * i);
    }
    column[0] = intarsia_even_pair(word);
    column[pixels] = intarsia_odd_pair(word);
  }
  return column;
}

// The column of one output pixel.
INTARSIA_OUTLINE void gather(const struct intarsia_window *w, const struct place *at, uint32_t *column,
                             int32_t pixels) {
  const int32_t run = w->kernel_w * w->in_c;
  const int32_t x = at->x * w->stride_w - w->pad_left;
  int32_t y = at->y * w->stride_h - w->pad_top;
  const int32_t first = x < 0 ? -x : 0;
  const int32_t last = w->in_w - x < w->kernel_w ? w->in_w - x : w->kernel_w;
  const bool inside = first == 0 && last == w->kernel_w;
  for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h) {
    const int8_t *row = at->image + (y * w->in_w + x) * w->in_c;
    if (y < 0 || y >= w->in_h || first >= last)
      column = fill(column, w->in_zero, run, pixels);
    else if (inside)
      column = expand(column, row, run, pixels);
    else
      column = clipped_row(w, column, row, first, last, pixels);
  }
}

INTARSIA_INLINE void advance(const struct intarsia_window *w, struct place *at) {
  if (++at->x < w->out_w) return;
  at->x = 0;
  if (++at->y < w->out_h) return;
  at->y = 0;
  at->image += w->in_h * w->in_w * w->in_c;
}

INTARSIA_OUTLINE void four_pixels(const struct intarsia_window *w, const uint32_t *columns, int8_t *output,
                                 const int8_t *weights, const struct intarsia_channel *channels,
                                 int32_t groups, bool quick) {
  const int32_t out_c = w->out_c;
  const bool whole = intarsia_whole_range(w);
  for (const struct intarsia_channel *end = channels + out_c; channels != end; ++channels) {
    int32_t sums[4];
    intarsia_dot_1x4(columns, weights, groups, channels->bias, sums);
    weights += 4 * groups;
    int8_t *out = output++;
    for (int32_t pixel = 0; pixel < 4; ++pixel, out += out_c)
      *out = intarsia_result(sums[pixel], channels, quick, whole, w);
  }
}

INTARSIA_OUTLINE void one_pixel(const struct intarsia_window *w, const uint32_t *column, int8_t *output,
                               const int8_t *weights, const struct intarsia_channel *channels,
                               int32_t groups, bool quick) {
  const bool whole = intarsia_whole_range(w);
  for (int32_t left = w->out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    const int32_t second = left > 1 ? 1 : 0;  // the last of an odd number goes twice
    int32_t sums[2] = {channels[0].bias, channels[second].bias};
    intarsia_dot_2x1(column, weights, weights + second * 4 * groups, groups, sums);
    *output++ = intarsia_result(sums[0], channels, quick, whole, w);
    if (second != 0) *output++ = intarsia_result(sums[1], channels + 1, quick, whole, w);
  }
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch,
                              const int8_t *weights, const int32_t *channel_words, bool quick) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  uint32_t *columns = (uint32_t *)(void *)scratch;
  const int32_t groups = w->kernel_h * ((w->kernel_w * w->in_c + 3) / 4);
  struct place at = {input, 0, 0};
  int32_t pixels = w->batches * w->out_h * w->out_w;
  for (; pixels >= 4; pixels -= 4, output += 4 * w->out_c) {
    for (int32_t i = 0; i < 4; ++i, advance(w, &at)) gather(w, &at, columns + i, 4);
    four_pixels(w, columns, output, weights, channels, groups, quick);
  }
  for (; pixels > 0; --pixels, output += w->out_c, advance(w, &at)) {
    gather(w, &at, columns, 1);
    one_pixel(w, columns, output, weights, channels, groups, quick);
  }
}

void intarsia_dsp_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(window, input, output, scratch, weights, channels, true);
}

void intarsia_dsp_conv_any_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(window, input, output, scratch, weights, channels, false);
}
