// What softmax and its logarithm begin with: a row's largest element, and the sum of its exponentials, Q12.19, which are looked up by
// the difference from it. With Helium four at a time, whose exponentials are gathered.
#ifndef INTARSIA_CORTEX_M_SOFTMAX_ROWS_H_
#define INTARSIA_CORTEX_M_SOFTMAX_ROWS_H_

#include "intarsia/targets/cortex_m/results.h"

enum { kExponentialFraction = 12 };  // bits that are dropped of exponentials in the sum

#if INTARSIA_HAS_MVE
INTARSIA_INLINE int32_t intarsia_largest_of(const int8_t *input, int32_t count) {
  register int32_t largest __asm__("r4") = -128;  // VMAXV takes even registers
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[input]], #16\n"
      "vmaxv.s8 %[largest], q0\n"
      "letp lr, 1b\n"
      : [input] "+r"(input), [largest] "+r"(largest)
      : [count] "r"(count)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return (int8_t)largest;
}

INTARSIA_INLINE uint32_t intarsia_sum_of_exponentials(const int8_t *input,
                                                      const int32_t *exponentials, int32_t largest,
                                                      int32_t count) {
  register uint32_t sum __asm__("r4") = 0;  // VADDVA as well
  __asm__ volatile(
      "vdup.32 q3, %[largest]\n"
      "dlstp.32 lr, %[count]\n"
      "1: vldrb.s32 q0, [%[input]], #4\n"
      "vsub.i32 q1, q3, q0\n"
      "vldrw.u32 q2, [%[exponentials], q1, uxtw #2]\n"
      "vrshr.u32 q2, q2, #12\n"
      "vaddva.u32 %[sum], q2\n"
      "letp lr, 1b\n"
      : [input] "+l"(input), [sum] "+r"(sum)
      : [exponentials] "r"(exponentials), [largest] "r"(largest), [count] "r"(count)
      : "q0", "q1", "q2", "q3", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return sum;
}

#else
INTARSIA_INLINE int32_t intarsia_largest_of(const int8_t *input, int32_t count) {
  int32_t largest = input[0];
  for (int32_t i = 1; i < count; ++i)
    if (input[i] > largest) largest = input[i];
  return largest;
}

INTARSIA_INLINE uint32_t intarsia_sum_of_exponentials(const int8_t *input,
                                                      const int32_t *exponentials, int32_t largest,
                                                      int32_t count) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < count; ++i)
    sum += ((uint32_t)exponentials[largest - input[i]] + (1u << (kExponentialFraction - 1))) >>
           kExponentialFraction;
  return sum;
}
#endif

#endif  // INTARSIA_CORTEX_M_SOFTMAX_ROWS_H_
