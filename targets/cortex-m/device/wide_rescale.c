// Integers from one scale to another, in TFLite's arithmetic: the product with a multiplier, rounded to 31 fractional bits, and its
// shift, halves away from zero; of a ReLU within its limits. With Helium eight elements at a time. The output may be the input where
// elements are as wide.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
// Without a shift to the right no half is to be rounded: the sign that is added counts as nothing. `from_in` and `to_out`: what takes off
// the input's zero point and adds the output's; `narrow`: what is left to do with results of 16 bits. Without zero points both registers are
// free for the limits of a ReLU.
#define RESCALE(load, store, from_in, to_out, narrow)                                            \
  {                                                                                              \
    register int32_t groups __asm__("lr") = (count + 7) / 8;                                     \
    if (count <= 0) return;                                                                      \
    __asm__ volatile(                                                                            \
        "vdup.32 q6, %[sign]\n"                                                                  \
        "dls lr, lr\n"                                                                           \
        "1: vctp.16 %[count]\n"                                                                  \
        "sub.w %[count], %[count], #8\n"                                                         \
        "vpst\n" load                                                                            \
        "vmovlb.s16 q1, q0\n"                                                                    \
        "vmovlt.s16 q2, q0\n" from_in                                                            \
        "vmul.i32 q1, q1, %[unit]\n"                                                             \
        "vmul.i32 q2, q2, %[unit]\n"                                                             \
        "vshr.s32 q3, q1, #31\n"                                                                 \
        "vand q3, q3, q6\n"                                                                      \
        "vqrdmlah.s32 q3, q1, %[multiplier]\n"                                                   \
        "vshr.s32 q4, q2, #31\n"                                                                 \
        "vand q4, q4, q6\n"                                                                      \
        "vqrdmlah.s32 q4, q2, %[multiplier]\n"                                                   \
        "vrshl.s32 q3, %[shift]\n"                                                               \
        "vrshl.s32 q4, %[shift]\n" to_out                                                        \
        "vqmovnb.s32 q0, q3\n"                                                                   \
        "vqmovnt.s32 q0, q4\n" narrow "vpst\n" store "le lr, 1b\n"                               \
        : [input] "+r"(input), [output] "+r"(output), [count] "+r"(count), [groups] "+r"(groups) \
        : [unit] "r"(1 << left), [multiplier] "r"(multiplier), [shift] "r"(-right),              \
          [sign] "r"(right == 0 ? 0 : -1), [in_zero] "r"(in_zero), [out_zero] "r"(out_zero)      \
        : "q0", "q1", "q2", "q3", "q4", "q6" INTARSIA_CLOBBERS_PREDICATE, "memory");             \
  }
#define LOAD_HALVES "vldrht.s16 q0, [%[input]], #16\n"
#define STORE_HALVES "vstrht.16 q0, [%[output]], #16\n"
#define FROM_IN                   \
  "vsub.i32 q1, q1, %[in_zero]\n" \
  "vsub.i32 q2, q2, %[in_zero]\n"
#define TO_OUT                     \
  "vadd.i32 q3, q3, %[out_zero]\n" \
  "vadd.i32 q4, q4, %[out_zero]\n"
#define WITHIN_LIMITS         \
  "vdup.16 q1, %[in_zero]\n"  \
  "vdup.16 q2, %[out_zero]\n" \
  "vmax.s16 q0, q0, q1\n"     \
  "vmin.s16 q0, q0, q2\n"
#else
INTARSIA_INLINE int32_t rescaled(int32_t doubled, int32_t multiplier, int32_t right) {
  const int32_t half = right == 0 ? 0 : 1 << (right - 1), sign = right == 0 ? 0 : -1;
  const int32_t value = intarsia_high_product(doubled, multiplier);
  return (value + ((value >> 31) & sign) + half) >> right;
}
#define RESCALE_EACH(TYPE, low, high)                                                      \
  for (; count > 0; --count) {                                                             \
    const int32_t value = rescaled((*input++ - in_zero) * (2 << left), multiplier, right); \
    *output++ = (TYPE)intarsia_clamp_i32(value + out_zero, low, high);                     \
  }
#endif

void intarsia_each_rescale_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t left, int32_t right) {
  enum { in_zero = 0, out_zero = 0 };
#if INTARSIA_HAS_MVE
  RESCALE(LOAD_HALVES, STORE_HALVES, "", "", "")
#else
  RESCALE_EACH(int16_t, INT16_MIN, INT16_MAX)
#endif
}

void intarsia_each_relu_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t left, int32_t right, int32_t low,
                            int32_t high) {
#if INTARSIA_HAS_MVE
  const int32_t in_zero = low, out_zero = high;
  RESCALE(LOAD_HALVES, STORE_HALVES, "", "", WITHIN_LIMITS)
#else
  enum { in_zero = 0, out_zero = 0 };
  RESCALE_EACH(int16_t, low, high)
#endif
}

void intarsia_each_requantize_s16(const int16_t *input, int16_t *output, int32_t count,
                                  int32_t multiplier, int32_t left, int32_t right, int32_t in_zero,
                                  int32_t out_zero) {
#if INTARSIA_HAS_MVE
  RESCALE(LOAD_HALVES, STORE_HALVES, FROM_IN, TO_OUT, "")
#else
  RESCALE_EACH(int16_t, INT16_MIN, INT16_MAX)
#endif
}

void intarsia_each_requantize_s8_s16(const int8_t *input, int16_t *output, int32_t count,
                                     int32_t multiplier, int32_t left, int32_t right,
                                     int32_t in_zero, int32_t out_zero) {
#if INTARSIA_HAS_MVE
  RESCALE("vldrbt.s16 q0, [%[input]], #8\n", STORE_HALVES, FROM_IN, TO_OUT, "")
#else
  RESCALE_EACH(int16_t, INT16_MIN, INT16_MAX)
#endif
}

void intarsia_each_requantize_s16_s8(const int16_t *input, int8_t *output, int32_t count,
                                     int32_t multiplier, int32_t left, int32_t right,
                                     int32_t in_zero, int32_t out_zero) {
#if INTARSIA_HAS_MVE
  RESCALE(LOAD_HALVES, "vstrbt.16 q0, [%[output]], #8\n", FROM_IN, TO_OUT, "vqmovnb.s16 q0, q0\n")
#else
  RESCALE_EACH(int8_t, INT8_MIN, INT8_MAX)
#endif
}
