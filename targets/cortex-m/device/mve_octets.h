// One row of a fully connected layer on cores with Helium: eight channels share each load of the input, 17 instructions for
// 128 products, and their sums take all even registers.
#ifndef INTARSIA_CORTEX_M_MVE_OCTETS_H_
#define INTARSIA_CORTEX_M_MVE_OCTETS_H_

#include <stddef.h>

#include "intarsia/targets/cortex_m/mve_conv.h"
#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum {
  kOctetVector = 16,
  kOctetChannels = 8,
  kOctetUnrolled = 4,
  kOctetStepBytes = 17 * 4 + INTARSIA_LANDING_BYTES
};

// The assembly knows the layout.
struct intarsia_octets {
  const int8_t *input;
  uint32_t
      skipped;  // bytes of the unrolled loop before its entry, and the bit of the instruction set
  int32_t passes;  // through the loop
  int8_t *output;
  const int8_t *end;
  uint32_t entry;  // where the loop is entered
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct intarsia_octets, skipped) == 4 &&
                   offsetof(struct intarsia_octets, passes) == 8 &&
                   offsetof(struct intarsia_octets, output) == 12 &&
                   offsetof(struct intarsia_octets, entry) == 20,
               "the assembly's numbers");

// Weights by r5, the table by r3. Sums of the channels in r0, r2, r4, ..., r12, lr; `results` takes those of even channels to
// q0 and of odd ones to q1, shifted to the left, the octet's first output to r0, what is left of them to r2, the input to r1 and
// passes to r7. q2 to q5 are its own.
#define INTARSIA_OCTET(sum) \
  "vldrb.8 q1, [r5], #16\n" \
  "vmladava.s8 " sum ", q0, q1\n"
#define INTARSIA_OCTET_STEP                                                                \
  INTARSIA_LANDING "vldrb.8 q0, [r1], #16\n" INTARSIA_OCTET("r0") INTARSIA_OCTET("r2")     \
      INTARSIA_OCTET("r4") INTARSIA_OCTET("r6") INTARSIA_OCTET("r8") INTARSIA_OCTET("r10") \
          INTARSIA_OCTET("r12") INTARSIA_OCTET("lr")
#define INTARSIA_OCTETS(start, results)                                                          \
  __asm__ volatile(                                                                              \
      INTARSIA_SAVE_R7 start                                                                     \
      "ldr r4, [r11, #4]\n"                                                                      \
      "adr.w r1, 2f\n"                                                                           \
      "add r4, r4, r1\n"                                                                         \
      "str r4, [r11, #20]\n"                                                                     \
      "ldrd r1, r7, [r11]\n"                                                                     \
      "ldr r7, [r11, #8]\n"                                                                      \
      "1: ldm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"                                         \
      "ldr pc, [r11, #20]\n"                                                                     \
      ".balign 4\n" /* makes the section so, which ADR stands on */                              \
      "2:\n" INTARSIA_OCTET_STEP INTARSIA_OCTET_STEP INTARSIA_OCTET_STEP INTARSIA_OCTET_STEP     \
      "subs r7, r7, #1\n"                                                                        \
      "bne.w 2b\n" results                                                                       \
      "vsri.32 q1, q0, #16\n"                                                                    \
      "cmp r2, #8\n"                                                                             \
      "vshr.u16 q1, q1, #8\n"                                                                    \
      "vpst\n"                                                                                   \
      "vstrbt.16 q1, [r0], #8\n"                                                                 \
      "str r0, [r11, #12]\n"                                                                     \
      "bgt.w 1b\n" INTARSIA_RESTORE_R7                                                           \
      : "+r"(l), "+r"(weight), "+r"(table)                                                       \
      :                                                                                          \
      : "r0", "r1", "r2", "r4", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr", "q0", "q1", \
        "q2", "q3", "q4", "q5" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")
#endif

INTARSIA_INLINE void intarsia_set_octets(struct intarsia_octets *layer,
                                         const struct intarsia_window *w, const int8_t *input,
                                         int8_t *output, int8_t *scratch) {
  const int32_t run = w->kernel_w * w->in_c, steps = (run + kOctetVector - 1) / kOctetVector;
  layer->input = input;
  if (run % kOctetVector != 0) {
    intarsia_copy(scratch, input, run);
    layer->input = scratch;
  }
  layer->output = output;
  layer->end = output + w->out_c;
  layer->passes = (steps + kOctetUnrolled - 1) / kOctetUnrolled;
  layer->skipped = (uint32_t)(layer->passes * kOctetUnrolled - steps) * kOctetStepBytes | 1u;
}

INTARSIA_INLINE int32_t intarsia_octet_sum(const struct intarsia_octets *layer,
                                           const int8_t *weights, int32_t channel, int32_t steps,
                                           int32_t bias) {
  const int8_t *octet = weights + channel / kOctetChannels * steps * kOctetChannels * kOctetVector +
                        channel % kOctetChannels * kOctetVector;
  for (int32_t i = 0; i < steps * kOctetVector; ++i)
    bias += layer->input[i] *
            octet[i / kOctetVector * kOctetChannels * kOctetVector + i % kOctetVector];
  return bias;
}

#endif  // INTARSIA_CORTEX_M_MVE_OCTETS_H_
