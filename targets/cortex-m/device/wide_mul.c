// Element-wise product of int16 tensors, in TFLite's arithmetic: rounded as mul.c has it, without zero points. Eight elements at a
// time with Helium, two in a word with SMULBB and SMULTT. The output may be one of the operands.
#include "intarsia/targets/cortex_m/mul.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

INTARSIA_OUTLINE __attribute__((unused)) void wide_products_one_by_one(const struct intarsia_mul *s,
                                                                       const int16_t *a,
                                                                       const int16_t *b,
                                                                       int16_t *output,
                                                                       int32_t count) {
  for (; count > 0; --count)
    *output++ = (int16_t)intarsia_clamp_i32(
        intarsia_requantize_right(*a++ * *b++, s->multiplier, s->shift), s->low, s->high);
}

#if INTARSIA_HAS_MVE
// Products of even elements are in q2, of odd ones in q3; each is added to its sign when it is scaled, so that halves are rounded
// away from zero. Only loads and stores are predicated: half of a word would be the rest of another one.
INTARSIA_OUTLINE void wide_mul_row(const struct intarsia_mul *s, const int16_t *a, const int16_t *b,
                                   int16_t *output) {
  register int32_t groups __asm__("lr") = (s->count + 7) / 8;
  int32_t left = s->count;
  __asm__ volatile(
      "vdup.16 q6, %[low]\n"
      "vdup.16 q7, %[high]\n"
      "dls lr, lr\n"
      "1: vctp.16 %[left]\n"
      "sub.w %[left], %[left], #8\n"
      "vpstt\n"
      "vldrht.s16 q0, [%[a]], #16\n"
      "vldrht.s16 q1, [%[b]], #16\n"
      "vmullb.s16 q2, q0, q1\n"
      "vshr.s32 q4, q2, #31\n"
      "vmullt.s16 q3, q0, q1\n"
      "vshr.s32 q5, q3, #31\n"
      "vqrdmlah.s32 q4, q2, %[multiplier]\n"
      "vqrdmlah.s32 q5, q3, %[multiplier]\n"
      "vrshl.s32 q4, %[shift]\n"
      "vrshl.s32 q5, %[shift]\n"
      "vqmovnb.s32 q4, q4\n"
      "vqmovnt.s32 q4, q5\n"
      "vmax.s16 q4, q4, q6\n"
      "vmin.s16 q4, q4, q7\n"
      "vpst\n"
      "vstrht.16 q4, [%[output]], #16\n"
      "le lr, 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [output] "+r"(output), [groups] "+r"(groups), [left] "+r"(left)
      : [multiplier] "r"(s->multiplier), [shift] "r"(-s->shift), [low] "r"(s->low),
        [high] "r"(s->high)
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "memory");
}
#elif INTARSIA_HAS_DSP_WORDS
// QADD doubles a product for SMMLAR; of -32768 squared it saturates, which the compiler has seen to change no result.
INTARSIA_OUTLINE void wide_mul_row(const struct intarsia_mul *s, const int16_t *a, const int16_t *b,
                                   int16_t *output) {
  const int32_t pairs = s->low == INT16_MIN && s->high == INT16_MAX ? s->count / 2 : 0;
  if (pairs > 0) {
    const int16_t *const end = a + 2 * pairs;
    int32_t first, second, added;
    __asm__ volatile(
        ".balign 4\n"
        "1: ldr.w %[first], [%[a]], #4\n"
        "ldr.w %[added], [%[b]], #4\n"
        "smultt %[second], %[first], %[added]\n"
        "smulbb %[first], %[first], %[added]\n"
        "qadd %[second], %[second], %[second]\n"
        "qadd %[first], %[first], %[first]\n"
        "add.w %[added], %[round], %[second], asr #31\n"
        "smmlar %[second], %[second], %[multiplier], %[added]\n"
        "add.w %[added], %[round], %[first], asr #31\n"
        "smmlar %[first], %[first], %[multiplier], %[added]\n"
        "asr.w %[second], %[second], %[shift]\n"
        "asr.w %[first], %[first], %[shift]\n"
        "ssat %[second], #16, %[second]\n"
        "ssat %[first], #16, %[first]\n"
        "cmp %[a], %[end]\n"
        "pkhbt %[first], %[first], %[second], lsl #16\n"
        "str.w %[first], [%[output]], #4\n"
        "bne.w 1b\n"
        : [a] "+r"(a), [b] "+r"(b), [output] "+r"(output), [first] "=&r"(first),
          [second] "=&r"(second), [added] "=&r"(added)
        : [end] "r"(end), [multiplier] "r"(s->multiplier), [round] "r"(1 << (s->shift - 1)),
          [shift] "r"(s->shift)
        : "cc", "memory");
  }
  wide_products_one_by_one(s, a, b, output, s->count - 2 * pairs);
}
#else
INTARSIA_INLINE void wide_mul_row(const struct intarsia_mul *s, const int16_t *a, const int16_t *b,
                                  int16_t *output) {
  wide_products_one_by_one(s, a, b, output, s->count);
}
#endif

void intarsia_each_product_s16(const struct intarsia_mul *mul, const int16_t *a, const int16_t *b,
                               int16_t *output) {
  for (int32_t rows = mul->rows; rows > 0; --rows, a += mul->count, output += mul->count)
    wide_mul_row(mul, a, b, output);
}
