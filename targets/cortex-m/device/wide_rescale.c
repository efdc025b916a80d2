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
#if INTARSIA_HAS_DSP_LOOPS
#define TO_HALF(value) "ssat %[" value "], #16, %[" value "]\n"
#define TO_POSITIVE_HALF(value) "usat %[" value "], #15, %[" value "]\n"
// An element's sign stands for that of its scaled value: where these differ the value is 0, and with the half of the last bit, or one less,
// stays so.
#define ROUNDED_BY_SIGN(value) "add.w %[round], %[half], %[" value "], asr #31\n"
#define ROUNDED_ONCE(value)
// Two elements at a time; `saturate`: to the range of the results.
#define RESCALE_TWOS(rounded, saturate)                                                          \
  {                                                                                              \
    int32_t twos = count / 2, first, second, round = 0;                                          \
    __asm__ volatile(                                                                          \
        ".balign 4\n"                                                                          \
        "1: ldrsh %[first], [%[input]], #4\n"                                                  \
        "ldrsh %[second], [%[input], #-2]\n" rounded("first")                                  \
        "lsl.w %[first], %[first], %[left]\n"                                                  \
        "smmlar %[first], %[first], %[multiplier], %[round]\n" rounded("second")               \
        "lsl.w %[second], %[second], %[left]\n"                                                \
        "smmlar %[second], %[second], %[multiplier], %[round]\n"                               \
        "asr.w %[first], %[first], %[right]\n"                                                 \
        "asr.w %[second], %[second], %[right]\n" saturate("first") saturate("second")          \
        "strh %[first], [%[output]], #4\n"                                                     \
        "subs.w %[twos], %[twos], #1\n"                                                        \
        "strh %[second], [%[output], #-2]\n"                                                   \
        "bne.w 1b\n"                                                                           \
        : [input] "+r"(input), [output] "+r"(output), [twos] "+r"(twos), [first] "=&r"(first), \
          [second] "=&r"(second), [round] "+r"(round)                                          \
        : [half] "r"(right == 0 ? 0 : 1 << (right - 1)), [left] "r"(left + 1),                 \
          [right] "r"(right), [multiplier] "r"(multiplier)                                     \
        : "cc", "memory"); \
  }
#define RESCALE_ALL_TWOS(saturate)            \
  if (count > 1) {                            \
    if (right > 0)                            \
      RESCALE_TWOS(ROUNDED_BY_SIGN, saturate) \
    else                                      \
      RESCALE_TWOS(ROUNDED_ONCE, saturate)    \
    count &= 1;                               \
  }
#else
#define RESCALE_ALL_TWOS(saturate)
#endif
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
  RESCALE_ALL_TWOS(TO_HALF)
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
  if (low == 0 && high == INT16_MAX) {
    RESCALE_ALL_TWOS(TO_POSITIVE_HALF)
  }
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
