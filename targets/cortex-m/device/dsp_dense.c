// Weights of two channels share a halfword (dsp_dot.h). SMLAD with the halfwords as they are adds up 256 * B + A, SXTB16 leaves A
// alone for a sum of its own, and B is their difference: sixteen instructions for the sixteen products of four inputs and
// four channels, each weight read once.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum { kLanes = 4, kGroup = 4, kGroupBytes = 16 };

// Results of a block; only the quick arithmetic has doubled biases.
INTARSIA_INLINE void block_results(const struct intarsia_window *w, int8_t *output,
                                   const struct intarsia_channel *channels, const int32_t sums[4],
                                   enum intarsia_way way) {
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    const int32_t bias =
        way == INTARSIA_ANY ? channels[lane].bias : channels[lane].bias >> (lane % 2);
    const int32_t sum =
        lane % 2 == 0 ? sums[lane] : intarsia_shared_sum(sums[lane - 1], sums[lane], bias);
    output[lane] = intarsia_result(sum, &channels[lane], w->low, w->high, way);
  }
}

INTARSIA_INLINE void portable_blocks(const struct intarsia_window *w, const int8_t *input,
                                     int8_t *output, const int8_t *weights,
                                     const struct intarsia_channel *channels, int32_t blocks,
                                     enum intarsia_way way) {
  for (; blocks > 0; --blocks, output += kLanes, channels += kLanes) {
    int32_t sums[kLanes] = {channels[0].bias, channels[0].bias, channels[2].bias, channels[2].bias};
    for (const int8_t *from = input; from < input + w->in_c;
         from += kGroup, weights += kGroupBytes) {
      const uint32_t word = intarsia_load_word(from);
      const uint32_t pairs[2] = {intarsia_even_pair(word), intarsia_odd_pair(word)};
      intarsia_shared_dot_4x1(pairs, 1, weights, 1, sums);
    }
    block_results(w, output, channels, sums, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS && INTARSIA_HAS_DSP_WORDS
// Inputs that the loop does at a time, by groups.
enum { kUnits = 4 };

// What the assembly has on its stack, by words from sp.
struct dense {
  const int8_t *input, *end;
  int32_t entry;  // where the loop is entered: groups that the first pass leaves out
  int8_t *output;
  const struct intarsia_channel *end_of_channels;
  int32_t low, high;  // in both halfwords
};

// Weights from r0, inputs from r1 to r12, channels lr. Sums r8 and r10 of A and C, r9 and r11 of the halfwords. All are
// 32-bit instructions, so that the loop stays on words. The first half of inputs is r6, the second r7.
// clang-format off
#define INTARSIA_TWO(x, word, both, one) \
  "smlad " #both ", " #x ", " #word ", " #both "\n" \
  "sxtb16 " #word ", " #word "\n" \
  "smlad " #one ", " #x ", " #word ", " #one "\n"
#if INTARSIA_TWO_AT_A_TIME
// Each product has a load or an extension beside it, nearly.
#define INTARSIA_GROUP \
  "ldr.w r7, [r1], #4\n" \
  "ldr.w r2, [r0]\n" \
  "sxtb16 r6, r7\n" \
  "ldr.w r3, [r0, #4]\n" \
  "sxtb16 r7, r7, ror #8\n" \
  "smlad r9, r6, r2, r9\n" \
  "sxtb16 r2, r2\n" \
  "smlad r11, r6, r3, r11\n" \
  "sxtb16 r3, r3\n" \
  "smlad r8, r6, r2, r8\n" \
  "ldr.w r4, [r0, #8]\n" \
  "smlad r10, r6, r3, r10\n" \
  "ldr.w r5, [r0, #12]\n" \
  "smlad r9, r7, r4, r9\n" \
  "sxtb16 r4, r4\n" \
  "smlad r11, r7, r5, r11\n" \
  "sxtb16 r5, r5\n" \
  "smlad r8, r7, r4, r8\n" \
  "add.w r0, r0, #16\n" \
  "smlad r10, r7, r5, r10\n"
#else
#define INTARSIA_GROUP \
  "ldr.w r7, [r1], #4\n" \
  "ldr.w r3, [r0, #4]\n" \
  "ldr.w r4, [r0, #8]\n" \
  "ldr.w r5, [r0, #12]\n" \
  "ldr.w r2, [r0], #16\n" \
  "sxtb16 r6, r7\n" \
  "sxtb16 r7, r7, ror #8\n" \
  INTARSIA_TWO(r6, r2, r9, r8) INTARSIA_TWO(r6, r3, r11, r10) \
  INTARSIA_TWO(r7, r4, r9, r8) INTARSIA_TWO(r7, r5, r11, r10)
#endif
// Of A and B, or C and D, whose struct intarsia_channel begin `at` bytes behind lr: `both` is 256 * B, its bias doubled.
#define INTARSIA_LOAD(reg, at, more) "ldr.w " #reg ", [lr, #" #at " + " #more "]\n"
#define INTARSIA_RESULTS(a, b, at) \
  INTARSIA_LOAD(r5, at, 16) INTARSIA_LOAD(r2, at, 4) INTARSIA_LOAD(r3, at, 8) \
  INTARSIA_LOAD(r4, at, 12) INTARSIA_LOAD(r6, at, 20) INTARSIA_LOAD(r7, at, 24) \
  INTARSIA_LOAD(r1, at, 28) \
  "add.w " #b ", r5, " #b ", asr #7\n" \
  "add.w r5, r3, " #a ", asr #31\n" \
  "add.w " #a ", " #a ", " #a "\n" \
  "add.w r7, r7, " #b ", asr #31\n" \
  "smmlar " #a ", " #a ", r2, r5\n" \
  "smmlar " #b ", " #b ", r6, r7\n" \
  "asr.w " #a ", " #a ", r4\n" \
  "asr.w " #b ", " #b ", r1\n" \
  "ssat " #a ", #8, " #a "\n" \
  "ssat " #b ", #8, " #b "\n"
#define INTARSIA_NO_LIMITS
// Two results in one word.
#define INTARSIA_CLAMP(a, b) \
  "pkhbt " #a ", " #a ", " #b ", lsl #16\n" \
  "ssub16 r5, " #a ", r2\n" \
  "sel " #a ", " #a ", r2\n" \
  "ssub16 r5, r3, " #a "\n" \
  "sel " #a ", " #a ", r3\n" \
  "asr.w " #b ", " #a ", #16\n"
#define INTARSIA_LIMITS \
  "ldr.w r2, [sp, #20]\n" \
  "ldr.w r3, [sp, #24]\n" \
  INTARSIA_CLAMP(r8, r9) INTARSIA_CLAMP(r10, r11)
#define INTARSIA_DENSE_BLOCKS(work, weights, channels, limits) \
  register const int8_t *weight __asm__("r0") = weights; \
  register const struct intarsia_channel *channel __asm__("r1") = channels; \
  register const struct dense *at __asm__("r2") = &work; \
  __asm__ volatile( \
      INTARSIA_SAVE_R7 \
      "mov.w lr, r1\n" \
      "ldm.w r2, {r3, r4, r5, r6, r7, r8, r9}\n" \
      "push.w {r3, r4, r5, r6, r7, r8, r9}\n" \
      "1: ldr.w r8, [lr]\n" \
      "ldr.w r10, [lr, #32]\n" \
      "ldr.w r1, [sp]\n" \
      "ldr.w r12, [sp, #4]\n" \
      "ldr.w r4, [sp, #8]\n" \
      "mov.w r9, r8\n" \
      "mov.w r11, r10\n" \
      "tbh [pc, r4, lsl #1]\n" \
      "4: .short (50f-4b)/2, (51f-4b)/2, (52f-4b)/2, (53f-4b)/2\n" \
      ".balign 4\n" \
      "50:\n" INTARSIA_GROUP "51:\n" INTARSIA_GROUP "52:\n" INTARSIA_GROUP "53:\n" INTARSIA_GROUP \
      "cmp.w r1, r12\n" \
      "bne.w 50b\n" \
      "sub.w r9, r9, r8\n" \
      "sub.w r11, r11, r10\n" \
      INTARSIA_RESULTS(r8, r9, 0) INTARSIA_RESULTS(r10, r11, 32) limits \
      "ldr.w r2, [sp, #12]\n" \
      "ldr.w r3, [sp, #16]\n" \
      "add.w lr, lr, #64\n" \
      "strb.w r8, [r2]\n" \
      "strb.w r9, [r2, #1]\n" \
      "strb.w r10, [r2, #2]\n" \
      "strb.w r11, [r2, #3]\n" \
      "add.w r2, r2, #4\n" \
      "cmp.w lr, r3\n" \
      "str.w r2, [sp, #12]\n" \
      "bne.w 1b\n" \
      "add.w sp, sp, #28\n" \
      INTARSIA_RESTORE_R7 \
      : "+r"(weight), "+r"(channel), "+r"(at) \
      : \
      : "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
#define INTARSIA_BLOCKS(suffix, way, limits) \
  INTARSIA_OUTLINE void blocks_##suffix##_pushes_32( \
      const struct intarsia_window *w, const int8_t *input, int8_t *output, \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t blocks) { \
    const struct dense work = {input, input + w->in_c, -(w->in_c / kGroup) & (kUnits - 1), \
                               output, channels + kLanes * blocks, \
                               (int32_t)(((uint32_t)w->low & 0xffffu) * 0x10001u), \
                               (int32_t)(((uint32_t)w->high & 0xffffu) * 0x10001u)}; \
    INTARSIA_DENSE_BLOCKS(work, weights, channels, limits); \
  }
// clang-format on
#else
#define INTARSIA_NO_LIMITS
#define INTARSIA_LIMITS
#define INTARSIA_BLOCKS(suffix, way, limits)                                                       \
  INTARSIA_OUTLINE void blocks_##suffix##_pushes_32(                                               \
      const struct intarsia_window *w, const int8_t *input, int8_t *output, const int8_t *weights, \
      const struct intarsia_channel *channels, int32_t blocks) {                                   \
    portable_blocks(w, input, output, weights, channels, blocks, way);                             \
  }
#endif

INTARSIA_BLOCKS(whole, INTARSIA_WHOLE, INTARSIA_NO_LIMITS)
INTARSIA_BLOCKS(limited, INTARSIA_LIMITED, INTARSIA_LIMITS)
INTARSIA_OUTLINE void blocks_any(const struct intarsia_window *w, const int8_t *input,
                                 int8_t *output, const int8_t *weights,
                                 const struct intarsia_channel *channels, int32_t blocks) {
  portable_blocks(w, input, output, weights, channels, blocks, INTARSIA_ANY);
}

typedef void blocks_function(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                             const int8_t *weights, const struct intarsia_channel *channels,
                             int32_t blocks);

// The last block overlaps the one before where channels are no multiple of four.
INTARSIA_INLINE void dense(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           const int8_t *weights, const int32_t *channel_words,
                           blocks_function *of_blocks) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t blocks = w->out_c / kLanes;
  of_blocks(w, input, output, weights, channels, blocks);
  if (w->out_c % kLanes != 0)
    of_blocks(w, input, output + w->out_c - kLanes, weights + kLanes * blocks * w->in_c,
              channels + kLanes * blocks, 1);
}

void intarsia_dsp_dense_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, blocks_whole_pushes_32);
}

void intarsia_dsp_dense_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                   int8_t *output, const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, blocks_limited_pushes_32);
}

void intarsia_dsp_dense_any_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               const int8_t *weights, const int32_t *channels) {
  dense(w, input, output, weights, channels, blocks_any);
}
