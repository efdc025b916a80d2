// Two rows of an image as pairs of halfwords, which SMLAD takes: for a block of four channels, four words per column.
#ifndef INTARSIA_CORTEX_M_DSP_MERGE_H_
#define INTARSIA_CORTEX_M_DSP_MERGE_H_

#include <string.h>

#include "intarsia/targets/cortex_m/dsp_dot.h"

enum { kMergedLanes = 4 };  // channels of a block: words per column of a pair of rows

// The lower and the upper halves of both words beside each other, `upper`'s below and `lower`'s above.
INTARSIA_INLINE void intarsia_pair_halves(uint32_t upper, uint32_t lower, uint32_t *first,
                                          uint32_t *second) {
#if INTARSIA_HAS_DSP
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(*first) : "r"(upper), "r"(lower));
  __asm__("pkhtb %0, %2, %1, asr #16" : "=r"(*second) : "r"(upper), "r"(lower));
#else
  *first = (upper & 0xffffu) | lower << 16;
  *second = upper >> 16 | (lower & 0xffff0000u);
#endif
}

// Channel by channel: `upper`'s element below, `lower`'s above.
INTARSIA_INLINE void intarsia_merge(uint32_t *to, uint32_t upper, uint32_t lower) {
  uint32_t first, second;
  intarsia_pair_halves(upper, lower, &first, &second);
  to[0] = intarsia_even_pair(first);
  to[1] = intarsia_odd_pair(first);
  to[2] = intarsia_even_pair(second);
  to[3] = intarsia_odd_pair(second);
}

// Columns of a pair of rows; a row outside of the image has a step of 0.
INTARSIA_OUTLINE void intarsia_merge_rows(uint32_t *to, const int8_t *upper, int32_t upper_step,
                                          const int8_t *lower, int32_t lower_step,
                                          int32_t columns) {
#if INTARSIA_HAS_DSP_LOOPS && INTARSIA_HAS_DSP_WORDS
  uint32_t above, below, first, second;
  __asm__ volatile(
      ".balign 4\n"
      "1: ldr.w %[above], [%[upper]]\n"
      "ldr.w %[below], [%[lower]]\n"
      "add.w %[upper], %[upper], %[upper_step]\n"
      "add.w %[lower], %[lower], %[lower_step]\n"
      "pkhbt %[first], %[above], %[below], lsl #16\n"
      "pkhtb %[second], %[below], %[above], asr #16\n"
      "sxtb16 %[above], %[first]\n"
      "sxtb16 %[first], %[first], ror #8\n"
      "sxtb16 %[below], %[second]\n"
      "sxtb16 %[second], %[second], ror #8\n"
      "str.w %[first], [%[to], #4]\n"
      "str.w %[below], [%[to], #8]\n"
      "str.w %[second], [%[to], #12]\n"
      "str.w %[above], [%[to]], #16\n"
      "subs.w %[columns], %[columns], #1\n"
      "bne.w 1b\n"
      : [to] "+r"(to), [upper] "+r"(upper), [lower] "+r"(lower), [columns] "+r"(columns),
        [above] "=&r"(above), [below] "=&r"(below), [first] "=&r"(first), [second] "=&r"(second)
      : [upper_step] "r"(upper_step), [lower_step] "r"(lower_step)
      : "cc", "memory");
#else
  for (; columns > 0; --columns, to += kMergedLanes, upper += upper_step, lower += lower_step)
    intarsia_merge(to, intarsia_load_word(upper), intarsia_load_word(lower));
#endif
}

// Four channels of int16 of two rows, column by column.
INTARSIA_INLINE void intarsia_merge_halves(uint32_t *to, const int8_t *upper, int32_t upper_step,
                                           const int8_t *lower, int32_t lower_step,
                                           int32_t columns) {
  for (; columns > 0; --columns, to += kMergedLanes, upper += upper_step, lower += lower_step)
    for (int32_t pair = 0; pair < kMergedLanes; pair += 2)
      intarsia_pair_halves(intarsia_load_word(upper + 2 * pair),
                           intarsia_load_word(lower + 2 * pair), &to[pair], &to[pair + 1]);
}

// Channels that several outputs each are made of: where the block's elements lie in a pixel, in bytes from the first of them.
struct intarsia_lanes {
  int32_t at[kMergedLanes];
};

// Of a block of `count` channels of the output; what is beyond them is the first one's.
INTARSIA_INLINE struct intarsia_lanes intarsia_lanes_from(int32_t channel, int32_t count,
                                                          int32_t multiplier, int32_t size) {
  struct intarsia_lanes lanes = {{0}};
  for (int32_t lane = 1; lane < kMergedLanes && lane < count; ++lane)
    lanes.at[lane] = size * ((channel + lane) / multiplier - channel / multiplier);
  return lanes;
}

INTARSIA_INLINE uint32_t intarsia_element(const int8_t *at, int32_t size) {
  int16_t half;
  if (size == 1) return (uint32_t)*at;
  memcpy(&half, at, sizeof half);  // of words of zeros as well
  return (uint32_t)half;
}

// Columns of a pair of rows of those, of elements of `size` bytes; of a row outside of the image as above.
INTARSIA_INLINE void intarsia_merge_lanes(uint32_t *to, const int8_t *upper, int32_t upper_step,
                                          const int8_t *lower, int32_t lower_step, int32_t columns,
                                          const struct intarsia_lanes *lanes, int32_t size) {
  const int32_t second = lanes->at[1], third = lanes->at[2], fourth = lanes->at[3];
  for (; columns > 0; --columns, to += kMergedLanes, upper += upper_step, lower += lower_step) {
#define INTARSIA_MERGED(at) \
  (intarsia_element(upper + (at), size) & 0xffffu) | intarsia_element(lower + (at), size) << 16
    const uint32_t a = INTARSIA_MERGED(0), b = INTARSIA_MERGED(second), c = INTARSIA_MERGED(third),
                   d = INTARSIA_MERGED(fourth);
#undef INTARSIA_MERGED
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  }
}

// Of int16, with any limits.
INTARSIA_INLINE int32_t intarsia_half_result(int32_t sum, const struct intarsia_channel *channel,
                                             int32_t low, int32_t high) {
  const int32_t scaled = (int32_t)(((int64_t)sum * channel->multiplier) >> 32);
  return intarsia_clamp_i32((scaled + channel->round) >> channel->shift, low, high);
}

#endif  // INTARSIA_CORTEX_M_DSP_MERGE_H_
