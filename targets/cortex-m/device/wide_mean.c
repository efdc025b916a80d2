// Means and sums of int16 over the middle axis of [outer, count, inner]: with Helium eight channels at a time, elsewhere four in two words.
#include "intarsia/targets/cortex_m/mean.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/mean_results.h"
#include "intarsia/targets/cortex_m/wide_dot.h"

INTARSIA_INLINE int16_t finished_half(struct intarsia_mean_numbers n, int32_t sum) {
  return (int16_t)intarsia_saturate_s16(intarsia_mean_of(n, sum));
}

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

enum { kHalves = 8 };

INTARSIA_INLINE void store_means(const struct intarsia_mean *s, int32x4_t sums, int16_t *output,
                                 mve_pred16_t lanes) {
  const int32x4_t means = intarsia_mve_means(s, vsubq_n_s32(sums, s->zeros));
  vstrhq_p_s32(output, vminq_s32(vmaxq_s32(means, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX)),
               lanes);
}

static void mean_of_halves(const struct intarsia_mean *s, struct intarsia_mean_numbers n,
                           const int16_t *input, int16_t *output) {
  (void)n;
  for (int32_t c = 0; c < s->inner; c += kHalves) {
    const int32_t left = s->inner - c;
    const mve_pred16_t lower = vctp32q((uint32_t)left),
                       upper = vctp32q((uint32_t)(left > 4 ? left - 4 : 0));
    const int16_t *element = input + c;
    int32x4_t first = vdupq_n_s32(0), second = vdupq_n_s32(0);
    for (int32_t i = s->count; i > 0; --i, element += s->inner) {
      first = vaddq_s32(first, vldrhq_z_s32(element, lower));
      second = vaddq_s32(second, vldrhq_z_s32(element + 4, upper));
    }
    store_means(s, first, output + c, lower), store_means(s, second, output + c + 4, upper);
  }
}

static int32_t sum_of_halves(const int16_t *element, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= kHalves, element += kHalves)
    sum = vaddvaq_s16(sum, vldrhq_z_s16(element, vctp16q((uint32_t)count)));
  return sum;
}
#else
INTARSIA_INLINE void mean_of_halves(const struct intarsia_mean *s, struct intarsia_mean_numbers n,
                                    const int16_t *input, int16_t *output) {
  const int32_t channels = s->inner;
  int32_t c = 0;
  for (; channels >= 4 && c < channels; c += 4) {
    // The last four overlap the ones before.
    const int32_t block = c + 4 <= channels ? c : channels - 4;
    const int16_t *element = input + block;
    int32_t sums[4] = {0};
    for (int32_t i = s->count; i > 0; --i, element += channels) {
      const uint32_t low = intarsia_load_halves(element), high = intarsia_load_halves(element + 2);
      sums[0] += (int16_t)low, sums[1] += (int32_t)low >> 16;
      sums[2] += (int16_t)high, sums[3] += (int32_t)high >> 16;
    }
    for (int32_t lane = 0; lane < 4; ++lane) output[block + lane] = finished_half(n, sums[lane]);
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    const int16_t *element = input + c;
    for (int32_t i = s->count; i > 0; --i, element += channels) sum += *element;
    output[c] = finished_half(n, sum);
  }
}

static int32_t sum_of_halves(const int16_t *element, int32_t count) {
  int32_t sum = 0;
  for (; count >= 4; count -= 4, element += 4) {
    const uint32_t low = intarsia_load_halves(element), high = intarsia_load_halves(element + 2);
    sum = intarsia_pair_product(high, 0x10001u, intarsia_pair_product(low, 0x10001u, sum));
  }
  for (; count > 0; --count) sum += *element++;
  return sum;
}
#endif

void intarsia_mean_s16(const struct intarsia_mean *mean, const int16_t *input, int16_t *output) {
  const struct intarsia_mean_numbers n = intarsia_mean_numbers_of(mean);
  for (int32_t outer = mean->outer; outer > 0;
       --outer, input += mean->count * mean->inner, output += mean->inner) {
    if (mean->inner == 1)
      *output = finished_half(n, sum_of_halves(input, mean->count));
    else
      mean_of_halves(mean, n, input, output);
  }
}
