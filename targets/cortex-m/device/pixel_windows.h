// The windows of a convolution on cores that multiply single elements: those of four pixels as pairs (thumb_pairs.h), some rows at a
// time, or that of one pixel as a run. Behind optimise.h, for its functions too.
#ifndef INTARSIA_CORTEX_M_PIXEL_WINDOWS_H_
#define INTARSIA_CORTEX_M_PIXEL_WINDOWS_H_

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"
#include "intarsia/targets/cortex_m/thumb_pairs.h"

INTARSIA_INLINE void intarsia_retreat(const struct intarsia_window *w, struct intarsia_place *at) {
  if (at->x-- > 0) return;
  at->x = w->out_w - 1;
  if (at->y-- > 0) return;
  at->y = w->out_h - 1;
  at->image -= w->in_h * w->in_w * w->in_c;
}

// Rows `ky` to `end` of the windows of four pixels from `first` on; `padded` holds four rows. Returns where the pairs end.
INTARSIA_OUTLINE int32_t *intarsia_pack_rows(const struct intarsia_window *w,
                                             const struct intarsia_place *first, int32_t ky,
                                             int32_t end, int32_t *pairs, int8_t *padded) {
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

// What is computed of four pixels at a time: as many rows of their windows as scratch has room for. Sums of all channels are
// kept from one part of the windows to the next, if there are several.
struct intarsia_part {
  const int32_t *pairs;
  const int8_t *weights;
  int32_t count;  // elements in the part
  bool first, last;
};

// Adds a part up for all channels, and makes the results of the last one; returns where the weights of the next part begin.
typedef const int8_t *intarsia_four_pixels(const struct intarsia_window *w,
                                           const struct intarsia_part *part, int32_t *kept,
                                           int8_t *output, const struct intarsia_channel *channels);

// `kept`: words for the sums of one part, `kept_of_all` for those of all channels.
INTARSIA_INLINE void intarsia_by_fours(const struct intarsia_window *w, const int8_t *input,
                                       int8_t *output, int8_t *scratch, const int8_t *weights,
                                       const struct intarsia_channel *channels, int32_t kept_of_one,
                                       int32_t kept_of_all, intarsia_four_pixels *four_pixels) {
  const int32_t row = w->kernel_w * w->in_c, rows = w->strip_h,
                pixels = w->batches * w->out_h * w->out_w;
  int32_t *kept = (int32_t *)(void *)scratch;
  int32_t *pairs = kept + (rows < w->kernel_h ? kept_of_all : kept_of_one);
  int8_t *padded = (int8_t *)(pairs + 2 * ((rows * row + 3) / 4 * 4));
  struct intarsia_place at = {input, 0, 0};
  for (int32_t next = 0; next < pixels; next += kIntarsiaPixels) {
    for (; next + kIntarsiaPixels > pixels; --next)  // the last four overlap
      intarsia_retreat(w, &at);
    struct intarsia_part part = {pairs, weights, 0, true, false};
    for (int32_t ky = 0; ky < w->kernel_h; ky += rows) {
      part.last = ky + rows >= w->kernel_h;
      int32_t *end =
          intarsia_pack_rows(w, &at, ky, part.last ? w->kernel_h : ky + rows, pairs, padded);
      part.count = (int32_t)(end - pairs) / 2;
      for (; part.count % 4 != 0; ++part.count) *end++ = 0, *end++ = 0;
      part.weights = four_pixels(w, &part, kept, output + next * w->out_c, channels);
      part.first = false;
    }
    for (int32_t pixel = 0; pixel < kIntarsiaPixels; ++pixel) intarsia_advance(w, &at);
  }
}

INTARSIA_INLINE void intarsia_by_pixels(const struct intarsia_window *w, const int8_t *input,
                                        int8_t *output, int8_t *scratch, const int8_t *weights,
                                        const struct intarsia_channel *channels,
                                        enum intarsia_way way) {
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

#endif  // INTARSIA_CORTEX_M_PIXEL_WINDOWS_H_
