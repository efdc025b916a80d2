// A fully connected layer on cores with Helium: eight channels share each load of the input, 17
// instructions for 128 products, and their sums take all even registers.
#include <stddef.h>

#include "intarsia/targets/cortex_m/mve_conv.h"
#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kVector = 16, kOctet = 8, kUnrolled = 4, kStepBytes = 17 * 4 + INTARSIA_LANDING_BYTES };

// The assembly knows the layout.
struct layer {
  const int8_t *input;
  uint32_t
      skipped;  // bytes of the unrolled loop before its entry, and the bit of the instruction set
  int32_t passes;  // through the loop
  int8_t *output;
  const int8_t *end;
  uint32_t entry;  // where the loop is entered
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct layer, skipped) == 4 && offsetof(struct layer, passes) == 8 &&
                   offsetof(struct layer, output) == 12 && offsetof(struct layer, entry) == 20,
               "the assembly's numbers");
#endif

INTARSIA_INLINE void all_channels(struct layer *layer, const int8_t *weights,
                                  const int32_t *channels, int32_t steps) {
#if INTARSIA_HAS_MVE
  (void)steps;
  register struct layer *l __asm__("r11") = layer;
  register const int8_t *weight __asm__("r5") = weights;
  register const int32_t *table __asm__("r3") = channels;
  // Sums of the channels in r0, r2, r4, ..., r12, lr. The results of even channels go to q0,
  // of odd ones to q1.
#define PRODUCTS(sum)       \
  "vldrb.8 q1, [r5], #16\n" \
  "vmladava.s8 " sum ", q0, q1\n"
#define STEP                                                                              \
  INTARSIA_LANDING "vldrb.8 q0, [r1], #16\n" PRODUCTS("r0") PRODUCTS("r2") PRODUCTS("r4") \
      PRODUCTS("r6") PRODUCTS("r8") PRODUCTS("r10") PRODUCTS("r12") PRODUCTS("lr")
  __asm__ volatile(INTARSIA_SAVE_R7
                   "ldr r4, [r11, #4]\n"
                   "adr.w r1, 2f\n"
                   "add r4, r4, r1\n"
                   "str r4, [r11, #20]\n"
                   "ldrd r1, r7, [r11]\n"
                   "ldr r7, [r11, #8]\n"
                   "1: ldm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
                   "ldr pc, [r11, #20]\n"
                   ".balign 4\n"  // makes the section so, which ADR stands on
                   "2:\n" STEP STEP STEP STEP
                   "subs r7, r7, #1\n"
                   "bne.w 2b\n"
                   "vldrw.32 q2, [r3], #16\n"
                   "vmov q0[2], q0[0], r0, r8\n"
                   "vmov q0[3], q0[1], r4, r12\n"
                   "vldrw.32 q3, [r3], #16\n"
                   "vqrdmulh.s32 q0, q0, q2\n"
                   "vmov q1[2], q1[0], r2, r10\n"
                   "vmov q1[3], q1[1], r6, lr\n"
                   "vldrw.32 q4, [r3], #16\n"
                   "vqrdmulh.s32 q1, q1, q3\n"
                   "vshr.s32 q2, q0, #31\n"
                   "vldrw.32 q5, [r3], #16\n"
                   "vadd.i32 q0, q0, q4\n"
                   "ldrd r0, r2, [r11, #12]\n"
                   "vshr.s32 q3, q1, #31\n"
                   "vldrw.32 q4, [r3], #16\n"
                   "vadd.i32 q0, q0, q2\n"
                   "subs r2, r2, r0\n"
                   "vadd.i32 q1, q1, q5\n"
                   "vldrw.32 q5, [r3], #16\n"
                   "vadd.i32 q1, q1, q3\n"
                   "ldr r1, [r11]\n"
                   "vqshl.s32 q0, q0, q4\n"
                   "ldr r7, [r11, #8]\n"
                   "vqshl.s32 q1, q1, q5\n"
                   "vctp.16 r2\n"
                   "vsri.32 q1, q0, #16\n"
                   "cmp r2, #8\n"
                   "vshr.u16 q1, q1, #8\n"
                   "vpst\n"
                   "vstrbt.16 q1, [r0], #8\n"
                   "str r0, [r11, #12]\n"
                   "bgt.w 1b\n" INTARSIA_RESTORE_R7
                   : "+r"(l), "+r"(weight), "+r"(table)
                   :
                   : "r0", "r1", "r2", "r4", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr",
                     "q0", "q1", "q2", "q3", "q4", "q5" INTARSIA_CLOBBERS_PREDICATE, "cc",
                     "memory");
#undef STEP
#undef PRODUCTS
#else
  const int32_t count = (int32_t)(layer->end - layer->output);
  for (int32_t c = 0; c < count; ++c) {
    const int32_t lane = c % kOctet, place = lane % 2 * 4 + lane / 2;
    const int8_t *octet = weights + c / kOctet * steps * kOctet * kVector + lane * kVector;
    const int32_t *channel = channels + c / kOctet * 4 * kOctet;
    int32_t sum = channel[lane];
    for (int32_t i = 0; i < steps * kVector; ++i)
      sum += layer->input[i] * octet[i / kVector * kOctet * kVector + i % kVector];
    layer->output[c] =
        intarsia_mve_top_result(sum, channel[kOctet + place], channel[2 * kOctet + place],
                                channel[3 * kOctet + place], true);
  }
#endif
}

void intarsia_mve_dense_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  const int32_t run = w->kernel_w * w->in_c, steps = (run + kVector - 1) / kVector;
  struct layer layer;
  layer.input = input;
  if (run % kVector != 0) {
    intarsia_copy(scratch, input, run);
    layer.input = scratch;
  }
  layer.output = output;
  layer.end = output + w->out_c;
  layer.passes = (steps + kUnrolled - 1) / kUnrolled;
  layer.skipped = (uint32_t)(layer.passes * kUnrolled - steps) * kStepBytes | 1u;
  all_channels(&layer, weights, channels, steps);
  if (w->low != -128 || w->high != 127) intarsia_mve_clamp(output, w->out_c, w->low, w->high);
}
