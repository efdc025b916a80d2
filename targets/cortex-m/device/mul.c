// TFLite rounds a product twice: to 31 fractional bits, halves up, and by the shift, halves away from zero.
#include "intarsia/targets/cortex_m/mul.h"

#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
// Eight elements: products of even ones in one vector, of odd ones in another. Each is added to its sign when it is
// scaled; results are in the upper bytes (mve_results.h).
INTARSIA_OUTLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                              int8_t *output) {
  const int32_t last_bit = 1 << s->shift;
  const int32_t numbers[7] = {s->count,      (s->count + 7) / 8,
                              -s->a_zero,    -s->b_zero,
                              s->multiplier, last_bit / 2 + s->out_zero * last_bit,
                              24 - s->shift};
  register const int8_t *first __asm__("r0") = a;
  register const int8_t *second __asm__("r1") = b;
  register int8_t *result __asm__("r2") = output;
  register const int32_t *number __asm__("r3") = numbers;
  __asm__ volatile(
      "ldrd r10, r4, [r3], #8\n"
      "dls lr, r4\n"
      "ldm r3, {r3, r4, r5, r6, r8}\n"
      "1: vctp.16 r10\n"
      "vpstt\n"
      "vldrbt.s16 q0, [r0], #8\n"
      "vldrbt.s16 q1, [r1], #8\n"
      "vadd.i16 q0, q0, r3\n"
      "sub r10, r10, #8\n"
      "vadd.i16 q1, q1, r4\n"
      "vmullb.s16 q2, q0, q1\n"
      "vmullt.s16 q3, q0, q1\n"
      "vshr.s32 q4, q2, #31\n"
      "vqrdmlah.s32 q4, q2, r5\n"
      "vshr.s32 q5, q3, #31\n"
      "vqrdmlah.s32 q5, q3, r5\n"
      "vadd.i32 q4, q4, r6\n"
      "vqshl.s32 q4, r8\n"
      "vadd.i32 q5, q5, r6\n"
      "vqshl.s32 q5, r8\n"
      "vsri.32 q5, q4, #16\n"
      "vshr.u16 q5, q5, #8\n"
      "vpst\n"
      "vstrbt.16 q5, [r2], #8\n"
      "le lr, 1b\n"
      : "+r"(first), "+r"(second), "+r"(result), "+r"(number)
      :
      : "r4", "r5", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q3", "q4",
        "q5" INTARSIA_CLOBBERS_PREDICATE, "memory");
  if (s->low != -128 || s->high != 127) intarsia_mve_clamp(output, s->count, s->low, s->high);
}
#elif defined(__ARM_ARCH) && __ARM_ARCH > 6
#if INTARSIA_HAS_DSP_LOOPS
// Two elements at a time, with all of int8 as their range. A product's sign stands for that of its scaled value: where these differ the
// value is 0, and with the half of the last bit, or one less, stays so. Returns how many elements are done. Twelve registers: compilers that
// keep one or two for themselves have no more.
INTARSIA_OUTLINE int32_t twos_of_products(const struct intarsia_mul *s, const int8_t *a,
                                          const int8_t *b, int8_t *output) {
  int32_t twos = s->count / 2, a0, a1, other;
  if (twos <= 0) return 0;
  __asm__ volatile(
      ".balign 4\n"
      "1: ldrsb %[a0], [%[a]], #2\n"
      "ldrsb %[other], [%[b]], #2\n"
      "ldrsb %[a1], [%[a], #-1]\n"
      "rsb.w %[a0], %[a_zero], %[a0], lsl #1\n"
      "sub.w %[other], %[other], %[b_zero]\n"
      "mul %[a0], %[a0], %[other]\n"
      "ldrsb %[other], [%[b], #-1]\n"
      "rsb.w %[a1], %[a_zero], %[a1], lsl #1\n"
      "sub.w %[other], %[other], %[b_zero]\n"
      "mul %[a1], %[a1], %[other]\n"
      "add.w %[other], %[round], %[a0], asr #31\n"
      "smmlar %[a0], %[a0], %[multiplier], %[other]\n"
      "add.w %[other], %[round], %[a1], asr #31\n"
      "smmlar %[a1], %[a1], %[multiplier], %[other]\n"
      "asr.w %[a0], %[a0], %[shift]\n"
      "ssat %[a0], #8, %[a0]\n"
      "asr.w %[a1], %[a1], %[shift]\n"
      "ssat %[a1], #8, %[a1]\n"
      "strb %[a0], [%[output]], #2\n"
      "subs.w %[twos], %[twos], #1\n"
      "strb %[a1], [%[output], #-1]\n"
      "bne.w 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [output] "+r"(output), [twos] "+r"(twos), [a0] "=&r"(a0),
        [a1] "=&r"(a1), [other] "=&r"(other)
      : [a_zero] "r"(2 * s->a_zero), [b_zero] "r"(s->b_zero), [multiplier] "r"(s->multiplier),
        [round] "r"((1 << (s->shift - 1)) + s->out_zero * (1 << s->shift)), [shift] "r"(s->shift)
      : "cc", "memory");
  return s->count & ~1;
}
#endif

INTARSIA_INLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                             int8_t *output) {
  const int32_t a_zero = 2 * s->a_zero, b_zero = s->b_zero;  // doubled for the product
  const int32_t multiplier = s->multiplier, shift = s->shift, low = s->low, high = s->high;
  const int32_t round = (1 << (shift - 1)) + s->out_zero * (1 << shift);
  const int8_t *const end = a + s->count;
#if INTARSIA_HAS_DSP_LOOPS
  if (low == -128 && high == 127) {
    const int32_t done = twos_of_products(s, a, b, output);
    a += done, b += done, output += done;
  }
#endif
  for (; a != end; ++a, ++b) {
    const int32_t value = intarsia_high_product((2 * *a - a_zero) * (*b - b_zero), multiplier);
    *output++ = (int8_t)intarsia_clamp_i32((value + (value >> 31) + round) >> shift, low, high);
  }
}
#else
// Without long products: the magnitude, of 16 bits, by the halves of the multiplier. No sum leaves 32 bits.
INTARSIA_INLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                             int8_t *output) {
  const int32_t a_zero = s->a_zero, b_zero = s->b_zero, out_zero = s->out_zero, low = s->low,
                high = s->high;
  const uint32_t upper = (uint32_t)s->multiplier >> 16, lower = (uint32_t)s->multiplier & 0xffffu;
  // Both halves that are added, in units of 2^16, less the one that `below` is above the lower product.
  const uint32_t round = (1u << 14) + (1u << (14 + s->shift)) - 1u,
                 shift = 15u + (uint32_t)s->shift;
  for (const int8_t *end = a + s->count; a != end; ++a, ++b) {
    const int32_t product = (*a - a_zero) * (*b - b_zero), sign = product >> 31;
    const uint32_t magnitude = (uint32_t)((product ^ sign) - sign);
    const uint32_t below =
        (magnitude * lower + 0x10000u + (uint32_t)sign) >> 16;  // halves up: of negative ones, down
    const int32_t value = (int32_t)((magnitude * upper + below + round) >> shift);
    *output++ = (int8_t)intarsia_clamp_i32((value ^ sign) - sign + out_zero, low, high);
  }
}
#endif

void intarsia_each_product_s8(const struct intarsia_mul *mul, const int8_t *a, const int8_t *b,
                              int8_t *output) {
  for (int32_t rows = mul->rows; rows > 0; --rows, a += mul->count, output += mul->count)
    mul_row(mul, a, b, output);
}
