// Functions of one byte, from a table of all results.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/results.h"

void intarsia_each_lookup_s8(const int8_t *input, void *output, const void *table, int32_t count) {
  if (count <= 0) return;
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.u8 q0, [%[input]], #16\n"
      "vldrb.u8 q1, [%[table], q0]\n"
      "vstrb.8 q1, [%[output]], #16\n"
      "letp lr, 1b\n"
      : [input] "+r"(input), [output] "+r"(output)
      : [table] "r"(table), [count] "r"(count)
      : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  const uint8_t *from = (const uint8_t *)input, *const results = table;
  uint8_t *to = output;
  // Four at a time: loads behind each other take less time.
  for (; count >= 4; count -= 4, from += 4, to += 4) {
    const uint8_t a = from[0], b = from[1], c = from[2], d = from[3];
    const uint8_t first = results[a], second = results[b], third = results[c], fourth = results[d];
    to[0] = first, to[1] = second, to[2] = third, to[3] = fourth;
  }
  for (; count > 0; --count) *to++ = results[*from++];
#endif
}
