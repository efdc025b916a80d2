// On cores with Helium eight elements at a time, with the DSP extension four. The output may be one of the operands.
#include "intarsia/targets/cortex_m/sum.h"

#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kTogether = 8 };

INTARSIA_INLINE void one_by_one(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                                int8_t *output, int32_t count, bool limited) {
  const int32_t a_factor = sum->a_factor, b_factor = sum->b_factor, start = sum->start;
  const int32_t shift = sum->shift, low = sum->low, high = sum->high;
  for (; count > 0; --count) {
    const int32_t value = (*a++ * a_factor + *b++ * b_factor + start) >> shift;
    *output++ =
        (int8_t)(limited ? intarsia_clamp_i32(value, low, high) : intarsia_saturate_s8(value));
  }
}

INTARSIA_OUTLINE void rest_of_sums(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                                   int8_t *output, int32_t count) {
  if (sum->low == -128 && sum->high == 127)
    one_by_one(sum, a, b, output, count, false);
  else
    one_by_one(sum, a, b, output, count, true);
}

#if INTARSIA_HAS_DSP_LOOPS && !INTARSIA_HAS_MVE
// The bits behind the point that the compiler takes unless the scales are far apart (compiler/add.cpp): SSAT shifts by a constant.
enum { kUsualShift = 22, kFour = 4 };

#define SUM_OF_TWO(first, second)             \
  "ldrsb %[a1], [%[a], #" second              \
  "]\n"                                       \
  "ldrsb %[b1], [%[b], #" second              \
  "]\n"                                       \
  "mla %[a0], %[a0], %[a_factor], %[start]\n" \
  "mla %[a1], %[a1], %[a_factor], %[start]\n" \
  "mla %[a0], %[b0], %[b_factor], %[a0]\n"    \
  "mla %[a1], %[b1], %[b_factor], %[a1]\n"    \
  "ssat %[a0], #8, %[a0], asr #22\n"          \
  "ssat %[a1], #8, %[a1], asr #22\n"          \
  "strb %[a0], [%[output], #" first           \
  "]\n"                                       \
  "strb %[a1], [%[output], #" second "]\n"

// Returns how many elements are done.
INTARSIA_INLINE int32_t fours_of_sums(const struct intarsia_sum *sum, const int8_t *a,
                                      const int8_t *b, int8_t *output) {
  int32_t fours = sum->count / kFour, a0, a1, b0, b1;
  if (fours <= 0) return 0;
  __asm__ volatile(
      ".balign 4\n"
      "1: ldrsb %[a0], [%[a]], #4\n"
      "ldrsb %[b0], [%[b]], #4\n"
      "add.w %[output], %[output], #4\n"
      SUM_OF_TWO("-4", "-3")
      "ldrsb %[a0], [%[a], #-2]\n"
      "ldrsb %[b0], [%[b], #-2]\n"
      SUM_OF_TWO("-2", "-1")
      "subs.w %[fours], %[fours], #1\n"
      "bne.w 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [output] "+r"(output), [fours] "+r"(fours), [a0] "=&r"(a0),
        [a1] "=&r"(a1), [b0] "=&r"(b0), [b1] "=&r"(b1)
      : [a_factor] "r"(sum->a_factor), [b_factor] "r"(sum->b_factor), [start] "r"(sum->start)
      : "cc", "memory");
  return sum->count / kFour * kFour;
}
#undef SUM_OF_TWO
#endif

void intarsia_each_sum_s8(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                          int8_t *output) {
  int32_t left = sum->count;
#if INTARSIA_HAS_MVE
  if (left >= kTogether) {
    // Results are in the upper bytes of words, where saturation of 32 bits is that of 8.
    const int32_t done = left / kTogether * kTogether;
    register int32_t groups __asm__("lr") = left / kTogether;
    __asm__ volatile(
        "vdup.32 q6, %[a_factor]\n"
        "dls lr, lr\n"
        "1: vldrb.s32 q0, [%[a]], #8\n"
        "vmlas.s32 q0, q6, %[start]\n"
        "vldrb.s32 q1, [%[b]], #8\n"
        "vmla.s32 q0, q1, %[b_factor]\n"
        "vldrb.s32 q2, [%[a], #-4]\n"
        "vqshl.s32 q0, %[left]\n"
        "vldrb.s32 q3, [%[b], #-4]\n"
        "vmlas.s32 q2, q6, %[start]\n"
        "vshr.s32 q0, q0, #24\n"
        "vmla.s32 q2, q3, %[b_factor]\n"
        "vstrb.32 q0, [%[output]], #8\n"
        "vqshl.s32 q2, %[left]\n"
        "vshr.s32 q2, q2, #24\n"
        "vstrb.32 q2, [%[output], #-4]\n"
        "le lr, 1b\n"
        : [groups] "+r"(groups), [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)
        : [a_factor] "r"(sum->a_factor), [b_factor] "r"(sum->b_factor), [start] "r"(sum->start),
          [left] "r"(24 - sum->shift)
        : "q0", "q1", "q2", "q3", "q6", "memory");
    if (sum->low != -128 || sum->high != 127)
      intarsia_mve_clamp(output - done, done, sum->low, sum->high);
    left %= kTogether;
  }
#elif INTARSIA_HAS_DSP_LOOPS
  if (sum->shift == kUsualShift && sum->low == -128 && sum->high == 127) {
    const int32_t done = fours_of_sums(sum, a, b, output);
    a += done, b += done, output += done, left -= done;
  }
#endif
  if (left > 0) rest_of_sums(sum, a, b, output, left);
}
