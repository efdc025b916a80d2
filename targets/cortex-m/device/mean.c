// Sums of halfwords, as many elements as they hold at a time: eight channels in a vector on cores with Helium, four in
// two words elsewhere. A row is added up as if it were four channels.
#include "intarsia/targets/cortex_m/mean.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/mean_results.h"

enum { kMostAdded = 255 };  // 255 * 128 < 2^15, and 255 * 255 < 2^16

INTARSIA_INLINE int8_t finished(struct intarsia_mean_numbers n, int32_t sum) {
  return (int8_t)intarsia_saturate_s8(intarsia_mean_of(n, sum));
}

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

// Sums of eight channels, as halfwords.
INTARSIA_INLINE int16x8_t sums_of_eight(const struct intarsia_mean *s, const int8_t *element,
                                        int32_t count, mve_pred16_t lanes) {
  int16x8_t sum = vdupq_n_s16(0);
  for (; count > 0; --count, element += s->inner)
    sum = vaddq_s16(sum, vldrbq_z_s16(element, lanes));
  return sum;
}

static void mean_of_channels(const struct intarsia_mean *s, struct intarsia_mean_numbers n,
                             const int8_t *input, int8_t *output) {
  (void)n;
  for (int32_t left = s->inner; left > 0; left -= 8, input += 8, output += 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    const int8_t *element = input;
    int32x4_t even = vdupq_n_s32(-s->zeros), odd = even;
    for (int32_t rest = s->count; rest > 0; rest -= kMostAdded, element += kMostAdded * s->inner) {
      const int16x8_t some =
          sums_of_eight(s, element, rest < kMostAdded ? rest : kMostAdded, lanes);
      even = vaddq_s32(even, vmovlbq_s16(some)), odd = vaddq_s32(odd, vmovltq_s16(some));
    }
    int16x8_t result = vqmovnbq_s32(vdupq_n_s16(0), intarsia_mve_means(s, even));
    result = vqmovntq_s32(result, intarsia_mve_means(s, odd));
    result = vminq_s16(vmaxq_s16(result, vdupq_n_s16(-128)), vdupq_n_s16(127));
    vstrbq_p_s16(output, result, lanes);
  }
}

static int32_t sum_of_row(const int8_t *element, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= 16, element += 16)
    sum = vaddvaq_s8(sum, vldrbq_z_s8(element, vctp8q((uint32_t)count)));
  return sum;
}
#else
// Armv6-M loads words from multiples of four.
#if defined(__ARM_ARCH_6M__)
INTARSIA_INLINE bool has_words(const int8_t *first, int32_t step) {
  return (((uintptr_t)first | (uintptr_t)step) & 3u) == 0;
}
INTARSIA_INLINE uint32_t load_word(const int8_t *bytes) {
  return intarsia_load_word(__builtin_assume_aligned(bytes, 4));
}
#else
INTARSIA_INLINE bool has_words(const int8_t *first, int32_t step) {
  (void)first, (void)step;
  return true;
}
INTARSIA_INLINE uint32_t load_word(const int8_t *bytes) {
  return intarsia_load_word(bytes);
}
#endif

// sums[lane] += byte `lane` of every word.
INTARSIA_OUTLINE void add_words(const int8_t *word, int32_t step, int32_t words, int32_t *sums) {
  for (; words > 0; words -= kMostAdded) {
    uint32_t even = 0, odd = 0;
    const int32_t added = words < kMostAdded ? words : kMostAdded;
    for (int32_t i = added; i > 0; --i, word += step) {
#if INTARSIA_HAS_DSP
      const uint32_t bytes = load_word(word);
      __asm__("sxtab16 %0, %0, %1" : "+r"(even) : "r"(bytes));
      __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(bytes));
    }
    sums[0] += (int16_t)even, sums[1] += (int16_t)odd;
    sums[2] += (int32_t)even >> 16, sums[3] += (int32_t)odd >> 16;
#else
      const uint32_t bytes = load_word(word) ^ 0x80808080u,
                     mask = 0x00ff00ffu;  // 128 more, without a sign
      even += bytes & mask, odd += bytes >> 8 & mask;
    }
    const int32_t more = 128 * added;
    sums[0] += (int32_t)(even & 0xffffu) - more, sums[1] += (int32_t)(odd & 0xffffu) - more;
    sums[2] += (int32_t)(even >> 16) - more, sums[3] += (int32_t)(odd >> 16) - more;
#endif
  }
}

INTARSIA_INLINE void mean_of_channels(const struct intarsia_mean *s, struct intarsia_mean_numbers n,
                                      const int8_t *input, int8_t *output) {
  const int32_t channels = s->inner;
  int32_t c = 0;
  if (channels >= 4 && has_words(input, channels)) {
    for (; c < channels; c += 4) {
      const int32_t block = c + 4 <= channels ? c : channels - 4;
      int32_t sums[4] = {0};
      add_words(input + block, channels, s->count, sums);
      for (int32_t lane = 0; lane < 4; ++lane) output[block + lane] = finished(n, sums[lane]);
    }
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    const int8_t *element = input + c;
    for (int32_t i = s->count; i > 0; --i, element += channels) sum += *element;
    output[c] = finished(n, sum);
  }
}

#if INTARSIA_HAS_DSP
// Two words at a time; halves are added up before they leave their sixteen bits.
static int32_t sum_of_row(const int8_t *element, int32_t count) {
  enum { kMostPairs = kMostAdded / 2, kPair = 8 };
  int32_t sum = 0;
  for (int32_t pairs = count / kPair; pairs > 0; pairs -= kMostPairs) {
    uint32_t even = 0, odd = 0;
    for (int32_t i = pairs < kMostPairs ? pairs : kMostPairs; i > 0; --i, element += kPair) {
      const uint32_t first = load_word(element), second = load_word(element + kPair / 2);
      __asm__("sxtab16 %0, %0, %1" : "+r"(even) : "r"(first));
      __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(first));
      __asm__("sxtab16 %0, %0, %1" : "+r"(even) : "r"(second));
      __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(second));
    }
    sum = intarsia_pair_product(odd, 0x10001u, intarsia_pair_product(even, 0x10001u, sum));
  }
  for (count %= kPair; count > 0; --count) sum += *element++;
  return sum;
}
#else
static int32_t sum_of_row(const int8_t *element, int32_t count) {
  int32_t sums[4] = {0};
  if (has_words(element, 4)) {
    add_words(element, 4, count / 4, sums);
    element += count & ~3, count &= 3;
  }
  int32_t sum = sums[0] + sums[1] + sums[2] + sums[3];
  for (; count > 0; --count) sum += *element++;
  return sum;
}
#endif
#endif

void intarsia_mean_s8(const struct intarsia_mean *mean, const int8_t *input, int8_t *output) {
  const struct intarsia_mean_numbers n = intarsia_mean_numbers_of(mean);
  for (int32_t outer = mean->outer; outer > 0;
       --outer, input += mean->count * mean->inner, output += mean->inner) {
    if (mean->inner == 1)
      *output = finished(n, sum_of_row(input, mean->count));
    else
      mean_of_channels(mean, n, input, output);
  }
}
