// Convolution on cores that multiply single elements: four pixels at a time where the compiler says so, else pixel by
// pixel.
#include "intarsia/targets/cortex_m/thumb_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/pixel_windows.h"

INTARSIA_INLINE const int8_t *four_pixels(const struct intarsia_window *w,
                                          const struct intarsia_part *part, int32_t *kept,
                                          int8_t *output, const struct intarsia_channel *channels,
                                          enum intarsia_way way) {
  const int32_t step = part->first && part->last ? 0 : kIntarsiaPixels,
                pitch = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4 * 4;
  const int8_t *weights = part->weights;
  int32_t *sums = kept;
  struct intarsia_results results = {sums, channels, output, kIntarsiaPixels,
                                     0,    w->out_c, w->low, w->high};
  for (int32_t left = w->out_c; left > 0; --left, ++channels, ++results.output) {
    if (part->first) sums[0] = sums[1] = sums[2] = sums[3] = channels->bias;
    intarsia_dot_of_pairs(part->pairs, weights, part->count, channels->shift >> 8, sums);
    weights += pitch;
    if (part->last) {
      results.sums = sums;
      intarsia_results_of_one(&results, channels, way);
    }
    sums += step;
  }
  return part->weights + part->count;
}

INTARSIA_INLINE const int8_t *four_whole(const struct intarsia_window *w,
                                         const struct intarsia_part *part, int32_t *kept,
                                         int8_t *output, const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_WHOLE);
}
INTARSIA_INLINE const int8_t *four_limited(const struct intarsia_window *w,
                                           const struct intarsia_part *part, int32_t *kept,
                                           int8_t *output,
                                           const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_LIMITED);
}
INTARSIA_INLINE const int8_t *four_any(const struct intarsia_window *w,
                                       const struct intarsia_part *part, int32_t *kept,
                                       int8_t *output, const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_ANY);
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  if (w->strip_h > 0)
    intarsia_by_fours(w, input, output, scratch, weights, channels, kIntarsiaPixels,
                      kIntarsiaPixels * w->out_c,
                      way == INTARSIA_WHOLE     ? four_whole
                      : way == INTARSIA_LIMITED ? four_limited
                                                : four_any);
  else
    intarsia_by_pixels(w, input, output, scratch, weights, channels, way);
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
