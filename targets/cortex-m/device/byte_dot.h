// Dot products of int8 activations with int8 weights of four channels side by side. What a zero point takes away is in what the
// sums begin with, or, with Dsp, taken away from the activations. 65000 products fit 32 bits.
//
// Weights lie by groups of elements, filled with zeros to a whole group; of each group four runs, one per channel. Dsp: four elements;
// the activations are expanded to pairs of halfwords first (dsp_dot.h). Mve: sixteen, the activations stay where they lie.
#ifndef INTARSIA_CORTEX_M_BYTE_DOT_H_
#define INTARSIA_CORTEX_M_BYTE_DOT_H_

#include "intarsia/targets/cortex_m/wide_dot.h"

enum { INTARSIA_MVE_BYTES = 16 };

// Elements of a run, and the bytes of its weights per channel.
INTARSIA_INLINE int32_t intarsia_byte_run(int32_t count, enum intarsia_wide_core core) {
  const int32_t group = core == INTARSIA_WIDE_DSP ? INTARSIA_DSP_GROUP : INTARSIA_MVE_BYTES;
  return (count + group - 1) & -group;
}

// Each halfword of `pair` less that of `zeros`, none of which leaves 16 bits.
INTARSIA_INLINE uint32_t intarsia_pair_less(uint32_t pair, uint32_t zeros) {
#if INTARSIA_HAS_DSP
  uint32_t result;
  __asm__("ssub16 %0, %1, %2" : "=r"(result) : "r"(pair), "r"(zeros));
  return result;
#else
  return (((pair >> 16) - (zeros >> 16)) << 16) | ((pair - zeros) & 0xffffu);
#endif
}

// Activations as the products below take them. `scratch`, of a run of halfwords, and `zero` are used with Dsp only.
INTARSIA_INLINE const void *intarsia_byte_activations(int16_t *scratch, const int8_t *from,
                                                      int32_t count, int32_t zero,
                                                      enum intarsia_wide_core core) {
  if (core == INTARSIA_WIDE_MVE) return from;
  uint32_t *pairs = (uint32_t *)(void *)scratch;
  const uint32_t zeros = ((uint32_t)zero << 16) | ((uint32_t)zero & 0xffffu);
  for (; count > 0; count -= INTARSIA_DSP_GROUP, from += INTARSIA_DSP_GROUP, pairs += 2) {
    uint32_t word = 0;
    if (count >= INTARSIA_DSP_GROUP)
      word = intarsia_load_word(from);
    else
      for (int32_t i = 0; i < count; ++i) word |= (uint32_t)(uint8_t)from[i] << (8 * i);
    pairs[0] = intarsia_pair_less(intarsia_even_pair(word), zeros);
    pairs[1] = intarsia_pair_less(intarsia_odd_pair(word), zeros);
  }
  return scratch;
}

// Products with each of four channels over `count` elements, of which there is one at least.
INTARSIA_INLINE struct intarsia_four_sums intarsia_mve_byte_sums(const int8_t *x,
                                                                 const int8_t *weights,
                                                                 int32_t count) {
#if INTARSIA_HAS_MVE
  INTARSIA_FOUR_SUMS("8", INTARSIA_BYTE_LANES);
#else
  return intarsia_single_sums(NULL, x, weights, count, INTARSIA_MVE_BYTES);
#endif
}

// sums[c] = those with channel c; x: intarsia_byte_activations of them.
INTARSIA_INLINE void intarsia_byte_products(const void *x, const int8_t *weights, int32_t count,
                                            int32_t sums[4], enum intarsia_wide_core core) {
  if (core == INTARSIA_WIDE_DSP) {
    intarsia_dsp_wide_dot((const int16_t *)x, weights,
                          (count + INTARSIA_DSP_GROUP - 1) / INTARSIA_DSP_GROUP, sums);
    return;
  }
  const struct intarsia_four_sums four = intarsia_mve_byte_sums((const int8_t *)x, weights, count);
  sums[0] = four.a, sums[1] = four.b, sums[2] = four.c, sums[3] = four.d;
}

#endif  // INTARSIA_CORTEX_M_BYTE_DOT_H_
