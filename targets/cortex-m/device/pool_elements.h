// What averages and maxima over windows share, for elements of one type: INTARSIA_ELEMENT, and what instructions on them are called.
#ifndef INTARSIA_CORTEX_M_POOL_ELEMENTS_H_
#define INTARSIA_CORTEX_M_POOL_ELEMENTS_H_

#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

#define INTARSIA_SIZE ((int32_t)sizeof(INTARSIA_ELEMENT))

#if INTARSIA_HAS_DSP_WORDS && !INTARSIA_HAS_MVE
// Where elements are no multiple of a word the first word overlaps the second.
enum { kTogether = 4 / (int)sizeof(INTARSIA_ELEMENT) };

INTARSIA_INLINE uint32_t word_at(const void *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

INTARSIA_INLINE uint32_t larger(uint32_t a, uint32_t b) {
  uint32_t difference;
  __asm__ volatile(INTARSIA_SUBTRACT " %0, %2, %1\nsel %1, %2, %1"
                   : "=&r"(difference), "+r"(a)
                   : "r"(b)
                   : "cc");
  return a;
}
#endif

// Results that are written already, into their range, which is rarely narrower than the type's.
INTARSIA_OUTLINE void limit_elements(INTARSIA_ELEMENT *at, int32_t count, int32_t low,
                                     int32_t high) {
#if INTARSIA_HAS_MVE
  __asm__ volatile("vdup." INTARSIA_WIDTH
                   " q1, %[low]\n"
                   "vdup." INTARSIA_WIDTH
                   " q2, %[high]\n"
                   "dlstp." INTARSIA_WIDTH
                   " lr, %[count]\n"
                   "1: " INTARSIA_LOAD
                   " q0, [%[at]]\n"
                   "vmax.s" INTARSIA_WIDTH
                   " q0, q0, q1\n"
                   "vmin.s" INTARSIA_WIDTH " q0, q0, q2\n" INTARSIA_STORE
                   " q0, [%[at]], #16\n"
                   "letp lr, 1b\n"
                   : [at] "+r"(at)
                   : [count] "r"(count), [low] "r"(low), [high] "r"(high)
                   : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
#if INTARSIA_HAS_DSP_WORDS
  const uint32_t lows = INTARSIA_SPREAD(low), highs = INTARSIA_SPREAD(high);
  for (; count >= kTogether; count -= kTogether, at += kTogether) {
    uint32_t word = larger(word_at(at), lows), difference;
    __asm__ volatile(INTARSIA_SUBTRACT " %0, %2, %1\nsel %1, %1, %2"
                     : "=&r"(difference), "+r"(word)
                     : "r"(highs)
                     : "cc");
    memcpy(at, &word, sizeof word);
  }
#endif
  for (; count > 0; --count, ++at) *at = (INTARSIA_ELEMENT)intarsia_clamp_i32(*at, low, high);
#endif
}

#endif  // INTARSIA_CORTEX_M_POOL_ELEMENTS_H_
