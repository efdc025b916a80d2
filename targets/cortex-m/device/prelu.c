// Both halves are rounded twice as products are (mul.c). What is above is no negative number, whose rounding asks for no sign.
#include "intarsia/targets/cortex_m/prelu.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
// Eight elements. Both halves are computed of all of them, one of which is zero: q2 and q3 are the odd and even ones that are above, q4
// and q5 those below. `load` brings them to q0, `factors` what they are multiplied with below to q1; r11 is the sixth number.
#define PRELU(alphas, sixth, load, factors, finish)                                    \
  const int32_t numbers[8] = {                                                         \
      -prelu->alpha_zero,      prelu->above_multiplier, -prelu->above_shift,           \
      prelu->below_multiplier, -prelu->below_shift,     sixth,                         \
      prelu->above_factor,     (prelu->count + 7) / 8};                                \
  register const void *first __asm__("r0") = input;                                    \
  register const void *second __asm__("r1") = alphas;                                  \
  register void *result __asm__("r2") = output;                                        \
  register int32_t in_zero __asm__("r10") = -prelu->in_zero;                           \
  register const int32_t *number __asm__("r3") = numbers;                              \
  register int32_t left __asm__("r12") = prelu->count;                                 \
  if (left <= 0) return;                                                               \
  __asm__ volatile(                                                                    \
      "vmov.i32 q7, #0\n"                                                              \
      "ldrd r4, lr, [r3, #24]\n"                                                       \
      "vdup.16 q6, r4\n"                                                               \
      "dls lr, lr\n"                                                                   \
      "ldm r3, {r3, r4, r5, r6, r8, r11}\n"                                            \
      "1: vctp.16 r12\n" load                                                          \
      "vadd.i16 q0, q0, r10\n"                                                         \
      "sub r12, r12, #8\n" factors                                                     \
      "vmax.s16 q2, q0, q7\n"                                                          \
      "vmin.s16 q0, q0, q7\n"                                                          \
      "vmullb.s16 q3, q2, q6\n"                                                        \
      "vmullt.s16 q2, q2, q6\n"                                                        \
      "vqrdmulh.s32 q3, q3, r4\n"                                                      \
      "vmullb.s16 q4, q0, q1\n"                                                        \
      "vrshl.s32 q3, r5\n"                                                             \
      "vmullt.s16 q5, q0, q1\n"                                                        \
      "vshr.s32 q0, q4, #31\n"                                                         \
      "vqrdmulh.s32 q2, q2, r4\n"                                                      \
      "vshr.s32 q1, q5, #31\n"                                                         \
      "vqrdmlah.s32 q0, q4, r6\n"                                                      \
      "vrshl.s32 q2, r5\n"                                                             \
      "vqrdmlah.s32 q1, q5, r6\n"                                                      \
      "vrshl.s32 q0, r8\n"                                                             \
      "vrshl.s32 q1, r8\n"                                                             \
      "vadd.i32 q3, q3, q0\n"                                                          \
      "vadd.i32 q2, q2, q1\n"                                                          \
      "vqmovnb.s32 q3, q3\n"                                                           \
      "vqmovnt.s32 q3, q2\n" finish "le lr, 1b\n"                                      \
      : "+r"(first), "+r"(second), "+r"(result), "+r"(number), "+r"(left)              \
      : "r"(in_zero)                                                                   \
      : "r4", "r5", "r6", "r8", "r11", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", \
        "q7" INTARSIA_CLOBBERS_PREDICATE, "memory");
#define ALPHAS                \
  "vpst\n"                    \
  "vldrbt.s16 q1, [r1], #8\n" \
  "vadd.i16 q1, q1, r3\n"
#define HALVES \
  "vpst\n"     \
  "vldrht.s16 q0, [r0], #16\n"
#define STORE_HALVES \
  "vpst\n"           \
  "vstrht.16 q3, [r2], #16\n"
#else
struct prelu_numbers {
  int32_t above_factor, above, above_round, above_shift;  // the factor is doubled for the product
  int32_t below, below_round, below_shift;
};

INTARSIA_INLINE struct prelu_numbers prelu_numbers_of(const struct intarsia_prelu *prelu) {
  const int32_t above = prelu->above_shift, below = prelu->below_shift, zero = prelu->out_zero;
  const struct prelu_numbers s = {2 * prelu->above_factor,
                                  prelu->above_multiplier,
                                  (above == 0 ? 0 : 1 << (above - 1)) + zero * (1 << above),
                                  above,
                                  prelu->below_multiplier,
                                  (1 << (below - 1)) + zero * (1 << below),
                                  below};
  return s;
}

// Of an element less its zero point, with twice what it is multiplied with below.
INTARSIA_INLINE int32_t prelu_above(int32_t value, const struct prelu_numbers *s) {
  return (intarsia_high_product(value * s->above_factor, s->above) + s->above_round) >>
         s->above_shift;
}
INTARSIA_INLINE int32_t prelu_below(int32_t doubled, const struct prelu_numbers *s) {
  const int32_t scaled = intarsia_high_product(doubled, s->below);
  return (scaled + (scaled >> 31) + s->below_round) >> s->below_shift;
}
#endif

void intarsia_each_prelu_s8(const struct intarsia_prelu *prelu, const int8_t *input,
                            const int8_t *alpha, int8_t *output) {
#if INTARSIA_HAS_MVE
  PRELU(alpha, prelu->out_zero, "vpst\nvldrbt.s16 q0, [r0], #8\n", ALPHAS,
        "vqadd.s16 q3, q3, r11\n"
        "vqmovnb.s16 q3, q3\n"
        "vpst\n"
        "vstrbt.16 q3, [r2], #8\n")
#else
  const struct prelu_numbers s = prelu_numbers_of(prelu);
  const int32_t in_zero = prelu->in_zero, alpha_zero = prelu->alpha_zero;
  for (const int8_t *end = input + prelu->count; input != end; ++input, ++alpha) {
    const int32_t value = *input - in_zero;
    const int32_t result =
        value >= 0 ? prelu_above(value, &s) : prelu_below(2 * value * (*alpha - alpha_zero), &s);
    *output++ = (int8_t)intarsia_saturate_s8(result);
  }
#endif
}

void intarsia_each_prelu_s16(const struct intarsia_prelu *prelu, const int16_t *input,
                             const int8_t *alpha, int16_t *output) {
#if INTARSIA_HAS_MVE
  PRELU(alpha, 0, HALVES, ALPHAS, STORE_HALVES)
#else
  const struct prelu_numbers s = prelu_numbers_of(prelu);
  const int32_t alpha_zero = prelu->alpha_zero;
  for (const int16_t *end = input + prelu->count; input != end; ++input, ++alpha) {
    const int32_t value = *input;
    const int32_t result =
        value >= 0 ? prelu_above(value, &s) : prelu_below(2 * value * (*alpha - alpha_zero), &s);
    *output++ = (int16_t)intarsia_saturate_s16(result);
  }
#endif
}

void intarsia_each_leaky_relu_s16(const struct intarsia_prelu *prelu, const int16_t *input,
                                  int16_t *output) {
#if INTARSIA_HAS_MVE
  PRELU(input, 1, HALVES, "vdup.16 q1, r11\n", STORE_HALVES)
#else
  const struct prelu_numbers s = prelu_numbers_of(prelu);
  for (const int16_t *end = input + prelu->count; input != end; ++input) {
    const int32_t value = *input;
    const int32_t result = value >= 0 ? prelu_above(value, &s) : prelu_below(2 * value, &s);
    *output++ = (int16_t)intarsia_saturate_s16(result);
  }
#endif
}
