// On cores with Helium eight elements at a time. The output may be one of the operands.
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

void intarsia_each_sum_s8(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                          int8_t *output) {
  const int32_t low = sum->low, high = sum->high;
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
    if (low != -128 || high != 127) intarsia_mve_clamp(output - done, done, low, high);
    left %= kTogether;
  }
#endif
  if (low == -128 && high == 127)
    one_by_one(sum, a, b, output, left, false);
  else
    one_by_one(sum, a, b, output, left, true);
}
