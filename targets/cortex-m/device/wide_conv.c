// Convolutions of int16 activations: the window of one pixel as one run, four channels at a time.
#include <stdbool.h>

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/wide_dot.h"
#include "intarsia/targets/cortex_m/wide_results.h"

INTARSIA_INLINE int16_t *copy(int16_t *to, const int16_t *from, int32_t count) {
  return (int16_t *)(void *)intarsia_copy((int8_t *)to, (const int8_t *)from, 2 * count);
}

INTARSIA_INLINE int16_t *zeros(int16_t *to, int32_t count) {
  for (; count > 0; --count) *to++ = 0;
  return to;
}

// One row of a window whose first column is `left`; `row` may be null: outside of the image.
static int16_t *gather_row(const struct intarsia_wide *w, const int16_t *row, int32_t left,
                           int16_t *to) {
  const int32_t in_c = w->in_c, kernel_w = w->kernel_w;
  if (row == 0) return zeros(to, kernel_w * in_c);
  if (w->dilation_w == 1 || kernel_w == 1) {
    const int32_t before = intarsia_clamp_i32(-left, 0, kernel_w);
    const int32_t end = intarsia_clamp_i32(w->in_w - left, before, kernel_w);
    to = zeros(to, before * in_c);
    to = copy(to, row + (left + before) * in_c, (end - before) * in_c);
    return zeros(to, (kernel_w - end) * in_c);
  }
  for (int32_t kx = 0; kx < kernel_w; ++kx, left += w->dilation_w)
    to = left >= 0 && left < w->in_w ? copy(to, row + left * in_c, in_c) : zeros(to, in_c);
  return to;
}

// The window at an output pixel: in the image where it is one run there, else made in scratch.
INTARSIA_INLINE const int16_t *window_at(const struct intarsia_wide *w, const int16_t *image,
                                         int32_t oy, int32_t ox, int16_t *scratch,
                                         enum intarsia_wide_core core) {
  const int32_t top = oy * w->stride_h - w->pad_top, left = ox * w->stride_w - w->pad_left;
  const int32_t row = w->in_w * w->in_c, run = w->kernel_w * w->in_c;
  const bool inside = left >= 0 && left + w->kernel_w <= w->in_w && top >= 0 && top < w->in_h;
  const bool joined = w->kernel_h == 1 && (w->dilation_w == 1 || w->kernel_w == 1);
  if (inside && joined && (core == INTARSIA_WIDE_MVE || run % INTARSIA_DSP_GROUP == 0))
    return image + top * row + left * w->in_c;
  int16_t *to = scratch;
  for (int32_t ky = 0, y = top; ky < w->kernel_h; ++ky, y += w->dilation_h)
    to = gather_row(w, y >= 0 && y < w->in_h ? image + y * row : 0, left, to);
  if (core == INTARSIA_WIDE_DSP) zeros(to, -(run * w->kernel_h) & (INTARSIA_DSP_GROUP - 1));
  return scratch;
}

INTARSIA_INLINE void conv(const struct intarsia_wide *w, const int16_t *input, int16_t *output,
                          int16_t *scratch, const int8_t *weights, const int32_t *channel_words,
                          enum intarsia_wide_core core) {
  const struct intarsia_wide_channel *channels =
      (const struct intarsia_wide_channel *)channel_words;
  const struct intarsia_wide_range range = intarsia_wide_range(w);
  const int32_t count = w->kernel_h * w->kernel_w * w->in_c, out_c = w->out_c;
  const int32_t block_bytes = INTARSIA_WIDE_LANES * intarsia_wide_run(count, core);
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * w->in_c)
    for (int32_t oy = 0; oy < w->out_h; ++oy)
      for (int32_t ox = 0; ox < w->out_w; ++ox) {
        const int16_t *x = window_at(w, input, oy, ox, scratch, core);
        const int8_t *block = weights;
        for (int32_t first = 0; first < out_c; first += INTARSIA_WIDE_LANES, block += block_bytes) {
          int64_t sums[INTARSIA_WIDE_LANES];
          const int32_t left = out_c - first,
                        lanes = left < INTARSIA_WIDE_LANES ? left : INTARSIA_WIDE_LANES;
          intarsia_wide_products(x, block, count, sums, core);
          for (int32_t lane = 0; lane < lanes; ++lane)
            *output++ = intarsia_wide_result(sums[lane], &channels[first + lane], range);
        }
      }
}

// From a sum that has the bias: two instructions of 32 bits.
INTARSIA_INLINE int16_t short_result(int32_t sum, const struct intarsia_channel *channel,
                                     int32_t low, int32_t high) {
  const int32_t scaled = (int32_t)(((int64_t)sum * channel->multiplier) >> 32);
  return (int16_t)intarsia_clamp_i32((scaled + channel->round) >> channel->shift, low, high);
}

void intarsia_dsp_short_conv_s16(const struct intarsia_wide *w, const int16_t *input,
                                 int16_t *output, int16_t *scratch, const int8_t *weights,
                                 const int32_t *channel_words) {
  const int32_t count = w->kernel_h * w->kernel_w * w->in_c, out_c = w->out_c, low = w->low,
                high = w->high;
  const int32_t groups = (count + INTARSIA_DSP_GROUP - 1) / INTARSIA_DSP_GROUP;
  const int32_t block_bytes = INTARSIA_WIDE_LANES * INTARSIA_DSP_GROUP * groups;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * w->in_c)
    for (int32_t oy = 0; oy < w->out_h; ++oy)
      for (int32_t ox = 0; ox < w->out_w; ++ox) {
        const int16_t *x = window_at(w, input, oy, ox, scratch, INTARSIA_WIDE_DSP);
        const int8_t *block = weights;
        const struct intarsia_channel *channel = (const struct intarsia_channel *)channel_words;
        for (int32_t left = out_c; left > 0; left -= INTARSIA_WIDE_LANES, block += block_bytes) {
          int32_t sums[INTARSIA_WIDE_LANES];
          intarsia_dsp_wide_dot(x, block, groups, sums);
          for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES && lane < left; ++lane, ++channel)
            *output++ = short_result(sums[lane] + channel->bias, channel, low, high);
        }
      }
}

void intarsia_dsp_wide_conv_s16(const struct intarsia_wide *wide, const int16_t *input,
                                int16_t *output, int16_t *scratch, const int8_t *weights,
                                const int32_t *channels) {
  conv(wide, input, output, scratch, weights, channels, INTARSIA_WIDE_DSP);
}

void intarsia_mve_wide_conv_s16(const struct intarsia_wide *wide, const int16_t *input,
                                int16_t *output, int16_t *scratch, const int8_t *weights,
                                const int32_t *channels) {
  conv(wide, input, output, scratch, weights, channels, INTARSIA_WIDE_MVE);
}
