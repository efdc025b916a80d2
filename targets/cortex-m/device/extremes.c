// A vector of elements at a time with Helium; two words of them with SSUB8 or SSUB16, which says for each whether it is the larger one,
// and SEL.
#include "intarsia/targets/cortex_m/extremes.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#define EXTREMES(width, load, store, extreme, chosen)                                      \
  if (count <= 0) return;                                                                  \
  __asm__ volatile("dlstp." width                                                          \
                   " lr, %[count]\n"                                                       \
                   "1: " load " q0, [%[a]], #16\n" load " q1, [%[b]], #16\n" extreme width \
                   " q0, q0, q1\n" store                                                   \
                   " q0, [%[output]], #16\n"                                               \
                   "letp lr, 1b\n"                                                         \
                   : [a] "+r"(a), [b] "+r"(b), [output] "+r"(output)                       \
                   : [count] "r"(count)                                                    \
                   : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#define REST(comparison)
#else
#if INTARSIA_HAS_DSP_WORDS
#define EXTREMES(width, load, store, extreme, chosen)                                 \
  enum { kWord = 4 / sizeof *a, kTogether = 2 * kWord };                              \
  for (; count >= kTogether; count -= kTogether, a += kTogether, b += kTogether) {    \
    uint32_t first, next, others, last, difference;                                   \
    memcpy(&first, a, sizeof first), memcpy(&next, a + kWord, sizeof next);           \
    memcpy(&others, b, sizeof others), memcpy(&last, b + kWord, sizeof last);         \
    __asm__ volatile("ssub" width " %[d], %[a], %[b]\nsel %[a], " chosen              \
                     : [a] "+r"(first), [d] "=&r"(difference)                         \
                     : [b] "r"(others)                                                \
                     : "cc");                                                         \
    __asm__ volatile("ssub" width " %[d], %[a], %[b]\nsel %[a], " chosen              \
                     : [a] "+r"(next), [d] "=&r"(difference)                          \
                     : [b] "r"(last)                                                  \
                     : "cc");                                                         \
    memcpy(output, &first, sizeof first), memcpy(output + kWord, &next, sizeof next); \
    output += kTogether;                                                              \
  }
#else
#define EXTREMES(width, load, store, extreme, chosen)
#endif
#define REST(comparison) \
  for (; count > 0; --count, ++a, ++b) *output++ = *a comparison * b ? *a : *b;
#endif

void intarsia_each_larger_s8(const int8_t *a, const int8_t *b, int8_t *output, int32_t count) {
  EXTREMES("8", "vldrb.8", "vstrb.8", "vmax.s", "%[a], %[b]")
  REST(>)
}

void intarsia_each_larger_s16(const int16_t *a, const int16_t *b, int16_t *output, int32_t count) {
  EXTREMES("16", "vldrh.16", "vstrh.16", "vmax.s", "%[a], %[b]")
  REST(>)
}

void intarsia_each_smaller_s8(const int8_t *a, const int8_t *b, int8_t *output, int32_t count) {
  EXTREMES("8", "vldrb.8", "vstrb.8", "vmin.s", "%[b], %[a]")
  REST(<)
}

void intarsia_each_smaller_s16(const int16_t *a, const int16_t *b, int16_t *output, int32_t count) {
  EXTREMES("16", "vldrh.16", "vstrh.16", "vmin.s", "%[b], %[a]")
  REST(<)
}
