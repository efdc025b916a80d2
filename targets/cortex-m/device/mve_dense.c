// A fully connected layer on cores with Helium: mve_octets.h, with numbers of each channel's results.
#include "intarsia/targets/cortex_m/mve_octets.h"

INTARSIA_INLINE void all_channels(struct intarsia_octets *layer, const int8_t *weights,
                                  const int32_t *channels, int32_t steps) {
#if INTARSIA_HAS_MVE
  (void)steps;
  register struct intarsia_octets *l __asm__("r11") = layer;
  register const int8_t *weight __asm__("r5") = weights;
  register const int32_t *table __asm__("r3") = channels;
  INTARSIA_OCTETS("",
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
                  "vctp.16 r2\n");
#else
  const int32_t count = (int32_t)(layer->end - layer->output);
  for (int32_t c = 0; c < count; ++c) {
    const int32_t lane = c % kOctetChannels, place = lane % 2 * 4 + lane / 2;
    const int32_t *channel = channels + c / kOctetChannels * 4 * kOctetChannels;
    const int32_t sum = intarsia_octet_sum(layer, weights, c, steps, channel[lane]);
    layer->output[c] = intarsia_mve_top_result(sum, channel[kOctetChannels + place],
                                               channel[2 * kOctetChannels + place],
                                               channel[3 * kOctetChannels + place], true);
  }
#endif
}

void intarsia_mve_dense_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  struct intarsia_octets layer;
  intarsia_set_octets(&layer, w, input, output, scratch);
  all_channels(&layer, weights, channels,
               (w->kernel_w * w->in_c + kOctetVector - 1) / kOctetVector);
  if (w->low != -128 || w->high != 127) intarsia_mve_clamp(output, w->out_c, w->low, w->high);
}
