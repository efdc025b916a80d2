// Convolutions of floats by integer weights, in terms of the int8 that each image, or each row of a fully connected layer, was made
// with a scale of its own (staged_conv.h): what is the same on cores with the DSP extension and with Helium. Included behind
// optimise.h.
#ifndef INTARSIA_CORTEX_M_HYBRID_H_
#define INTARSIA_CORTEX_M_HYBRID_H_

#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/staging.h"
#include "intarsia/targets/cortex_m/unfused.h"

// A piece of an image, and how its sums become results.
struct hybrid {
  const struct intarsia_piece *piece;
  const float *scales;  // of the image or, `by_pixel`, of pixels
  const int32_t *zeros;
  const int32_t *table;  // of the group's channels, behind the limits
  int8_t *scratch;
  float low, high;
  bool by_pixel, has_low, has_high;
  const int8_t *weights;  // of the channels that are computed,
  int32_t first, count;   // which these are
};

// What is not a number stays.
INTARSIA_INLINE float hybrid_result(const struct hybrid *h, int32_t sum, int32_t weights,
                                    int32_t zero, float scale, float bias) {
  const int32_t about_zero = (int32_t)((uint32_t)sum - (uint32_t)weights * (uint32_t)zero);
  float value = (float)about_zero * scale + bias;
  if (h->has_low && value < h->low) value = h->low;
  if (h->has_high && value > h->high) value = h->high;
  return value;
}

// Four pixels or one, of the piece's row y and column x on.
typedef void (*hybrid_pixels)(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                              int32_t first, int32_t count);

// The last `most` overlap those before rather than be fewer.
INTARSIA_INLINE void hybrid_piece(const struct hybrid *h, int32_t most, hybrid_pixels pixels) {
  const struct intarsia_piece *p = h->piece;
  const struct intarsia_window *w = &p->w;
  const int8_t *runs[4];
  for (int32_t y = 0; y < w->out_h; ++y)
    for (int32_t x = 0; x < w->out_w;) {
      const int32_t left = w->out_w - x, count = left == 1 || w->out_w < most ? 1 : most;
      if (left < count) x = w->out_w - count;
      for (int32_t i = 0; i < count; ++i)
        runs[i] = p->from + (y * w->in_w + (x + i) * w->stride_w) * w->in_c;
      pixels(h, runs, p->results + (y * w->out_w + x) * w->out_c, p->column + x, count);
      x += count;
    }
}

// What computes a piece.
typedef void (*hybrid_work)(struct hybrid *h);

INTARSIA_INLINE void hybrid_convolution(const struct intarsia_staged *staged, const int8_t *input,
                                        const float *scales, const int32_t *zeros, float *results,
                                        int8_t *scratch, const int8_t *weights,
                                        const int32_t *table, hybrid_work work) {
  struct intarsia_staged image = *staged;
  int8_t *output = (int8_t *)results;
  image.batches = 1;
  for (int32_t n = 0; n < staged->batches; ++n) {
    image.in_zero = (int16_t)*zeros;
    struct intarsia_piece p;
    struct hybrid h = {&p,
                       scales,
                       zeros,
                       NULL,
                       scratch + staged->scratch_at,
                       intarsia_f32_of_bits((uint32_t)table[0]),
                       intarsia_f32_of_bits((uint32_t)table[1]),
                       staged->out_zero != 0,
                       staged->low != 0,
                       staged->high != 0,
                       NULL,
                       0,
                       0};
    intarsia_begin_staging(&p, &image, input, output, scratch, weights, table + 4);
    do {
      h.table = p.channels;
      work(&h);
    } while (intarsia_next_piece(&p));
    input += staged->in_h * staged->in_w * staged->in_c;
    output += staged->out_h * staged->out_w * staged->out_c;
    ++scales, ++zeros;
  }
}

// Of int8, with weights of nine bits.
INTARSIA_INLINE void hybrid_shifted(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels, hybrid_work work) {
  struct intarsia_piece p;
  struct hybrid h = {.piece = &p, .scratch = scratch + staged->scratch_at};
  intarsia_begin_staging(&p, staged, input, output, scratch, weights, channels);
  do {
    h.table = p.channels;
    work(&h);
  } while (intarsia_next_piece(&p));
}

#endif  // INTARSIA_CORTEX_M_HYBRID_H_
