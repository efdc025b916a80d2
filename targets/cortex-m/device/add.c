// Element-wise addition. An operand whose shift is 0 is rounded once less; which of them are is settled
// before the loop.
#include "intarsia/targets/cortex_m/add.h"

#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kLeftShift = 20 };  // of operands before they are scaled, as TFLite has it

INTARSIA_INLINE int32_t scaled(int32_t doubled, int32_t multiplier, int32_t half, int32_t shift,
                               bool shifts) {
  const int32_t value = intarsia_high_product(doubled, multiplier);
  return shifts ? (value + (value >> 31) + half) >> shift : value;
}

INTARSIA_INLINE void add_all(const struct intarsia_add *s, const int8_t *a, const int8_t *b,
                             int8_t *output, int32_t count, bool a_shifts, bool b_shifts) {
  const int32_t unit = 1 << (kLeftShift + 1);  // doubled for the product
  const int32_t a_start = -s->a_zero * unit, b_start = -s->b_zero * unit;
  const int32_t a_multiplier = s->a_multiplier, b_multiplier = s->b_multiplier;
  const int32_t a_shift = s->a_shift, b_shift = s->b_shift;
  const int32_t a_half = a_shifts ? 1 << (a_shift - 1) : 0,
                b_half = b_shifts ? 1 << (b_shift - 1) : 0;
  const int32_t multiplier = s->out_multiplier, shift = s->out_shift, low = s->low, high = s->high;
  const int32_t round = (1 << (shift - 1)) + s->out_zero * (1 << shift);
  for (const int8_t *end = a + count; a != end; ++a, ++b) {
    const int32_t sum = scaled(*a * unit + a_start, a_multiplier, a_half, a_shift, a_shifts) +
                        scaled(*b * unit + b_start, b_multiplier, b_half, b_shift, b_shifts);
    const int32_t value = intarsia_saturate_s8(scaled(sum + sum, multiplier, round, shift, true));
    *output++ = (int8_t)intarsia_clamp_i32(value, low, high);
  }
}

#if INTARSIA_HAS_MVE
enum { kTogether = 8 };

// Eight elements at a time, four in each of two vectors. The operand of the larger scale, a, is halved, which is exact: a
// shift to the left by one bit less. The other one's product is added to its sign and rounded; so is the sum. Results
// are in the upper bytes (mve_results.h). Returns how many elements are done.
INTARSIA_OUTLINE int32_t add_eights(const struct intarsia_add *s, const int8_t *a, const int8_t *b,
                                    int8_t *output) {
  // Without a shift b is halved as well: as much as doubled first, and shifted by one.
  const int32_t doubled = s->b_shift == 0 ? 1 : 0, b_unit = 1 << (kLeftShift + doubled);
  const int32_t a_unit = 1 << (kLeftShift - 1);  // 0x80000
  const int32_t shift = s->out_shift, last_bit = 1 << shift;
  const int32_t done = s->count / kTogether * kTogether;
  const int32_t numbers[9] = {b_unit,
                              done / kTogether,
                              -s->a_zero * a_unit,
                              -s->b_zero * b_unit,
                              s->b_multiplier,
                              -s->b_shift - doubled,
                              s->out_multiplier,
                              last_bit / 2 + s->out_zero * last_bit,
                              24 - shift};
  register const int8_t *first __asm__("r0") = a;
  register const int8_t *second __asm__("r1") = b;
  register int8_t *result __asm__("r2") = output;
  register const int32_t *number __asm__("r3") = numbers;
  __asm__ volatile(
      "ldrd r4, r5, [r3], #8\n"
      "vmov.i32 q7, #0x80000\n"
      "vdup.32 q6, r4\n"
      "dls lr, r5\n"
      "ldm r3, {r3, r4, r5, r6, r8, r10, r12}\n"
      "1: vldrb.s32 q0, [r1], #8\n"
      "vmlas.s32 q0, q6, r4\n"
      "vldrb.s32 q3, [r1, #-4]\n"
      "vmlas.s32 q3, q6, r4\n"
      "vshr.s32 q1, q0, #31\n"
      "vldrb.s32 q2, [r0], #8\n"
      "vqrdmlah.s32 q1, q0, r5\n"
      "vshr.s32 q4, q3, #31\n"
      "vldrb.s32 q5, [r0, #-4]\n"
      "vqrdmlah.s32 q4, q3, r5\n"
      "vrshl.s32 q1, r6\n"
      "vmlas.s32 q2, q7, r3\n"
      "vrshl.s32 q4, r6\n"
      "vmlas.s32 q5, q7, r3\n"
      "vadd.i32 q1, q1, q2\n"
      "vshr.s32 q0, q1, #31\n"
      "vqrdmlah.s32 q0, q1, r8\n"
      "vadd.i32 q4, q4, q5\n"
      "vshr.s32 q3, q4, #31\n"
      "vqrdmlah.s32 q3, q4, r8\n"
      "vadd.i32 q0, q0, r10\n"
      "vqshl.s32 q0, r12\n"
      "vadd.i32 q3, q3, r10\n"
      "vshr.s32 q0, q0, #24\n"
      "vqshl.s32 q3, r12\n"
      "vstrb.32 q0, [r2], #8\n"
      "vshr.s32 q3, q3, #24\n"
      "vstrb.32 q3, [r2, #-4]\n"
      "le lr, 1b\n"
      : "+r"(first), "+r"(second), "+r"(result), "+r"(number)
      :
      : "r4", "r5", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
        "memory");
  if (s->low != -128 || s->high != 127) intarsia_mve_clamp(output, done, s->low, s->high);
  return done;
}
#endif

INTARSIA_INLINE void add_one_by_one(const struct intarsia_add *add, const int8_t *a,
                                    const int8_t *b, int8_t *output, int32_t count) {
  if (add->a_shift != 0 && add->b_shift != 0) {
    add_all(add, a, b, output, count, true, true);
  } else if (add->a_shift != 0) {
    add_all(add, a, b, output, count, true, false);
  } else if (add->b_shift != 0) {
    add_all(add, a, b, output, count, false, true);
  } else {
    add_all(add, a, b, output, count, false, false);
  }
}

#if INTARSIA_HAS_MVE || INTARSIA_HAS_DSP_LOOPS
INTARSIA_INLINE bool is_half(int32_t multiplier, int32_t shift) {
  return multiplier == 1 << 30 && shift == 0;
}

// The operand that is halved is a.
INTARSIA_INLINE void put_half_first(struct intarsia_add *sum, const int8_t **a, const int8_t **b) {
  if (is_half(sum->a_multiplier, sum->a_shift)) return;
  const struct intarsia_add given = *sum;
  const int8_t *const first = *a;
  *a = *b, *b = first;
  sum->a_zero = given.b_zero, sum->a_multiplier = given.b_multiplier, sum->a_shift = given.b_shift;
  sum->b_zero = given.a_zero, sum->b_multiplier = given.a_multiplier, sum->b_shift = given.a_shift;
}
#endif

#if INTARSIA_HAS_MVE
void intarsia_each_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                          int8_t *output) {
  struct intarsia_add sum = *add;
  put_half_first(&sum, &a, &b);
  int32_t done = 0;
  if (sum.count >= kTogether && is_half(sum.a_multiplier, sum.a_shift) &&
      (sum.b_shift != 0 || is_half(sum.b_multiplier, sum.b_shift)))
    done = add_eights(&sum, a, b, output);
  add_one_by_one(&sum, a + done, b + done, output + done, sum.count - done);
}
#elif INTARSIA_HAS_DSP_LOOPS
// Results in the whole range of int8, a halved, which is exact, and b shifted, as TFLite has them nearly always. SMMLAR adds
// roundings to products; 19 cycles of a Cortex-M4 for an element.
INTARSIA_OUTLINE void add_to_half_pushes_4(const struct intarsia_add *s, const int8_t *a,
                                           const int8_t *b, int8_t *output) {
  const int32_t last_bit = 1 << s->out_shift;
  const int32_t numbers[9] = {-s->b_zero * (1 << (kLeftShift + 1)),
                              s->b_multiplier,
                              1 << (s->b_shift - 1),
                              s->b_shift,
                              -s->a_zero * (1 << (kLeftShift - 1)),
                              s->out_multiplier,
                              last_bit / 2 + s->out_zero * last_bit,
                              s->out_shift,
                              s->count};
  register const int8_t *first __asm__("r0") = a;
  register const int8_t *second __asm__("r1") = b;
  register int8_t *result __asm__("r2") = output;
  register const int32_t *number __asm__("r3") = numbers;
  __asm__ volatile(INTARSIA_SAVE_R7
                   "ldm.w r3, {r4, r5, r6, r7, r8, r9, r10, r11, r12}\n"
                   "add.w r3, r0, r12\n"
                   ".balign 4\n"
                   "1: ldrsb r12, [r1], #1\n"
                   "add.w r12, r4, r12, lsl #21\n"
                   "add.w lr, r6, r12, asr #31\n"
                   "smmlar r12, r12, r5, lr\n"
                   "ldrsb lr, [r0], #1\n"
                   "asr.w r12, r12, r7\n"
                   "add.w r12, r12, lr, lsl #19\n"
                   "add.w r12, r12, r8\n"
                   "add.w lr, r10, r12, asr #31\n"
                   "add.w r12, r12, r12\n"
                   "smmlar r12, r12, r9, lr\n"
                   "cmp.w r0, r3\n"
                   "asr.w r12, r12, r11\n"
                   "ssat r12, #8, r12\n"
                   "strb r12, [r2], #1\n"
                   "bne.w 1b\n" INTARSIA_RESTORE_R7
                   : "+r"(first), "+r"(second), "+r"(result), "+r"(number)
                   :
                   : "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr",
                     "cc", "memory");
}

void intarsia_each_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                          int8_t *output) {
  struct intarsia_add sum = *add;
  put_half_first(&sum, &a, &b);
  if (sum.count > 0 && is_half(sum.a_multiplier, sum.a_shift) && sum.b_shift != 0 &&
      sum.low == -128 && sum.high == 127)
    add_to_half_pushes_4(&sum, a, b, output);
  else
    add_one_by_one(&sum, a, b, output, sum.count);
}
#else
void intarsia_each_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                          int8_t *output) {
  add_one_by_one(add, a, b, output, add->count);
}
#endif
