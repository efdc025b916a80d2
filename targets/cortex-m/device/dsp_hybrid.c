// Convolutions of floats by integer weights (hybrid.h) on cores with the DSP extension: as dsp_conv.c, but sums become floats, in their
// places in the output.
#include <string.h>

#include "intarsia/targets/cortex_m/staged_conv.h"

#include "intarsia/targets/cortex_m/dsp_four.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_expand.h"  // behind optimise.h, for their functions too
#include "intarsia/targets/cortex_m/hybrid.h"

enum { kHybridFour = 4 };

#if INTARSIA_HAS_DSP_LOOPS
#define HYBRID_SUM(sum)
// Sums of four pixels, `pitch` bytes apart.
INTARSIA_OUTLINE void hybrid_four_pushes_40(const uint32_t *columns, int8_t *sums, int32_t pitch,
                                            const int8_t *weights, int32_t count, int32_t groups,
                                            const struct intarsia_channel *channels) {
  const struct intarsia_window w = {.out_c = (int16_t)count};
  struct four_pixels work =
      intarsia_four_pixels(&w, columns, columns + 8 * groups, sums, channels, groups, 8);
  work.out_c = pitch;
  INTARSIA_FOUR_PIXELS(work, weights, channels, INTARSIA_FOUR_FIRST_UNIT, INTARSIA_FOUR_UNITS,
                       INTARSIA_FOUR_ENTRIES, HYBRID_SUM, INTARSIA_FOUR_UNLIMITED, "str.w", "4",
                       "8");
}
#undef HYBRID_SUM
#else
INTARSIA_OUTLINE void hybrid_four_pushes_40(const uint32_t *columns, int8_t *sums, int32_t pitch,
                                            const int8_t *weights, int32_t count, int32_t groups,
                                            const struct intarsia_channel *channels) {
  for (; count > 0; count -= 2, weights += 8 * groups, channels += 2) {
    int32_t both[8];
    for (int32_t i = 0; i < 8; ++i) both[i] = channels[i / 4].bias;
    intarsia_dot_2x4(columns, weights, groups, both);
    for (int32_t c = 0; c < 2 && c < count; ++c, sums += 4)
      for (int32_t i = 0; i < kHybridFour; ++i) memcpy(sums + i * pitch, &both[4 * c + i], 4);
  }
}
#endif

INTARSIA_OUTLINE void hybrid_one(const uint32_t *column, int8_t *sums, const int8_t *weights,
                                 int32_t count, int32_t groups,
                                 const struct intarsia_channel *channels) {
  for (; count > 0; count -= 2, weights += 8 * groups, sums += 8, channels += 2) {
    int32_t both[2] = {channels[0].bias, channels[1].bias};
    intarsia_dot_2x1(column, weights, groups, both);
    memcpy(sums, both, count > 1 ? 8 : 4);
  }
}

INTARSIA_INLINE void hybrid_finish(const struct hybrid *h, int8_t *sums, int32_t pitch,
                                   int32_t channels, int32_t first, int32_t pixels) {
  const struct intarsia_channel *channel = (const struct intarsia_channel *)h->table;
  float scales[kHybridFour];
  int32_t zeros[kHybridFour];
  for (int32_t i = 0; i < pixels; ++i) {
    const int32_t row = h->by_pixel ? first + i : 0;
    scales[i] = h->scales[row], zeros[i] = h->zeros[row];
  }
  for (; channels > 0; --channels, ++channel, sums += 4) {
    const int32_t weights = channel->multiplier;
    const float scale = intarsia_f32_of_bits((uint32_t)channel->round),
                bias = intarsia_f32_of_bits((uint32_t)channel->shift);
    int8_t *at = sums;
    for (int32_t i = 0; i < pixels; ++i, at += pitch) {
      int32_t sum;
      memcpy(&sum, at, sizeof sum);
      const float value = hybrid_result(h, sum, weights, zeros[i], scales[i] * scale, bias);
      memcpy(at, &value, sizeof value);
    }
  }
}

INTARSIA_OUTLINE void finish_four(const struct hybrid *h, int8_t *sums, int32_t pitch,
                                  int32_t channels, int32_t first) {
  hybrid_finish(h, sums, pitch, channels, first, kHybridFour);
}
INTARSIA_OUTLINE void finish_one(const struct hybrid *h, int8_t *sums, int32_t channels,
                                 int32_t first) {
  hybrid_finish(h, sums, 0, channels, first, 1);
}

static void dsp_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                       int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t groups = (w->kernel_w * w->in_c + 3) / 4, channels = w->out_c / 4;
  uint32_t *columns = (uint32_t *)(void *)h->scratch;
  if (count == kHybridFour) {
    (void)intarsia_expand_four(columns, runs[0], (int32_t)(runs[1] - runs[0]), groups, 1, 0);
    hybrid_four_pushes_40(columns, output, w->out_c, h->piece->weights, channels, groups,
                          (const struct intarsia_channel *)h->table);
    finish_four(h, output, w->out_c, channels, first);
    return;
  }
  (void)intarsia_expand(columns, runs[0], groups, 1);
  hybrid_one(columns, output, h->piece->weights, channels, groups,
             (const struct intarsia_channel *)h->table);
  finish_one(h, output, channels, first);
}

static void dsp_piece(struct hybrid *h) {
  hybrid_piece(h, kHybridFour, dsp_pixels);
}

void intarsia_staged_dsp_hybrid(const struct intarsia_staged *staged, const int8_t *input,
                                const float *scales, const int32_t *zeros, float *results,
                                int8_t *scratch, const int8_t *weights, const int32_t *table) {
  hybrid_convolution(staged, input, scales, zeros, results, scratch, weights, table, dsp_piece);
}

// ---- weights of nine bits ------------------------------------------------------------------------

enum { kShiftedBlock = 32 };  // channels whose sums are in scratch at a time

// Of all elements of a run.
INTARSIA_OUTLINE int32_t sum_of_run(const int8_t *run, int32_t count) {
  int32_t sum = 0;
  for (; count >= 4; count -= 4, run += 4) {
    const uint32_t word = intarsia_load_word(run);
    sum = intarsia_pair_product(intarsia_even_pair(word), 0x10001u, sum);
    sum = intarsia_pair_product(intarsia_odd_pair(word), 0x10001u, sum);
  }
  for (; count > 0; --count) sum += *run++;
  return sum;
}

INTARSIA_INLINE void shifted_results(const struct hybrid *h, const int32_t *sums,
                                     const struct intarsia_channel *channel, const int32_t *shifts,
                                     int32_t all, int8_t *output, int32_t count,
                                     enum intarsia_way way) {
  const struct intarsia_window *w = &h->piece->w;
  for (int32_t c = 0; c < count; ++c)
    output[c] = intarsia_result((int32_t)((uint32_t)sums[c] + (uint32_t)shifts[c] * (uint32_t)all),
                                &channel[c], w->low, w->high, way);
}
INTARSIA_OUTLINE void quick_shifted(const struct hybrid *h, const int32_t *sums,
                                    const struct intarsia_channel *channel, const int32_t *shifts,
                                    int32_t all, int8_t *output, int32_t count) {
  shifted_results(h, sums, channel, shifts, all, output, count, INTARSIA_LIMITED);
}
INTARSIA_OUTLINE void any_shifted(const struct hybrid *h, const int32_t *sums,
                                  const struct intarsia_channel *channel, const int32_t *shifts,
                                  int32_t all, int8_t *output, int32_t count) {
  shifted_results(h, sums, channel, shifts, all, output, count, INTARSIA_ANY);
}

static void dsp_shifted_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                               int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t run = w->kernel_w * w->in_c, groups = (run + 3) / 4, channels = w->out_c;
  const struct intarsia_channel *const table = (const struct intarsia_channel *)h->table;
  const int32_t *const shifts = h->table + 4 * ((channels + 1) / 2 * 2);
  int32_t *const sums = (int32_t *)(void *)h->scratch;
  uint32_t *const columns = (uint32_t *)(void *)(sums + kHybridFour * kShiftedBlock);
  const int8_t *weights = h->piece->weights;
  int32_t all[kHybridFour];
  (void)first;
  for (int32_t i = 0; i < count; ++i) all[i] = sum_of_run(runs[i], run);
  if (count == kHybridFour)
    (void)intarsia_expand_four(columns, runs[0], (int32_t)(runs[1] - runs[0]), groups, 1, 0);
  else
    (void)intarsia_expand(columns, runs[0], groups, 1);
  for (int32_t c = 0; c < channels; c += kShiftedBlock, weights += 4 * groups * kShiftedBlock) {
    const int32_t some = intarsia_min_i32(kShiftedBlock, channels - c);
    if (count == kHybridFour)
      hybrid_four_pushes_40(columns, (int8_t *)sums, 4 * some, weights, some, groups, table + c);
    else
      hybrid_one(columns, (int8_t *)sums, weights, some, groups, table + c);
    for (int32_t i = 0; i < count; ++i) {
      int8_t *to = output + i * channels + c;
      if (h->piece->s->row_bytes != 0)
        quick_shifted(h, sums + i * some, table + c, shifts + c, all[i], to, some);
      else
        any_shifted(h, sums + i * some, table + c, shifts + c, all[i], to, some);
    }
  }
}

static void dsp_shifted_piece(struct hybrid *h) {
  hybrid_piece(h, kHybridFour, dsp_shifted_pixels);
}

void intarsia_staged_dsp_shifted_s8(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels) {
  hybrid_shifted(staged, input, output, scratch, weights, channels, dsp_shifted_piece);
}
