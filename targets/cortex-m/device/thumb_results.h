// Several results at once on cores that multiply single elements.
#ifndef INTARSIA_CORTEX_M_THUMB_RESULTS_H_
#define INTARSIA_CORTEX_M_THUMB_RESULTS_H_

#include "intarsia/targets/cortex_m/results.h"

// `count` sums, > 0; from one to the next the channel advances by `channel_step` (0 or 1) and the output by
// `output_step`.
struct intarsia_results {
  const int32_t *sums;
  const struct intarsia_channel *channel;
  int8_t *output;
  int32_t count, channel_step, output_step, low, high;
};

#if INTARSIA_HAS_THUMB1
// The quick ways. Channel r0, output r1, sums r2; steps r8, r9; limits r10, r11; half of the product's last
// bit r12; end of the sums lr. The product by halves: intarsia_high_product.
INTARSIA_OUTLINE void intarsia_results_thumb1_pushes_20(const struct intarsia_results *all) {
  register const struct intarsia_results *at __asm__("r0") = all;
  __asm__ volatile(".syntax unified\n" INTARSIA_SAVE_R7 INTARSIA_SAVE_HIGH("r4", "r5", "r6", "r7")
                   "ldmia r0!, {r2, r3, r4, r5, r6, r7}\n"
                   "mov r9, r7\n"
                   "lsls r6, r6, #4\n"
                   "mov r8, r6\n"
                   "lsls r5, r5, #2\n"
                   "adds r5, r5, r2\n"
                   "mov lr, r5\n"
                   "ldmia r0!, {r5, r6}\n"
                   "mov r10, r5\n"
                   "mov r11, r6\n"
                   "movs r5, #1\n"
                   "lsls r5, r5, #15\n"
                   "mov r12, r5\n"
                   "mov r0, r3\n"
                   "mov r1, r4\n"
                   "1: ldmia r2!, {r3}\n"
                   "adds r3, r3, r3\n"
                   "uxth r4, r3\n"
                   "asrs r3, r3, #16\n"
                   "ldrh r5, [r0, #4]\n"
                   "ldrh r6, [r0, #6]\n"
                   "mov r7, r5\n"
                   "muls r7, r4, r7\n"
                   "lsrs r7, r7, #16\n"
                   "muls r5, r3, r5\n"
                   "adds r5, r5, r7\n"
                   "muls r4, r6, r4\n"
                   "add r4, r4, r12\n"
                   "muls r3, r6, r3\n"
                   "uxth r7, r5\n"
                   "adds r4, r4, r7\n"
                   "lsrs r4, r4, #16\n"
                   "asrs r5, r5, #16\n"
                   "adds r3, r3, r5\n"
                   "adds r3, r3, r4\n"
                   "asrs r4, r3, #31\n"
                   "adds r3, r3, r4\n"
                   "ldr r4, [r0, #8]\n"
                   "adds r3, r3, r4\n"
                   "ldr r4, [r0, #12]\n"
                   "asrs r3, r3, r4\n"
                   "cmp r3, r10\n"
                   "bge 2f\n"
                   "mov r3, r10\n"
                   "2: cmp r3, r11\n"
                   "ble 3f\n"
                   "mov r3, r11\n"
                   "3: strb r3, [r1]\n"
                   "add r1, r1, r9\n"
                   "add r0, r0, r8\n"
                   "cmp r2, lr\n"
                   "bne 1b\n" INTARSIA_RESTORE_HIGH("r4", "r5", "r6", "r7") INTARSIA_RESTORE_R7
                   : "+l"(at)
                   :
                   : "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "lr", "cc", "memory");
}

// Those of one channel, its numbers in registers, where the range is that of int8. Sums r0, output r1, step r8; halves of the
// multiplier r5 and r6; rounding r9, shift r10.
INTARSIA_OUTLINE void intarsia_results_of_one_pushes_20(const struct intarsia_results *all) {
  register const struct intarsia_results *at __asm__("r0") = all;
  __asm__ volatile(".syntax unified\n" INTARSIA_SAVE_R7 INTARSIA_SAVE_HIGH("r4", "r5", "r6", "r7")
                   "ldmia r0!, {r2, r3, r4, r5, r6, r7}\n"
                   "mov r8, r7\n"
                   "lsls r5, r5, #2\n"
                   "adds r5, r5, r2\n"
                   "mov lr, r5\n"
                   "mov r1, r4\n"
                   "mov r0, r2\n"
                   "ldrh r5, [r3, #4]\n"
                   "ldrh r6, [r3, #6]\n"
                   "ldr r4, [r3, #8]\n"
                   "mov r9, r4\n"
                   "ldr r4, [r3, #12]\n"
                   "mov r10, r4\n"
                   "movs r4, #1\n"
                   "lsls r4, r4, #15\n"
                   "mov r12, r4\n"
                   "1: ldmia r0!, {r2}\n"
                   "adds r2, r2, r2\n"
                   "uxth r3, r2\n"
                   "asrs r2, r2, #16\n"
                   "mov r4, r5\n"
                   "muls r4, r3, r4\n"
                   "lsrs r4, r4, #16\n"
                   "mov r7, r5\n"
                   "muls r7, r2, r7\n"
                   "adds r7, r7, r4\n"
                   "muls r3, r6, r3\n"
                   "add r3, r3, r12\n"
                   "uxth r4, r7\n"
                   "adds r3, r3, r4\n"
                   "lsrs r3, r3, #16\n"
                   "muls r2, r6, r2\n"
                   "asrs r7, r7, #16\n"
                   "adds r2, r2, r7\n"
                   "adds r2, r2, r3\n"
                   "asrs r3, r2, #31\n"
                   "adds r2, r2, r3\n"
                   "add r2, r2, r9\n"
                   "mov r3, r10\n"
                   "asrs r2, r2, r3\n"
                   "sxtb r3, r2\n"
                   "cmp r3, r2\n"
                   "beq 2f\n"
                   "asrs r2, r2, #31\n"
                   "movs r3, #127\n"
                   "eors r2, r2, r3\n"
                   "2: strb r2, [r1]\n"
                   "add r1, r1, r8\n"
                   "cmp r0, lr\n"
                   "bne 1b\n" INTARSIA_RESTORE_HIGH("r4", "r5", "r6", "r7") INTARSIA_RESTORE_R7
                   : "+l"(at)
                   :
                   : "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "lr", "cc", "memory");
}
#endif

// Outlined: the registers are all for it.
INTARSIA_OUTLINE void intarsia_results_of_channel(const struct intarsia_results *all,
                                                  bool limited) {
  const struct intarsia_channel channel = *all->channel;
  const int32_t low = all->low, high = all->high, step = all->output_step;
  const int32_t *sums = all->sums, *end = sums + all->count;
  int8_t *output = all->output;
  if (limited)
    for (; sums != end; output += step)
      *output = intarsia_result(*sums++, &channel, low, high, INTARSIA_LIMITED);
  else
    for (; sums != end; output += step)
      *output = intarsia_result(*sums++, &channel, low, high, INTARSIA_WHOLE);
}

INTARSIA_INLINE void intarsia_results(const struct intarsia_results *all, enum intarsia_way way) {
#if INTARSIA_HAS_THUMB1
  if (way != INTARSIA_ANY) {
    if (way == INTARSIA_WHOLE && all->channel_step == 0)
      intarsia_results_of_one_pushes_20(all);
    else
      intarsia_results_thumb1_pushes_20(all);
    return;
  }
#endif
  if (way != INTARSIA_ANY && all->channel_step == 0) {
    intarsia_results_of_channel(all, way == INTARSIA_LIMITED);
    return;
  }
  const struct intarsia_channel *channel = all->channel;
  int8_t *output = all->output;
  for (int32_t i = 0; i < all->count; ++i, channel += all->channel_step, output += all->output_step)
    *output = intarsia_result(all->sums[i], channel, all->low, all->high, way);
}

// Results of a channel whose shift is the lowest byte of its word: assembly takes no more of it.
INTARSIA_INLINE void intarsia_results_of_one(struct intarsia_results *all,
                                             const struct intarsia_channel *channel,
                                             enum intarsia_way way) {
#if INTARSIA_HAS_THUMB1
  if (way != INTARSIA_ANY) {
    all->channel = channel;
    intarsia_results(all, way);
    return;
  }
#endif
  struct intarsia_channel plain = *channel;
  plain.shift = (int8_t)plain.shift;
  all->channel = &plain;
  intarsia_results(all, way);
}

#endif  // INTARSIA_CORTEX_M_THUMB_RESULTS_H_
