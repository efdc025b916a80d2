// Depthwise convolution on cores with the DSP extension, pixel by pixel: four channels at a time, and only those taps that see the image.
// For images of few pixels, most of whose windows are padding, and for windows of any dilation and stride.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_pairs.h"
#include "intarsia/targets/cortex_m/window_taps.h"

enum { kPixelLanes = 4 };

// What a window sees of the image. Steps in bytes.
struct pixel_taps {
  int32_t rows, columns;
  int32_t column_step, row_step;  // of the input
  int32_t weights_step;           // from row to row
  uint32_t zeros;                 // the input's zero point in both halfwords
  int32_t low, high;
};

INTARSIA_INLINE int32_t lower_product(uint32_t a, uint32_t b, int32_t sum) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smlabb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return sum + (int16_t)a * (int16_t)b;
#endif
}
INTARSIA_INLINE int32_t upper_product(uint32_t a, uint32_t b, int32_t sum) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smlatt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return sum + ((int32_t)a >> 16) * ((int32_t)b >> 16);
#endif
}

// Four channels side by side.
INTARSIA_INLINE void pixel_block(const struct pixel_taps *taps, const int8_t *x,
                                 const int8_t *weights, const struct intarsia_channel *channel,
                                 int8_t *output, enum intarsia_way way) {
  const uint32_t zeros = taps->zeros;
  const int32_t step = taps->column_step;
  int32_t sum0 = channel[0].bias, sum1 = channel[1].bias, sum2 = channel[2].bias,
          sum3 = channel[3].bias;
  for (int32_t row = taps->rows; row > 0; --row) {
    const int8_t *element = x, *weight = weights;
    for (int32_t column = taps->columns; column > 0; --column) {
      const uint32_t some = intarsia_load_word(element), factors = intarsia_load_word(weight);
      element += step, weight += kPixelLanes;
      const uint32_t even = intarsia_less_zeros(intarsia_even_pair(some), zeros),
                     evens = intarsia_even_pair(factors);
      sum0 = lower_product(even, evens, sum0), sum2 = upper_product(even, evens, sum2);
      const uint32_t odd = intarsia_less_zeros(intarsia_odd_pair(some), zeros),
                     odds = intarsia_odd_pair(factors);
      sum1 = lower_product(odd, odds, sum1), sum3 = upper_product(odd, odds, sum3);
    }
    x += taps->row_step, weights += taps->weights_step;
  }
  const int32_t low = taps->low, high = taps->high;
  output[0] = intarsia_result(sum0, &channel[0], low, high, way);
  output[1] = intarsia_result(sum1, &channel[1], low, high, way);
  output[2] = intarsia_result(sum2, &channel[2], low, high, way);
  output[3] = intarsia_result(sum3, &channel[3], low, high, way);
}

INTARSIA_OUTLINE void quick_block(const struct pixel_taps *taps, const int8_t *x,
                                  const int8_t *weights, const struct intarsia_channel *channel,
                                  int8_t *output) {
  pixel_block(taps, x, weights, channel, output, INTARSIA_LIMITED);
}
INTARSIA_OUTLINE void any_block(const struct pixel_taps *taps, const int8_t *x,
                                const int8_t *weights, const struct intarsia_channel *channel,
                                int8_t *output) {
  pixel_block(taps, x, weights, channel, output, INTARSIA_ANY);
}
typedef void (*block_function)(const struct pixel_taps *, const int8_t *, const int8_t *,
                               const struct intarsia_channel *, int8_t *);

INTARSIA_INLINE void depthwise_pixels(const struct intarsia_window *w, const int8_t *input,
                                      int8_t *output, const int8_t *weights,
                                      const int32_t *channel_words, block_function block) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t count = w->out_c;
  const int32_t block_bytes = kPixelLanes * w->kernel_h * w->kernel_w;
  struct pixel_taps taps = {.low = w->low, .high = w->high};
  taps.column_step = w->dilation_w * count, taps.row_step = w->dilation_h * w->in_w * count;
  taps.weights_step = w->kernel_w * kPixelLanes;
  taps.zeros = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * count) {
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t top = oy * w->stride_h - w->pad_top,
                    ky = intarsia_first_tap(top, w->dilation_h);
      const int32_t rows = intarsia_end_of_taps(top, w->dilation_h, w->kernel_h, w->in_h) - ky;
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += count) {
        const int32_t left = ox * w->stride_w - w->pad_left,
                      kx = intarsia_first_tap(left, w->dilation_w);
        taps.columns = intarsia_end_of_taps(left, w->dilation_w, w->kernel_w, w->in_w) - kx;
        taps.rows = taps.columns > 0 ? rows : 0;
        const int8_t *x =
            input + ((top + ky * w->dilation_h) * w->in_w + left + kx * w->dilation_w) * count;
        const int8_t *factors = weights + (ky * w->kernel_w + kx) * kPixelLanes;
        for (int32_t next = 0; next < count; next += kPixelLanes, factors += block_bytes) {
          // The last four overlap those before.
          const int32_t c = intarsia_min_i32(next, count - kPixelLanes);
          block(&taps, x + c, factors, channels + c, output + c);
        }
      }
    }
  }
}

void intarsia_dsp_depthwise_pixels_s8(const struct intarsia_window *window, const int8_t *input,
                                      int8_t *output, const int8_t *weights,
                                      const int32_t *channels) {
  depthwise_pixels(window, input, output, weights, channels, quick_block);
}

void intarsia_dsp_depthwise_pixels_any_s8(const struct intarsia_window *window, const int8_t *input,
                                          int8_t *output, const int8_t *weights,
                                          const int32_t *channels) {
  depthwise_pixels(window, input, output, weights, channels, any_block);
}
