// Element-wise sums and differences of int16 tensors of one shape, in TFLite's arithmetic: as add.c, operands shifted to the left
// by 15 and no zero points. The operand of the larger scale is halved, which is exact: a shift to the left by 14.
#include "intarsia/targets/cortex_m/add.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kWideUnit = 1 << 15, kWideHalf = 1 << 14 };

// `doubled` times the multiplier, rounded twice as TFLite does.
INTARSIA_INLINE int32_t wide_scaled(int32_t doubled, int32_t multiplier, int32_t shift) {
  const int32_t value = intarsia_high_product(doubled, multiplier);
  return shift == 0 ? value : (value + (value >> 31) + (1 << (shift - 1))) >> shift;
}

INTARSIA_INLINE void wide_one_by_one(const struct intarsia_add *add, const int16_t *a,
                                     const int16_t *b, int16_t *output, int32_t count,
                                     int32_t sign) {
  const struct intarsia_add s = *add;
  for (const int16_t *end = a + count; a != end; ++a, ++b) {
    const int32_t first = wide_scaled(*a * (2 * kWideUnit), s.a_multiplier, s.a_shift);
    const int32_t second = wide_scaled(*b * (2 * kWideUnit), s.b_multiplier, s.b_shift);
    const int32_t sum = first + sign * second;
    *output++ = (int16_t)intarsia_clamp_i32(wide_scaled(sum + sum, s.out_multiplier, s.out_shift),
                                            s.low, s.high);
  }
}

#if INTARSIA_HAS_MVE || INTARSIA_HAS_DSP_LOOPS
struct wide_operands {
  const int16_t *half, *other;
  int32_t multiplier, shift;  // of the other
  bool swapped;               // the second one is halved
};

INTARSIA_INLINE bool wide_is_half(int32_t multiplier, int32_t shift) {
  return multiplier == 1 << 30 && shift == 0;
}

// False where neither is halved, which scales do not bring about.
INTARSIA_INLINE bool wide_half_of(const struct intarsia_add *add, const int16_t *a,
                                  const int16_t *b, struct wide_operands *found) {
  if (wide_is_half(add->a_multiplier, add->a_shift))
    *found = (struct wide_operands){a, b, add->b_multiplier, add->b_shift, false};
  else
    *found = (struct wide_operands){b, a, add->a_multiplier, add->a_shift, true};
  return !found->swapped || wide_is_half(add->b_multiplier, add->b_shift);
}
#endif

#if INTARSIA_HAS_MVE
enum { kWideTogether = 8 };

// Eight elements at a time, four in each of two vectors. Factors are taken by the unit that multiplies, which has less
// to do than the one that shifts: q1 and q4 are the other operand scaled, q2 and q5 the one that is halved.
#define WIDE_SUMS(combine_first, combine_second)                                              \
  __asm__ volatile(                                                                           \
      "ldm r3, {r3, r4, r5, r6, r8, r10, r12, lr}\n"                                          \
      "vdup.32 q6, r12\n"                                                                     \
      "vdup.32 q7, lr\n"                                                                      \
      "dls lr, %[groups]\n"                                                                   \
      "1: vldrh.s32 q0, [r1], #16\n"                                                          \
      "vmul.i32 q0, q0, r3\n"                                                                 \
      "vldrh.s32 q3, [r1, #-8]\n"                                                             \
      "vmul.i32 q3, q3, r3\n"                                                                 \
      "vshr.s32 q1, q0, #31\n"                                                                \
      "vldrh.s32 q2, [r0], #16\n"                                                             \
      "vqrdmlah.s32 q1, q0, r4\n"                                                             \
      "vshr.s32 q4, q3, #31\n"                                                                \
      "vldrh.s32 q5, [r0, #-8]\n"                                                             \
      "vqrdmlah.s32 q4, q3, r4\n"                                                             \
      "vrshl.s32 q1, r5\n" combine_first "vrshl.s32 q4, r5\n" combine_second                  \
      "vshr.s32 q0, q1, #31\n"                                                                \
      "vqrdmlah.s32 q0, q1, r8\n"                                                             \
      "vshr.s32 q3, q4, #31\n"                                                                \
      "vqrdmlah.s32 q3, q4, r8\n"                                                             \
      "vrshl.s32 q0, r10\n"                                                                   \
      "vrshl.s32 q3, r10\n"                                                                   \
      "vmax.s32 q0, q0, q6\n"                                                                 \
      "vmax.s32 q3, q3, q6\n"                                                                 \
      "vmin.s32 q0, q0, q7\n"                                                                 \
      "vstrh.32 q0, [r2], #16\n"                                                              \
      "vmin.s32 q3, q3, q7\n"                                                                 \
      "vstrh.32 q3, [r2, #-8]\n"                                                              \
      "le lr, 1b\n"                                                                           \
      : "+r"(first), "+r"(second), "+r"(result), "+r"(number)                                 \
      : [groups] "r"(groups)                                                                  \
      : "r4", "r5", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", \
        "q7", "memory")

// Without a shift the other operand is halved as well: as much as doubled first, and shifted by one. Its sign is added before
// it is rounded, and the sum's. Returns how many elements are done.
INTARSIA_INLINE int32_t wide_eights(const struct intarsia_add *s, const struct wide_operands *o,
                                    int16_t *output, int32_t sign) {
  const int32_t doubled = o->shift == 0 ? 1 : 0, count = s->count / kWideTogether;
  const bool other_negative = sign < 0 && !o->swapped;
  const int32_t numbers[8] = {kWideUnit << doubled,
                              o->multiplier,
                              -o->shift - doubled,
                              sign < 0 && o->swapped ? -kWideHalf : kWideHalf,
                              s->out_multiplier,
                              -s->out_shift,
                              s->low,
                              s->high};
  register const int16_t *first __asm__("r0") = o->half;
  register const int16_t *second __asm__("r1") = o->other;
  register int16_t *result __asm__("r2") = output;
  register const int32_t *number __asm__("r3") = numbers;
  register int32_t groups __asm__("r11") = count;
  if (count == 0) return 0;
  if (other_negative)
    WIDE_SUMS("vmul.i32 q2, q2, r6\nvsub.i32 q1, q2, q1\n",
              "vmul.i32 q5, q5, r6\nvsub.i32 q4, q5, q4\n");
  else
    WIDE_SUMS("vmla.s32 q1, q2, r6\n", "vmla.s32 q4, q5, r6\n");
  return count * kWideTogether;
}
#undef WIDE_SUMS

INTARSIA_INLINE void wide_sum(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                              int16_t *output, int32_t sign) {
  struct wide_operands operands;
  const int32_t done =
      wide_half_of(add, a, b, &operands) ? wide_eights(add, &operands, output, sign) : 0;
  wide_one_by_one(add, a + done, b + done, output + done, add->count - done, sign);
}
#elif INTARSIA_HAS_DSP_LOOPS
// As add_to_half_pushes_4 of add.c.
// combine: what r12, the other operand scaled, and r3, the one that is halved, are together. Where the other one is halved as well it
// is nearly doubled first, and shifted by one: the rounding makes up for what is missing.
#define WIDE_SUM(name, combine, saturate)                                                 \
  INTARSIA_OUTLINE void name(const struct intarsia_add *s, const struct wide_operands *o, \
                             int16_t *output) {                                           \
    const bool both = o->shift == 0;                                                      \
    const int32_t shift = both ? 1 : o->shift;                                            \
    const int32_t numbers[6] = {                                                          \
        both ? INT32_MAX : o->multiplier, 1 << (shift - 1), shift, s->out_multiplier,     \
        1 << (s->out_shift - 1),          s->out_shift};                                  \
    register const int16_t *first __asm__("r0") = o->half;                                \
    register const int16_t *second __asm__("r1") = o->other;                              \
    register int16_t *result __asm__("r2") = output;                                      \
    register const int32_t *number __asm__("r3") = numbers;                               \
    register const int16_t *end __asm__("r4") = o->half + s->count;                       \
    __asm__ volatile(                                                                     \
        "ldm.w r3, {r5, r6, r8, r9, r10, r11}\n"                                          \
        ".balign 4\n"                                                                     \
        "1: ldrsh r12, [r1], #2\n"                                                        \
        "ldrsh r3, [r0], #2\n"                                                            \
        "lsl.w r12, r12, #16\n"                                                           \
        "add.w lr, r6, r12, asr #31\n"                                                    \
        "smmlar r12, r12, r5, lr\n"                                                       \
        "asr.w r12, r12, r8\n" combine                                                    \
        "add.w lr, r10, r12, asr #31\n"                                                   \
        "add.w r12, r12, r12\n"                                                           \
        "smmlar r12, r12, r9, lr\n"                                                       \
        "cmp.w r0, r4\n"                                                                  \
        "asr.w r12, r12, r11\n" saturate                                                  \
        "strh r12, [r2], #2\n"                                                            \
        "bne.w 1b\n"                                                                      \
        : "+r"(first), "+r"(second), "+r"(result), "+r"(number)                           \
        : "r"(end)                                                                        \
        : "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");             \
  }
WIDE_SUM(wide_whole_sum, "add.w r12, r12, r3, lsl #14\n", "ssat r12, #16, r12\n")
WIDE_SUM(wide_rectified_sum, "add.w r12, r12, r3, lsl #14\n", "usat r12, #15, r12\n")
WIDE_SUM(wide_half_less_other, "rsb.w r12, r12, r3, lsl #14\n", "ssat r12, #16, r12\n")
WIDE_SUM(wide_other_less_half, "sub.w r12, r12, r3, lsl #14\n", "ssat r12, #16, r12\n")
#undef WIDE_SUM

INTARSIA_INLINE void wide_sum(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                              int16_t *output, int32_t sign) {
  struct wide_operands operands;
  const bool quick = add->count > 0 && add->high == INT16_MAX && wide_half_of(add, a, b, &operands);
  const bool whole = add->low == INT16_MIN;
  if (quick && whole && sign > 0)
    wide_whole_sum(add, &operands, output);
  else if (quick && whole && operands.swapped)
    wide_other_less_half(add, &operands, output);
  else if (quick && whole)
    wide_half_less_other(add, &operands, output);
  else if (quick && add->low == 0 && sign > 0)
    wide_rectified_sum(add, &operands, output);
  else
    wide_one_by_one(add, a, b, output, add->count, sign);
}
#else
INTARSIA_INLINE void wide_sum(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                              int16_t *output, int32_t sign) {
  wide_one_by_one(add, a, b, output, add->count, sign);
}
#endif

void intarsia_each_add_s16(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                           int16_t *output) {
  wide_sum(add, a, b, output, 1);
}

void intarsia_each_sub_s16(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                           int16_t *output) {
  wide_sum(add, a, b, output, -1);
}
