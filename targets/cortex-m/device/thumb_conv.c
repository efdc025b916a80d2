// Convolution on cores that multiply single elements: four pixels at a time where the compiler says so, else pixel by
// pixel.
#include "intarsia/targets/cortex_m/thumb_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"
#include "intarsia/targets/cortex_m/thumb_pairs.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

INTARSIA_INLINE void retreat(const struct intarsia_window *w, struct intarsia_place *at) {
  if (at->x-- > 0) return;
  at->x = w->out_w - 1;
  if (at->y-- > 0) return;
  at->y = w->out_h - 1;
  at->image -= w->in_h * w->in_w * w->in_c;
}

// Rows `ky` to `end` of the windows of four pixels from `first` on; `padded` holds four rows. Returns where the pairs end.
INTARSIA_OUTLINE int32_t *pack_rows(const struct intarsia_window *w,
                                    const struct intarsia_place *first, int32_t ky, int32_t end,
                                    int32_t *pairs, int8_t *padded) {
  const int32_t row = w->kernel_w * w->in_c;
  for (; ky < end; ++ky, pairs += 2 * row) {
    const int8_t *from[kIntarsiaPixels];
    struct intarsia_place at = *first;
    for (int32_t pixel = 0; pixel < kIntarsiaPixels; ++pixel, intarsia_advance(w, &at)) {
      const int32_t y = at.y * w->stride_h - w->pad_top + ky * w->dilation_h,
                    x = at.x * w->stride_w - w->pad_left;
      from[pixel] = at.image + (y * w->in_w + x) * w->in_c;
      if (y >= 0 && y < w->in_h && x >= 0 && x + w->kernel_w <= w->in_w) continue;
      from[pixel] = padded + pixel * row;
      intarsia_copy_row(w, at.image, y, x, padded + pixel * row);
    }
    INTARSIA_PACK(pairs, from, row);
  }
  return pairs;
}

// Sums of all channels are kept from one part of the windows to the next, if there are several.
struct part {
  const int32_t *pairs;
  const int8_t *weights;  // of the first channel
  int32_t pitch, count;   // bytes from channel to channel; elements in the part
  bool first, last;
};

INTARSIA_INLINE void four_pixels(const struct intarsia_window *w, const struct part *part,
                                 int32_t *kept, int8_t *output,
                                 const struct intarsia_channel *channels, enum intarsia_way way) {
  const int32_t step = part->first && part->last ? 0 : kIntarsiaPixels;
  const int8_t *weights = part->weights;
  int32_t *sums = kept;
  struct intarsia_results results = {sums, channels, output, kIntarsiaPixels,
                                     0,    w->out_c, w->low, w->high};
  for (int32_t left = w->out_c; left > 0; --left, ++channels, ++results.output) {
    if (part->first) sums[0] = sums[1] = sums[2] = sums[3] = channels->bias;
    intarsia_dot_of_pairs(part->pairs, weights, part->count, channels->shift >> 8, sums);
    weights += part->pitch;
    if (part->last) {
      results.sums = sums;
      intarsia_results_of_one(&results, channels, way);
    }
    sums += step;
  }
}

INTARSIA_INLINE void by_fours(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights,
                              const struct intarsia_channel *channels, enum intarsia_way way) {
  const int32_t row = w->kernel_w * w->in_c, pitch = (w->kernel_h * row + 3) / 4 * 4,
                rows = w->strip_h, pixels = w->batches * w->out_h * w->out_w;
  int32_t *kept = (int32_t *)(void *)scratch;
  int32_t *pairs = kept + (rows < w->kernel_h ? kIntarsiaPixels * w->out_c : kIntarsiaPixels);
  int8_t *padded = (int8_t *)(pairs + 2 * ((rows * row + 3) / 4 * 4));
  struct intarsia_place at = {input, 0, 0};
  for (int32_t next = 0; next < pixels; next += kIntarsiaPixels) {
    for (; next + kIntarsiaPixels > pixels; --next) retreat(w, &at);  // the last four overlap
    struct part part = {pairs, weights, pitch, 0, true, false};
    for (int32_t ky = 0; ky < w->kernel_h; ky += rows) {
      part.last = ky + rows >= w->kernel_h;
      int32_t *end = pack_rows(w, &at, ky, part.last ? w->kernel_h : ky + rows, pairs, padded);
      part.count = (int32_t)(end - pairs) / 2;
      for (; part.count % 4 != 0; ++part.count) *end++ = 0, *end++ = 0;
      four_pixels(w, &part, kept, output + next * w->out_c, channels, way);
      part.weights += part.count;
      part.first = false;
    }
    for (int32_t pixel = 0; pixel < kIntarsiaPixels; ++pixel) intarsia_advance(w, &at);
  }
}

INTARSIA_INLINE void by_pixels(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights,
                               const struct intarsia_channel *channels, enum intarsia_way way) {
  const int32_t run = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4 * 4;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % 4 == 0;
  struct intarsia_place at = {input, 0, 0};
  for (int32_t pixels = w->batches * w->out_h * w->out_w; pixels > 0;
       --pixels, output += w->out_c) {
    const int8_t *from = scratch;
    int8_t *to = scratch;
    int32_t y = at.y * w->stride_h - w->pad_top;
    const int32_t x = at.x * w->stride_w - w->pad_left;
    if (direct)
      from = at.image + (y * w->in_w + x) * w->in_c;
    else
      for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h)
        to = intarsia_copy_row(w, at.image, y, x, to);
    intarsia_one_pixel(w, from, output, weights, channels, run, way);
    intarsia_advance(w, &at);
  }
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  if (w->strip_h > 0)
    by_fours(w, input, output, scratch, weights, channels, way);
  else
    by_pixels(w, input, output, scratch, weights, channels, way);
}

void intarsia_thumb_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                            int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_WHOLE);
}

void intarsia_thumb_conv_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_LIMITED);
}

void intarsia_thumb_conv_any_s8(const struct intarsia_window *w, const int8_t *input,
                                int8_t *output, int8_t *scratch, const int8_t *weights,
                                const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_ANY);
}
