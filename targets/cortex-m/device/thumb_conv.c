// Convolution on cores that multiply single elements, pixel by pixel.
#include "intarsia/targets/cortex_m/thumb_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t run = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4 * 4;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % 4 == 0;
  struct intarsia_place at = {input, 0, 0};
  for (int32_t pixels = w->batches * w->out_h * w->out_w; pixels > 0;
       --pixels, output += w->out_c) {
    const int8_t *from = scratch;
    if (direct)
      from = at.image + (at.y * w->stride_h * w->in_w + at.x * w->stride_w) * w->in_c;
    else
      intarsia_gather(w, &at, scratch);
    intarsia_one_pixel(w, from, output, weights, channels, run, way);
    intarsia_advance(w, &at);
  }
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
