// Two pixels in a word, 23 bits apart: one SMLAL adds the products of both with a weight to a 64-bit sum that
// holds the sums of both. Six pixels at a time.
#include "intarsia/targets/cortex_m/long_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

enum {
  kPixels = 6,
  kPairs = kPixels / 2,
  kField = 23,  // bits between the two sums
  kHalf = 1 << (kField - 1),
  kChunk = 252,  // elements whose products add up to less than half of the lower field
};

// Element by element: `second` above, `first` below.
INTARSIA_OUTLINE void pair_up(int32_t *to, const int8_t *first, const int8_t *second,
                              int32_t count) {
  for (; count > 0; count -= 4, first += 4, second += 4, to += 4 * kPairs)
    for (int32_t i = 0; i < 4; ++i) to[i * kPairs] = second[i] * (1 << kField) + first[i];
}

// sums += products of `count` weights, a multiple of four up to kChunk, with three pairs of pixels. The first
// of a pair gets kHalf more than that.
INTARSIA_OUTLINE void dot(const int32_t *pairs, const int8_t *weights, int32_t count,
                          int32_t sums[kPixels]) {
#if INTARSIA_HAS_THUMB2
  register const int32_t *from __asm__("r0") = pairs;
  register const int8_t *weight __asm__("r1") = weights;
  register int32_t left __asm__("r2") = count;
  register int32_t *to __asm__("r3") = sums;
#define INTARSIA_STEP         \
  "ldrsb r12, [r1], #1\n"     \
  "ldmia r0!, {r4, r5, r6}\n" \
  "smlal r7, r8, r4, r12\n"   \
  "smlal r9, r10, r5, r12\n"  \
  "smlal r11, lr, r6, r12\n"
#define INTARSIA_SPLIT(low, high) \
  "ubfx r0, " low                 \
  ", #0, #23\n"                   \
  "lsr " low ", " low             \
  ", #23\n"                       \
  "orr " low ", " low ", " high   \
  ", lsl #9\n"                    \
  "ldrd r4, r5, [r3]\n"           \
  "add r4, r4, r0\n"              \
  "add r5, r5, " low              \
  "\n"                            \
  "strd r4, r5, [r3], #8\n"
  __asm__ volatile(INTARSIA_SAVE_R7
                   "mov r7, #0x400000\n"
                   "mov r8, #0\n"
                   "mov r9, r7\n"
                   "mov r10, r8\n"
                   "mov r11, r7\n"
                   "mov lr, r8\n"
                   "subs r2, r2, #8\n"
                   "blt 2f\n"
                   "1:\n" INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
                       INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
                   "subs r2, r2, #8\n"
                   "bge 1b\n"
                   "2: adds r2, r2, #8\n"
                   "beq 3f\n" INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
                   "3:\n" INTARSIA_SPLIT("r7", "r8") INTARSIA_SPLIT("r9", "r10")
                       INTARSIA_SPLIT("r11", "lr") INTARSIA_RESTORE_R7
                   : "+r"(from), "+r"(weight), "+r"(left), "+r"(to)
                   :
                   : "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr",
                     "cc", "memory");
#undef INTARSIA_SPLIT
#undef INTARSIA_STEP
#else
  int64_t both[kPairs] = {kHalf, kHalf, kHalf};
  for (; count > 0; --count, ++weights, pairs += kPairs)
    for (int32_t pair = 0; pair < kPairs; ++pair) both[pair] += (int64_t)pairs[pair] * *weights;
  for (int32_t pair = 0; pair < kPairs; ++pair) {
    sums[2 * pair] += (int32_t)((uint32_t)both[pair] & ((1u << kField) - 1));
    sums[2 * pair + 1] += (int32_t)(both[pair] >> kField);
  }
#endif
}

INTARSIA_INLINE void six_pixels(const struct intarsia_window *w, const int32_t *pairs,
                                int8_t *output, const int8_t *weights,
                                const struct intarsia_channel *channels, int32_t run,
                                enum intarsia_way way) {
  const int32_t excess = (run + kChunk - 1) / kChunk * kHalf;
  int32_t sums[kPixels];
  struct intarsia_results results = {sums, channels, output, kPixels, 0, w->out_c, w->low, w->high};
  for (int32_t left = w->out_c; left > 0; --left, ++results.channel, ++results.output) {
    const int32_t bias = results.channel->bias, below = bias - excess;
    sums[0] = sums[2] = sums[4] = below;
    sums[1] = sums[3] = sums[5] = bias;
    const int32_t *from = pairs;
    int32_t count = run;
    for (; count > kChunk; count -= kChunk, from += kChunk * kPairs, weights += kChunk)
      dot(from, weights, kChunk, sums);
    dot(from, weights, count, sums);
    weights += count;
    intarsia_results(&results, way);
  }
}

static struct intarsia_place place_of(const struct intarsia_window *w, const int8_t *input,
                                      int32_t pixel) {
  const int32_t row = pixel / w->out_w, image = row / w->out_h;
  return (struct intarsia_place){input + image * w->in_h * w->in_w * w->in_c,
                                 row - image * w->out_h, pixel - row * w->out_w};
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t run = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4 * 4,
                pixels = w->batches * w->out_h * w->out_w;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % 4 == 0;
  const int32_t block = pixels < kPixels ? 1 : kPixels;
  int32_t *pairs = (int32_t *)(void *)scratch;
  int8_t *windows = block == 1 ? scratch : (int8_t *)(pairs + kPairs * run);
  for (int32_t next = 0; next < pixels; next += block) {
    const int32_t first =
        next + block <= pixels ? next : pixels - block;  // the last overlaps the one before
    struct intarsia_place at = place_of(w, input, first);
    const int8_t *from[2] = {windows, windows + run};
    for (int32_t pixel = 0; pixel < block; ++pixel, intarsia_advance(w, &at)) {
      if (direct)
        from[pixel % 2] = at.image + (at.y * w->stride_h * w->in_w + at.x * w->stride_w) * w->in_c;
      else
        intarsia_gather(w, &at, windows + pixel % 2 * run);
      if (pixel % 2 != 0) pair_up(pairs + pixel / 2, from[0], from[1], run);
    }
    int8_t *to = output + first * w->out_c;
    if (block == 1)
      intarsia_one_pixel(w, from[0], to, weights, channels, run, way);
    else
      six_pixels(w, pairs, to, weights, channels, run, way);
  }
}

void intarsia_long_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_WHOLE);
}

void intarsia_long_conv_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_LIMITED);
}

void intarsia_long_conv_any_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_ANY);
}
