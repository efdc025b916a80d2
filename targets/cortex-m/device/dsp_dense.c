// Weights of two channels share a halfword, 256 * B + A. SMLAD with the halfwords as they are adds up
// 256 * B + A, SXTB16 leaves A alone for a sum of its own, and B is their difference: sixteen instructions for
// the sixteen products of four inputs and four channels, each weight read once.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum {
  kLanes = 4,
  kChunk = 508,  // inputs whose products add up to less than 2^23
};

// sums += products of `groups` groups of four inputs, > 0, with a block of channels.
INTARSIA_OUTLINE void dot(const int8_t *input, const int8_t *weights, int32_t groups,
                          int32_t sums[kLanes]) {
  int32_t a = 0, b = 0, c = 0, d = 0;
#if INTARSIA_HAS_DSP_WORDS
  uint32_t odd, even;
  // The channels' halfwords in r0-r3.
#define INTARSIA_TWO(x, word, both, one)           \
  "smlad %[" both "], %[" x "], " word ", %[" both \
  "]\n"                                            \
  "sxtb16 " word ", " word                         \
  "\n"                                             \
  "smlad %[" one "], %[" x "], " word ", %[" one "]\n"
#define INTARSIA_GROUP                                                         \
  "ldr %[odd], [%[input]], #4\n"                                               \
  "ldr.w r1, [%[weights], #4]\n"                                               \
  "ldr.w r2, [%[weights], #8]\n"                                               \
  "ldr.w r3, [%[weights], #12]\n"                                              \
  "ldr.w r0, [%[weights]], #16\n"                                              \
  "sxtb16 %[even], %[odd]\n"                                                   \
  "sxtb16 %[odd], %[odd], ror #8\n" INTARSIA_TWO("even", "r0", "b", "a")       \
      INTARSIA_TWO("even", "r1", "d", "c") INTARSIA_TWO("odd", "r2", "b", "a") \
          INTARSIA_TWO("odd", "r3", "d", "c")
  __asm__ volatile(
      "subs %[groups], #4\n"
      "blt 2f\n"
      "1:\n" INTARSIA_GROUP INTARSIA_GROUP INTARSIA_GROUP INTARSIA_GROUP
      "subs %[groups], #4\n"
      "bge 1b\n"
      "2: adds %[groups], #4\n"
      "beq 4f\n"
      "3:\n" INTARSIA_GROUP
      "subs %[groups], #1\n"
      "bne 3b\n"
      "4:\n"
      : [input] "+r"(input), [weights] "+r"(weights), [groups] "+r"(groups), [a] "+r"(a),
        [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [even] "=&r"(even), [odd] "=&r"(odd)
      :
      : "r0", "r1", "r2", "r3", "cc", "memory");
#undef INTARSIA_GROUP
#undef INTARSIA_TWO
#else
  for (; groups > 0; --groups, input += 4, weights += 16) {
    const uint32_t word = intarsia_load_word(input);
    for (int32_t half = 0; half < 2; ++half) {
      const uint32_t x = half == 0 ? intarsia_even_pair(word) : intarsia_odd_pair(word);
      const uint32_t ab = intarsia_load_word(weights + 8 * half),
                     cd = intarsia_load_word(weights + 8 * half + 4);
      b = intarsia_pair_product(x, ab, b);
      a = intarsia_pair_product(x, intarsia_even_pair(ab), a);
      d = intarsia_pair_product(x, cd, d);
      c = intarsia_pair_product(x, intarsia_even_pair(cd), c);
    }
  }
#endif
  sums[0] += a;
  sums[1] += (int32_t)((uint32_t)b - (uint32_t)a) >> 8;
  sums[2] += c;
  sums[3] += (int32_t)((uint32_t)d - (uint32_t)c) >> 8;
}

INTARSIA_INLINE void dense(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           const int8_t *weights, const int32_t *channel_words,
                           enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t out_c = w->out_c, low = w->low, high = w->high;
  for (int32_t next = 0; next < out_c; next += kLanes) {
    const int32_t first = next + kLanes <= out_c ? next : out_c - kLanes;
    const struct intarsia_channel *channel = channels + first;
    int32_t sums[kLanes] = {channel[0].bias, channel[1].bias, channel[2].bias, channel[3].bias};
    const int8_t *from = input;
    for (int32_t left = w->in_c, count; left > 0;
         left -= count, from += count, weights += 4 * count) {
      count = left < kChunk ? left : kChunk;
      dot(from, weights, count / 4, sums);
    }
    for (int32_t lane = 0; lane < kLanes; ++lane)
      output[first + lane] = intarsia_result(sums[lane], &channel[lane], low, high, way);
  }
}

void intarsia_dsp_dense_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, INTARSIA_WHOLE);
}

void intarsia_dsp_dense_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                   int8_t *output, const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, INTARSIA_LIMITED);
}

void intarsia_dsp_dense_any_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, INTARSIA_ANY);
}
