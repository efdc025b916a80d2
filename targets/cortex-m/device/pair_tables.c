// Comparisons and quotients of two activations: what depends on one of them alone is looked up. The compiler has tried both against
// all pairs of elements (compiler/pair_tables.cpp).
#include "intarsia/targets/cortex_m/pair_tables.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kPairBounds = 256 };

#if INTARSIA_HAS_MVE
// Eight elements: `second` sees those that are above the second bound too.
#define COMPARE(second)                                                                          \
  if (count <= 0) return;                                                                        \
  const int16_t *next = bounds + kPairBounds;                                                    \
  const int32_t no = inverted, yes = 1 - inverted;                                               \
  __asm__ volatile(                                                                              \
      "vdup.16 q4, %[yes]\n"                                                                     \
      "vdup.16 q5, %[no]\n"                                                                      \
      "dlstp.16 lr, %[count]\n"                                                                  \
      "1: vldrb.u16 q0, [%[a]], #8\n"                                                            \
      "vldrh.u16 q1, [%[bounds], q0, uxtw #1]\n"                                                 \
      "vldrb.s16 q2, [%[b]], #8\n"                                                               \
      "vcmp.s16 gt, q2, q1\n"                                                                    \
      "vpsel q3, q4, q5\n" second                                                                \
      "vstrb.16 q3, [%[output]], #8\n"                                                           \
      "letp lr, 1b\n"                                                                            \
      : [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)                                          \
      : [bounds] "r"(bounds), [next] "r"(next), [count] "r"(count), [yes] "r"(yes), [no] "r"(no) \
      : "q0", "q1", "q2", "q3", "q4", "q5", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory")
#else
// By the sign of a difference, without a branch.
INTARSIA_INLINE bool pair_above(int8_t b, int16_t bound) {
  return (uint32_t)(bound - b) >> 31 != 0u;
}
#endif

void intarsia_each_above_s8(const int8_t *a, const int8_t *b, bool *output, const int16_t *bounds,
                            int32_t count, int32_t inverted) {
#if INTARSIA_HAS_MVE
  COMPARE("");
#else
  const uint8_t *first = (const uint8_t *)a;
  const bool flips = inverted != 0;
  for (; count >= 2; count -= 2, first += 2, b += 2, output += 2) {
    const int16_t bound = bounds[first[0]], other = bounds[first[1]];
    const int8_t value = b[0], next = b[1];
    output[0] = pair_above(value, bound) != flips;
    output[1] = pair_above(next, other) != flips;
  }
  if (count > 0) *output = pair_above(*b, bounds[*first]) != flips;
#endif
}

void intarsia_each_between_s8(const int8_t *a, const int8_t *b, bool *output, const int16_t *bounds,
                              int32_t count, int32_t inverted) {
#if INTARSIA_HAS_MVE
  COMPARE(
      "vldrh.u16 q1, [%[next], q0, uxtw #1]\n"
      "vcmp.s16 gt, q2, q1\n"
      "vpsel q3, q5, q3\n");
#else
  const uint8_t *first = (const uint8_t *)a;
  const bool flips = inverted != 0;
  for (; count > 0; --count, ++first, ++b, ++output) {
    const int16_t *bound = bounds + *first;
    const bool within = pair_above(*b, bound[0]) != pair_above(*b, bound[kPairBounds]);
    *output = within != flips;
  }
#endif
}

#if INTARSIA_HAS_MVE
#undef COMPARE
#else
// The difference of two elements by the slope, over 2^9; the upper 23 bits of the product are a whole number of these.
INTARSIA_INLINE int32_t pair_quotient(int32_t difference, int32_t slope, int32_t round) {
#if INTARSIA_HAS_DSP
  int32_t value, result;
  __asm__("smmla %0, %1, %2, %3"
          : "=r"(value)
          : "r"(difference * (1 << 23)), "r"(slope), "r"(round));
  __asm__("ssat %0, #8, %1, asr #13" : "=r"(result) : "r"(value));
  return result;
#else
  const int32_t lower = (difference * (slope & 0xffff)) >> 9;
  return intarsia_saturate_s8((difference * (slope >> 16) * (1 << 7) + lower + round) >> 13);
#endif
}
#endif

void intarsia_each_quotient_s8(const int8_t *a, const int8_t *b, int8_t *output,
                               const int32_t *slopes, int32_t count, int32_t a_zero,
                               int32_t round) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return;
  __asm__ volatile(
      "dlstp.32 lr, %[count]\n"
      "1: vldrb.u32 q1, [%[b]], #4\n"
      "vldrb.s32 q0, [%[a]], #4\n"
      "vldrw.u32 q2, [%[slopes], q1, uxtw #2]\n"
      "vsub.i32 q0, q0, %[zero]\n"
      "vshl.i32 q0, q0, #23\n"
      "vmulh.s32 q0, q0, q2\n"
      "vadd.i32 q0, q0, %[round]\n"
      "vqshl.s32 q0, q0, #11\n"
      "vshr.s32 q0, q0, #24\n"
      "vstrb.32 q0, [%[output]], #4\n"
      "letp lr, 1b\n"
      : [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)
      : [slopes] "r"(slopes), [count] "r"(count), [zero] "r"(a_zero), [round] "r"(round)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  const uint8_t *second = (const uint8_t *)b;
  for (; count > 0; --count, ++a, ++second, ++output)
    *output = (int8_t)pair_quotient(*a - a_zero, slopes[*second], round);
#endif
}
