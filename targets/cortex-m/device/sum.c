// On cores with Helium eight elements at a time, 16 instructions. The output may be one of the operands.
#include "intarsia/targets/cortex_m/sum.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kShift = 22, kTogether = 8 };

void intarsia_sum_s8(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                     int8_t *output) {
  const int32_t a_factor = sum->a_factor, b_factor = sum->b_factor, start = sum->start;
  const int32_t low = sum->low, high = sum->high;
  int32_t left = sum->count;
#if INTARSIA_HAS_MVE
  if (left >= kTogether) {
    // Narrowing in two steps, each of which rounds to the nearest: half of its last bit less.
    // (VQSHRN would not round, but some versions of the GNU assembler encode it as VQRSHRN.)
    const int32_t halves = (1 << (kShift - 1)) + (1 << 15);
    static const uint16_t places[kTogether] = {0, 4, 1, 5, 2, 6, 3, 7};
    __asm__ volatile(
        "vldrh.16 q7, [%[places]]\n"
        "vdup.32 q6, %[a_factor]\n"
        "vdup.8 q5, %[low]\n"
        "vdup.8 q4, %[high]\n"
        "dls lr, %[groups]\n"
        "1: vldrb.s32 q1, [%[a], #4]\n"
        "vldrb.s32 q0, [%[a]], #8\n"
        "vldrb.s32 q3, [%[b], #4]\n"
        "vldrb.s32 q2, [%[b]], #8\n"
        "vmlas.s32 q0, q6, %[start]\n"
        "vmlas.s32 q1, q6, %[start]\n"
        "vmla.s32 q0, q2, %[b_factor]\n"
        "vmla.s32 q1, q3, %[b_factor]\n"
        "vqrshrnb.s32 q0, q0, #16\n"
        "vqrshrnt.s32 q0, q1, #16\n"
        "vqrshrnb.s16 q0, q0, #6\n"
        "vmax.s8 q0, q0, q5\n"
        "vmin.s8 q0, q0, q4\n"
        "vstrb.16 q0, [%[output], q7]\n"
        "add %[output], %[output], #8\n"
        "le lr, 1b\n"
        : [a] "+l"(a), [b] "+l"(b), [output] "+r"(output)
        : [places] "r"(places), [a_factor] "r"(a_factor), [b_factor] "r"(b_factor),
          [start] "r"(start - halves), [low] "r"(low), [high] "r"(high),
          [groups] "r"(left / kTogether)
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
    left %= kTogether;
  }
#endif
  for (; left > 0; --left) {
    const int32_t value = (*a++ * a_factor + *b++ * b_factor + start) >> kShift;
    *output++ = (int8_t)intarsia_clamp_i32(value, low, high);
  }
}
