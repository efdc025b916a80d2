// Dot products of int16 activations with int8 weights of four channels side by side. Products of up to 504
// elements fit 32 bits; sums of more go on in 64.
//
// Weights lie by groups of elements, filled with zeros to a whole group; of each group four runs, one per
// channel. Dsp: four elements, in the order 0, 2, 1, 3, which SXTB16 takes for pairs as the activations
// have them. Mve: eight elements in order.
#ifndef INTARSIA_CORTEX_M_WIDE_DOT_H_
#define INTARSIA_CORTEX_M_WIDE_DOT_H_

#include <stddef.h>

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/results.h"

enum {
  INTARSIA_WIDE_LANES = 4,
  INTARSIA_WIDE_CHUNK = 504,  // 504 * 2^15 * 2^7 < 2^31
  INTARSIA_DSP_GROUP = 4,
  INTARSIA_MVE_GROUP = 8,
};

INTARSIA_INLINE uint32_t intarsia_load_halves(const int16_t *halves) {
  uint32_t word;
  memcpy(&word, halves, sizeof word);
  return word;
}

// sums[c] = products with channel c over whole groups, of which there is one at least.
INTARSIA_OUTLINE void intarsia_dsp_wide_dot(const int16_t *x, const int8_t *weights, int32_t groups,
                                            int32_t sums[4]) {
#if INTARSIA_HAS_DSP_WORDS
  int32_t a = 0, b = 0, c = 0, d = 0;
  uint32_t low, high, pair;
  // The words of two channels in r0 and r1.
#define INTARSIA_CHANNEL(word, sum)           \
  "sxtb16 %[pair], " word                     \
  "\n"                                        \
  "sxtb16 " word ", " word                    \
  ", ror #8\n"                                \
  "smlad %[" sum "], %[low], %[pair], %[" sum \
  "]\n"                                       \
  "smlad %[" sum "], %[high], " word ", %[" sum "]\n"
#define INTARSIA_GROUP                                                                        \
  "ldr %[high], [%[x], #4]\n"                                                                 \
  "ldr %[low], [%[x]], #8\n"                                                                  \
  "ldmia %[weights]!, {r0, r1}\n" INTARSIA_CHANNEL("r0", "a")                                 \
      INTARSIA_CHANNEL("r1", "b") "ldmia %[weights]!, {r0, r1}\n" INTARSIA_CHANNEL("r0", "c") \
          INTARSIA_CHANNEL("r1", "d")
  __asm__ volatile(
      "lsrs r0, %[groups], #1\n"
      "bcc 1f\n" INTARSIA_GROUP
      "1: lsrs %[groups], %[groups], #1\n"
      "beq 3f\n"
      "2:\n" INTARSIA_GROUP INTARSIA_GROUP
      "subs %[groups], #1\n"
      "bne 2b\n"
      "3:\n"
      : [x] "+r"(x), [weights] "+r"(weights), [groups] "+r"(groups), [a] "+r"(a), [b] "+r"(b),
        [c] "+r"(c), [d] "+r"(d), [low] "=&r"(low), [high] "=&r"(high), [pair] "=&r"(pair)
      :
      : "r0", "r1", "cc", "memory");
#undef INTARSIA_GROUP
#undef INTARSIA_CHANNEL
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
#else
  for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane) sums[lane] = 0;
  for (; groups > 0; --groups, x += INTARSIA_DSP_GROUP) {
    const uint32_t low = intarsia_load_halves(x), high = intarsia_load_halves(x + 2);
    for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane, weights += INTARSIA_DSP_GROUP) {
      const uint32_t word = intarsia_load_word(weights);
      sums[lane] = intarsia_pair_product(low, intarsia_even_pair(word), sums[lane]);
      sums[lane] = intarsia_pair_product(high, intarsia_odd_pair(word), sums[lane]);
    }
  }
#endif
}

struct intarsia_four_sums {
  int32_t a, b, c, d;
};

#if INTARSIA_HAS_MVE
// The loop over products of four channels, with the predicate of its tail: `size` bits each, loaded by `load` from `x`, and from `weights`
// by `of_weights`, which takes so many bytes. Sums are r0, r2, r4 and r6: VMLADAVA takes even registers. Changes q0 and q1.
#define INTARSIA_FOUR_LANES(size, load, of_weights, bytes)                                      \
  "1: " load " q0, [%[x]], #16\n" INTARSIA_LANE(size, "r0", of_weights, bytes)                  \
      INTARSIA_LANE(size, "r2", of_weights, bytes) INTARSIA_LANE(size, "r4", of_weights, bytes) \
          INTARSIA_LANE(size, "r6", of_weights, bytes) "letp lr, 1b\n"
#define INTARSIA_LANE(size, sum, of_weights, bytes) \
  of_weights " q1, [%[weights]], #" bytes           \
             "\n"                                   \
             "vmladava.s" size " " sum ", q0, q1\n"
#define INTARSIA_BYTE_LANES INTARSIA_FOUR_LANES("8", "vldrb.u8", "vldrb.u8", "16")
#define INTARSIA_HALF_LANES INTARSIA_FOUR_LANES("16", "vldrh.u16", "vldrb.s16", "8")

#define INTARSIA_FOUR_SUMS(size, lanes)                                                       \
  register int32_t a __asm__("r0") = 0;                                                       \
  register int32_t b __asm__("r2") = 0;                                                       \
  register int32_t c __asm__("r4") = 0;                                                       \
  register int32_t d __asm__("r6") = 0;                                                       \
  __asm__ volatile("dlstp." size " lr, %[count]\n" lanes                                      \
                   : [x] "+l"(x), [weights] "+l"(weights), "+r"(a), "+r"(b), "+r"(c), "+r"(d) \
                   : [count] "r"(count)                                                       \
                   : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");                 \
  const struct intarsia_four_sums sums = {a, b, c, d};                                        \
  return sums
#else
// One element after the other, of int16 or of int8, by groups of weights.
INTARSIA_INLINE struct intarsia_four_sums intarsia_single_sums(const int16_t *halves,
                                                               const int8_t *bytes,
                                                               const int8_t *weights, int32_t count,
                                                               int32_t group) {
  int32_t sums[INTARSIA_WIDE_LANES] = {0};
  for (int32_t i = 0; i < count; ++i) {
    const int32_t element = halves != NULL ? halves[i] : bytes[i];
    const int8_t *of_group = weights + i / group * (INTARSIA_WIDE_LANES * group);
    for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane)
      sums[lane] += element * of_group[lane * group + i % group];
  }
  const struct intarsia_four_sums result = {sums[0], sums[1], sums[2], sums[3]};
  return result;
}
#endif

// Products with each of four channels over `count` elements, of which there is one at least.
INTARSIA_INLINE struct intarsia_four_sums intarsia_mve_wide_sums(const int16_t *x,
                                                                 const int8_t *weights,
                                                                 int32_t count) {
#if INTARSIA_HAS_MVE
  INTARSIA_FOUR_SUMS("16", INTARSIA_HALF_LANES);
#else
  return intarsia_single_sums(x, NULL, weights, count, INTARSIA_MVE_GROUP);
#endif
}

// sums[c] = those with channel c; a call, which has the registers to itself.
INTARSIA_OUTLINE void intarsia_mve_wide_dot(const int16_t *x, const int8_t *weights, int32_t count,
                                            int32_t sums[4]) {
  const struct intarsia_four_sums four = intarsia_mve_wide_sums(x, weights, count);
  sums[0] = four.a, sums[1] = four.b, sums[2] = four.c, sums[3] = four.d;
}

// Which core's layout and instructions; a constant wherever kernels are inlined.
enum intarsia_wide_core { INTARSIA_WIDE_DSP, INTARSIA_WIDE_MVE };

// Elements that a run of activations takes, and the bytes of its weights per channel: whole groups.
INTARSIA_INLINE int32_t intarsia_wide_run(int32_t count, enum intarsia_wide_core core) {
  const int32_t group = core == INTARSIA_WIDE_DSP ? INTARSIA_DSP_GROUP : INTARSIA_MVE_GROUP;
  return (count + group - 1) & -group;
}

// sums[c] = products over `count` elements, 1 <= count, of activations that are int8 less a zero point: 65000 of
// them fit 32 bits.
INTARSIA_INLINE void intarsia_narrow_products(const int16_t *x, const int8_t *weights,
                                              int32_t count, int32_t sums[4],
                                              enum intarsia_wide_core core) {
  if (core == INTARSIA_WIDE_DSP)
    intarsia_dsp_wide_dot(x, weights, (count + INTARSIA_DSP_GROUP - 1) / INTARSIA_DSP_GROUP, sums);
  else
    intarsia_mve_wide_dot(x, weights, count, sums);
}

// sums[c] = products over `count` elements (Dsp: the activations filled to whole groups), 1 <= count.
INTARSIA_INLINE void intarsia_wide_products(const int16_t *x, const int8_t *weights, int32_t count,
                                            int64_t sums[4], enum intarsia_wide_core core) {
  int32_t part[INTARSIA_WIDE_LANES];
  int32_t n = count < INTARSIA_WIDE_CHUNK ? count : INTARSIA_WIDE_CHUNK;
  intarsia_narrow_products(x, weights, n, part, core);
  for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane) sums[lane] = part[lane];
  while ((count -= n) > 0) {
    x += n, weights += INTARSIA_WIDE_LANES * n;
    n = count < INTARSIA_WIDE_CHUNK ? count : INTARSIA_WIDE_CHUNK;
    intarsia_narrow_products(x, weights, n, part, core);
    for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane) sums[lane] += part[lane];
  }
}

#endif  // INTARSIA_CORTEX_M_WIDE_DOT_H_
