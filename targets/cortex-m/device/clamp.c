// A vector of elements at a time with Helium, a word of them with SSUB8 or SSUB16, which says for each whether it is the larger one, and SEL.
#include "intarsia/targets/cortex_m/clamp.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#define CLAMP(width, load, store)                                         \
  if (count <= 0) return;                                                 \
  __asm__ volatile("vdup." width                                          \
                   " q1, %[low]\n"                                        \
                   "vdup." width                                          \
                   " q2, %[high]\n"                                       \
                   "dlstp." width                                         \
                   " lr, %[count]\n"                                      \
                   "1: " load                                             \
                   " q0, [%[input]], #16\n"                               \
                   "vmax.s" width                                         \
                   " q0, q0, q1\n"                                        \
                   "vmin.s" width " q0, q0, q2\n" store                   \
                   " q0, [%[output]], #16\n"                              \
                   "letp lr, 1b\n"                                        \
                   : [input] "+r"(input), [output] "+r"(output)           \
                   : [count] "r"(count), [low] "r"(low), [high] "r"(high) \
                   : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#elif INTARSIA_HAS_DSP_WORDS
// Words of as many elements; the last ones are limited one by one.
#define CLAMP_WORDS(together, subtract, lows, highs)                                            \
  const uint32_t least = (lows), most = (highs);                                                \
  for (; count >= (together); count -= (together), input += (together), output += (together)) { \
    uint32_t word, difference;                                                                  \
    memcpy(&word, input, sizeof word);                                                          \
    __asm__ volatile(subtract                                                                   \
                     " %1, %0, %2\n"                                                            \
                     "sel %0, %0, %2\n" subtract                                                \
                     " %1, %3, %0\n"                                                            \
                     "sel %0, %0, %3\n"                                                         \
                     : "+r"(word), "=&r"(difference)                                            \
                     : "r"(least), "r"(most)                                                    \
                     : "cc");                                                                   \
    memcpy(output, &word, sizeof word);                                                         \
  }
#endif

void intarsia_each_clamp_s8(const int8_t *input, int8_t *output, int32_t count, int32_t low,
                            int32_t high) {
#if INTARSIA_HAS_MVE
  CLAMP("8", "vldrb.8", "vstrb.8")
#else
#if INTARSIA_HAS_DSP_WORDS
  CLAMP_WORDS(4, "ssub8", ((uint32_t)low & 0xffu) * 0x01010101u,
              ((uint32_t)high & 0xffu) * 0x01010101u)
#endif
  for (; count > 0; --count) *output++ = (int8_t)intarsia_clamp_i32(*input++, low, high);
#endif
}

void intarsia_each_clamp_s16(const int16_t *input, int16_t *output, int32_t count, int32_t low,
                             int32_t high) {
#if INTARSIA_HAS_MVE
  CLAMP("16", "vldrh.16", "vstrh.16")
#else
#if INTARSIA_HAS_DSP_WORDS
  CLAMP_WORDS(2, "ssub16", ((uint32_t)low & 0xffffu) * 0x00010001u,
              ((uint32_t)high & 0xffffu) * 0x00010001u)
#endif
  for (; count > 0; --count) *output++ = (int16_t)intarsia_clamp_i32(*input++, low, high);
#endif
}
