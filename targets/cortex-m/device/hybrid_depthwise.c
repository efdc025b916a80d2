// Depthwise convolution of floats that were made int8, by integer weights (staged_conv.h): some channels, which lie side by side in the
// input and in the weights, at a time. Only what lies inside of the image counts.
#include "intarsia/targets/cortex_m/staged_conv.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_pairs.h"
#include "intarsia/targets/cortex_m/hybrid.h"
#include "intarsia/targets/cortex_m/window_taps.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
enum { kHybridLanes = 8 };
#else
enum { kHybridLanes = 4 };
#endif

// The part of a window that is inside. Steps in bytes.
struct hybrid_window {
  int32_t rows, columns;
  int32_t column_step, row_rest;      // of the input
  int32_t weight_step, weights_rest;  // of the weights
  int32_t zero;
};

#if INTARSIA_HAS_MVE
// The last lanes may be none: they read and write nothing.
INTARSIA_OUTLINE void depthwise_sums(const struct hybrid_window *w, const int8_t *x,
                                     const int8_t *weights, int32_t *sums, int32_t count) {
  const mve_pred16_t lanes = vctp16q((uint32_t)count);
  const int16_t zero = (int16_t)w->zero;
  int32x4x2_t both = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
  for (int32_t row = w->rows; row > 0; --row) {
    for (int32_t column = w->columns; column > 0; --column) {
      const int16x8_t some = vsubq_n_s16(vldrbq_z_s16(x, lanes), zero),
                      factors = vldrbq_z_s16(weights, lanes);
      both.val[0] = vaddq_s32(both.val[0], vmullbq_int_s16(some, factors));
      both.val[1] = vaddq_s32(both.val[1], vmulltq_int_s16(some, factors));
      x += w->column_step, weights += w->weight_step;
    }
    x += w->row_rest, weights += w->weights_rest;
  }
  vst2q_s32(sums, both);
}
#else
INTARSIA_INLINE int32_t lower_product(uint32_t a, uint32_t b, int32_t sum) {
  return sum + (int16_t)a * (int16_t)b;
}
INTARSIA_INLINE int32_t upper_product(uint32_t a, uint32_t b, int32_t sum) {
  return sum + ((int32_t)a >> 16) * ((int32_t)b >> 16);
}

INTARSIA_OUTLINE void depthwise_sums(const struct hybrid_window *w, const int8_t *x,
                                     const int8_t *weights, int32_t *sums, int32_t count) {
  const uint32_t zeros = ((uint32_t)w->zero & 0xffffu) * 0x10001u;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  (void)count;
  for (int32_t row = w->rows; row > 0; --row) {
    for (int32_t column = w->columns; column > 0; --column) {
      const uint32_t some = intarsia_load_word(x), factors = intarsia_load_word(weights);
      const uint32_t even = intarsia_less_zeros(intarsia_even_pair(some), zeros),
                     odd = intarsia_less_zeros(intarsia_odd_pair(some), zeros);
      const uint32_t evens = intarsia_even_pair(factors), odds = intarsia_odd_pair(factors);
      sum0 = lower_product(even, evens, sum0), sum2 = upper_product(even, evens, sum2);
      sum1 = lower_product(odd, odds, sum1), sum3 = upper_product(odd, odds, sum3);
      x += w->column_step, weights += w->weight_step;
    }
    x += w->row_rest, weights += w->weights_rest;
  }
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
}
#endif

// The channels of a pixel.
INTARSIA_INLINE void hybrid_pixel(const struct hybrid *h, const struct hybrid_window *window,
                                  const int8_t *x, const int8_t *weights, float *output,
                                  int32_t channels) {
  const int32_t *const biases = h->table + channels;
  const float scale = *h->scales;
  int32_t sums[kHybridLanes];
  for (int32_t next = 0; next < channels; next += kHybridLanes) {
    int32_t c = next, count = channels - next;
#if INTARSIA_HAS_MVE
    if (count > kHybridLanes) count = kHybridLanes;
#else
    if (count < kHybridLanes) c = channels - kHybridLanes;  // those before once more
    count = kHybridLanes;
#endif
    depthwise_sums(window, x + c, weights + c, sums, count);
    for (int32_t lane = 0; lane < count; ++lane)
      output[c + lane] = hybrid_result(h, sums[lane], 0, 0,
                                       scale * intarsia_f32_of_bits((uint32_t)h->table[c + lane]),
                                       intarsia_f32_of_bits((uint32_t)biases[c + lane]));
  }
}

void intarsia_hybrid_depthwise(const struct intarsia_window *w, const int8_t *input,
                               const float *scales, const int32_t *zeros, float *output,
                               const int8_t *weights, const int32_t *table) {
  struct hybrid of_image = {NULL,
                            scales,
                            NULL,
                            table + 2,
                            NULL,
                            intarsia_f32_of_bits((uint32_t)table[0]),
                            intarsia_f32_of_bits((uint32_t)table[1]),
                            false,
                            w->low != 0,
                            w->high != 0,
                            NULL,
                            0,
                            0};
  const int32_t channels = w->in_c;
  struct hybrid_window window = {0};
  window.column_step = w->dilation_w * channels, window.weight_step = channels;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * channels) {
    window.zero = zeros[n], of_image.scales = scales + n;
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t top = oy * w->stride_h - w->pad_top;
      const int32_t ky = intarsia_first_tap(top, w->dilation_h);
      const int32_t rows = intarsia_end_of_taps(top, w->dilation_h, w->kernel_h, w->in_h) - ky;
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += channels) {
        const int32_t left = ox * w->stride_w - w->pad_left;
        const int32_t kx = intarsia_first_tap(left, w->dilation_w);
        const int32_t columns =
            intarsia_end_of_taps(left, w->dilation_w, w->kernel_w, w->in_w) - kx;
        const bool sees = rows > 0 && columns > 0;
        window.rows = sees ? rows : 0, window.columns = columns;
        window.row_rest = w->dilation_h * w->in_w * channels - columns * window.column_step;
        window.weights_rest = (w->kernel_w - columns) * channels;
        const int32_t at =
            sees ? ((top + ky * w->dilation_h) * w->in_w + left + kx * w->dilation_w) * channels
                 : 0;
        hybrid_pixel(&of_image, &window, input + at,
                     weights + (sees ? (ky * w->kernel_w + kx) * channels : 0), output, channels);
      }
    }
  }
}
