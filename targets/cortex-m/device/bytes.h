// Runs of bytes copied and filled. Both return where the next one begins.
#ifndef INTARSIA_CORTEX_M_BYTES_H_
#define INTARSIA_CORTEX_M_BYTES_H_

#include <string.h>

#include "intarsia/targets/cortex_m/results.h"

INTARSIA_INLINE int8_t *intarsia_copy(int8_t *to, const int8_t *from, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[from]], #16\n"
      "vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [count] "r"(count)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return end;
#else
#if defined(__ARM_FEATURE_UNALIGNED) && defined(__OPTIMIZE__)  // words anywhere
  if (count >= 4) {
    int8_t *end = to + count;
    const int8_t *last = from + count - 4;
    for (; count > 4; count -= 4, to += 4, from += 4) memcpy(to, from, 4);
    memcpy(end - 4, last, 4);
    return end;
  }
#endif
  for (; count > 0; --count) *to++ = *from++;
  return to;
#endif
}

INTARSIA_INLINE int8_t *intarsia_fill(int8_t *to, int32_t value, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "vdup.8 q0, %[value]\n"
      "dlstp.8 lr, %[count]\n"
      "1: vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to)
      : [count] "r"(count), [value] "r"(value)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return end;
#else
  for (; count > 0; --count) *to++ = (int8_t)value;
  return to;
#endif
}

#endif  // INTARSIA_CORTEX_M_BYTES_H_
