// Int16 from one scale to another, in TFLite's arithmetic: the product with a multiplier, rounded to 31 fractional bits, and its
// shift, halves away from zero. Zero points are zero. With Helium eight elements at a time. The output may be the input.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

void intarsia_each_rescale_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t left, int32_t right) {
#if INTARSIA_HAS_MVE
  // Without a shift to the right no half is to be rounded: the sign that is added counts as nothing.
  register int32_t groups __asm__("lr") = (count + 7) / 8;
  if (count <= 0) return;
  __asm__ volatile(
      "vdup.32 q6, %[sign]\n"
      "dls lr, lr\n"
      "1: vctp.16 %[count]\n"
      "sub.w %[count], %[count], #8\n"
      "vpst\n"
      "vldrht.s16 q0, [%[input]], #16\n"
      "vmovlb.s16 q1, q0\n"
      "vmovlt.s16 q2, q0\n"
      "vmul.i32 q1, q1, %[unit]\n"
      "vmul.i32 q2, q2, %[unit]\n"
      "vshr.s32 q3, q1, #31\n"
      "vand q3, q3, q6\n"
      "vqrdmlah.s32 q3, q1, %[multiplier]\n"
      "vshr.s32 q4, q2, #31\n"
      "vand q4, q4, q6\n"
      "vqrdmlah.s32 q4, q2, %[multiplier]\n"
      "vrshl.s32 q3, %[shift]\n"
      "vrshl.s32 q4, %[shift]\n"
      "vqmovnb.s32 q0, q3\n"
      "vqmovnt.s32 q0, q4\n"
      "vpst\n"
      "vstrht.16 q0, [%[output]], #16\n"
      "le lr, 1b\n"
      : [input] "+r"(input), [output] "+r"(output), [count] "+r"(count), [groups] "+r"(groups)
      : [unit] "r"(1 << left), [multiplier] "r"(multiplier), [shift] "r"(-right),
        [sign] "r"(right == 0 ? 0 : -1)
      : "q0", "q1", "q2", "q3", "q4", "q6" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  const int32_t half = right == 0 ? 0 : 1 << (right - 1), sign = right == 0 ? 0 : -1;
  const int32_t doubled = 2 << left;  // for the product
  for (; count > 0; --count) {
    const int32_t value = intarsia_high_product(*input++ * doubled, multiplier);
    *output++ = (int16_t)intarsia_clamp_i32((value + ((value >> 31) & sign) + half) >> right,
                                            INT16_MIN, INT16_MAX);
  }
#endif
}
