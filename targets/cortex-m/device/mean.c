// Sums of halfwords, as many elements as they hold at a time: eight channels in a vector on cores with Helium, four in
// two words elsewhere. A row is added up as if it were four channels.
#include "intarsia/targets/cortex_m/mean.h"

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum { kMostAdded = 255 };  // 255 * 128 < 2^15, and 255 * 255 < 2^16

INTARSIA_INLINE int8_t finished(const struct intarsia_mean *s, int32_t sum) {
  const int32_t value = intarsia_requantize(sum - s->zeros, s->multiplier, s->shift);
  return (int8_t)intarsia_clamp_i32(value + s->out_zero, -128, 127);
}

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

enum { kTogether = 8 };

static void mean_of_channels(const struct intarsia_mean *s, const int8_t *input, int8_t *output) {
  for (int32_t c = 0; c < s->inner; c += kTogether) {
    const int32_t left = s->inner - c, channels = left < kTogether ? left : kTogether;
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    const int8_t *element = input + c;
    int32_t sums[kTogether] = {0};
    for (int32_t rest = s->count; rest > 0; rest -= kMostAdded) {
      int16x8_t part = vdupq_n_s16(0);
      for (int32_t i = rest < kMostAdded ? rest : kMostAdded; i > 0; --i, element += s->inner)
        part = vaddq_s16(part, vldrbq_z_s16(element, lanes));
      int16_t parts[kTogether];
      vst1q_s16(parts, part);
      for (int32_t lane = 0; lane < channels; ++lane) sums[lane] += parts[lane];
    }
    for (int32_t lane = 0; lane < channels; ++lane) output[c + lane] = finished(s, sums[lane]);
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

static void mean_of_channels(const struct intarsia_mean *s, const int8_t *input, int8_t *output) {
  const int32_t channels = s->inner;
  int32_t c = 0;
  if (channels >= 4 && has_words(input, channels)) {
    for (; c < channels; c += 4) {
      const int32_t block = c + 4 <= channels ? c : channels - 4;
      int32_t sums[4] = {0};
      add_words(input + block, channels, s->count, sums);
      for (int32_t lane = 0; lane < 4; ++lane) output[block + lane] = finished(s, sums[lane]);
    }
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    const int8_t *element = input + c;
    for (int32_t i = s->count; i > 0; --i, element += channels) sum += *element;
    output[c] = finished(s, sum);
  }
}

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

void intarsia_mean_s8(const struct intarsia_mean *mean, const int8_t *input, int8_t *output) {
  for (int32_t outer = mean->outer; outer > 0;
       --outer, input += mean->count * mean->inner, output += mean->inner) {
    if (mean->inner == 1)
      *output = finished(mean, sum_of_row(input, mean->count));
    else
      mean_of_channels(mean, input, output);
  }
}
