// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and two output channels at once are dot products with four such
// columns. Pixels that are left over go one by one.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_by_four.h"
#include "intarsia/targets/cortex_m/dsp_four.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

#include "intarsia/targets/cortex_m/dsp_windows.h"

#include "intarsia/targets/cortex_m/optimise.h"

// What four pixels, or one, are computed with: columns in scratch, constants.
struct pixels {
  const struct intarsia_window *w;
  const uint32_t *columns;
  const int8_t *weights;
  const struct intarsia_channel *channels;
  int32_t groups;
#if INTARSIA_HAS_DSP_LOOPS
  struct by_four work;  // of all whole blocks of channels
#endif
};
typedef void pixels_function(struct pixels *p, int8_t *output);

INTARSIA_INLINE void pixels_by_four(const struct pixels *p, int8_t *output, enum intarsia_way way) {
  const int32_t out_c = p->w->out_c, low = p->w->low, high = p->w->high, groups = p->groups;
  const int8_t *weights = p->weights;
  const struct intarsia_channel *channels = p->channels;
  for (int32_t left = out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    // Before the stores: the compiler cannot know that they leave the table alone.
    struct intarsia_channel both[2];
    both[0] = channels[0], both[1] = channels[1];
    int32_t sums[8];
    for (int32_t i = 0; i < 8; ++i) sums[i] = both[i / 4].bias;
    intarsia_dot_2x4(p->columns, weights, groups, sums);
    for (int32_t c = 0; c < 2 && c < left; ++c, ++output)
      for (int32_t pixel = 0; pixel < 4; ++pixel)
        output[pixel * out_c] = intarsia_result(sums[4 * c + pixel], &both[c], low, high, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// clang-format off
#define INTARSIA_FOUR(suffix, way, result, limit) \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40(struct pixels *p, int8_t *output) { \
    const struct four_pixels work = intarsia_four_pixels(p->w, p->columns, p->columns + 8 * p->groups, output, p->channels, p->groups, 8); \
    INTARSIA_FOUR_PIXELS(work, p->weights, p->channels, INTARSIA_FOUR_FIRST_UNIT, INTARSIA_FOUR_UNITS, INTARSIA_FOUR_ENTRIES, result, limit, "strb.w", "1", "2"); \
  }
// clang-format on
#else
#define INTARSIA_FOUR(suffix, way, result, limit)                                     \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40(struct pixels *p, int8_t *output) { \
    pixels_by_four(p, output, way);                                                   \
  }
#endif

INTARSIA_FOUR(whole, INTARSIA_WHOLE, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_FOUR_RECTIFIED, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(limited, INTARSIA_LIMITED, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_LIMITED)
INTARSIA_OUTLINE void four_any_pushes_40(struct pixels *p, int8_t *output) {
  pixels_by_four(p, output, INTARSIA_ANY);
}

// One for all ways from sums to results.
INTARSIA_OUTLINE void two_channels(const uint32_t *column, const int8_t *weights, int32_t groups,
                                   int32_t sums[2]) {
  intarsia_dot_2x1(column, weights, groups, sums);
}

INTARSIA_INLINE void one_pixel(const struct pixels *p, int8_t *output, enum intarsia_way way) {
  const int32_t low = p->w->low, high = p->w->high, groups = p->groups;
  const int8_t *weights = p->weights;
  const struct intarsia_channel *channels = p->channels;
  for (int32_t left = p->w->out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    int32_t sums[2] = {channels[0].bias, channels[1].bias};
    two_channels(p->columns, weights, groups, sums);
    *output++ = intarsia_result(sums[0], channels, low, high, way);
    if (left > 1) *output++ = intarsia_result(sums[1], channels + 1, low, high, way);
  }
}

// Four channels whose weights share halfwords. Biases of the second and fourth are doubled.
INTARSIA_OUTLINE void four_channels(const uint32_t *column, const int8_t *weights, int32_t groups,
                                    int32_t sums[4]) {
#if INTARSIA_HAS_DSP_LOOPS
  register int32_t a __asm__("r8") = sums[0];
  register int32_t b __asm__("r9") = sums[1];
  register int32_t c __asm__("r10") = sums[2];
  register int32_t d __asm__("r11") = sums[3];
  register int32_t left __asm__("r12") = groups;
  register const uint32_t *from __asm__("r0") = column;
  register const int8_t *shared __asm__("r1") = weights;
  // Two words of each: nineteen cycles for sixteen products.
  __asm__ volatile(
      ".balign 4\n"
      "1: ldr.w r2, [r1, #4]\n"
      "ldr.w r3, [r1, #8]\n"
      "ldr.w r4, [r1, #12]\n"
      "ldr.w r5, [r0, #4]\n"
      "ldr.w r6, [r0], #8\n"
      "ldr.w lr, [r1], #16\n"
      "smlad r11, r6, r2, r11\n"
      "sxtb16 r2, r2\n"
      "smlad r9, r5, r3, r9\n"
      "sxtb16 r3, r3\n"
      "smlad r10, r6, r2, r10\n"
      "smlad r8, r5, r3, r8\n"
      "smlad r11, r5, r4, r11\n"
      "sxtb16 r4, r4\n"
      "smlad r9, r6, lr, r9\n"
      "sxtb16 lr, lr\n"
      "smlad r10, r5, r4, r10\n"
      "smlad r8, r6, lr, r8\n"
      "subs.w r12, r12, #1\n"
      "bne.w 1b\n"
      : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left), "+r"(from), "+r"(shared)
      :
      : "r2", "r3", "r4", "r5", "r6", "lr", "cc", "memory");
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
#else
  intarsia_shared_dot_4x1(column, 1, weights, groups, sums);
#endif
}

// Results of a block.
INTARSIA_INLINE void block_results(const struct intarsia_window *w, int8_t *output,
                                   const struct intarsia_channel *channels, const int32_t sums[4],
                                   enum intarsia_way way) {
  for (int32_t lane = 0; lane < 4; ++lane) {
    const int32_t sum =
        lane % 2 == 0 ? sums[lane]
                      : intarsia_shared_sum(sums[lane - 1], sums[lane], channels[lane].bias >> 1);
    output[lane] = intarsia_result(sum, &channels[lane], w->low, w->high, way);
  }
}

INTARSIA_INLINE void one_by_four(const struct pixels *p, int8_t *output, enum intarsia_way way) {
  const struct intarsia_window *w = p->w;
  const int32_t groups = p->groups;
  const int8_t *weights = p->weights;
  const struct intarsia_channel *channels = p->channels;
  for (int32_t next = 0; next < w->out_c; next += 4, channels += 4, weights += 16 * groups) {
    const int32_t first = next + 4 <= w->out_c ? next : w->out_c - 4;
    int32_t sums[4] = {channels[0].bias, channels[0].bias, channels[2].bias, channels[2].bias};
    four_channels(p->columns, weights, groups, sums);
    block_results(w, output + first, channels, sums, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
#define INTARSIA_BLOCKS(suffix, way, result, limit)                                       \
  INTARSIA_OUTLINE void blocks_##suffix##_pushes_56(const struct by_four *work) {         \
    INTARSIA_BY_FOUR(work, result, limit);                                                \
  }                                                                                       \
  INTARSIA_OUTLINE void by_four_##suffix(struct pixels *p, int8_t *output) {              \
    const int32_t out_c = p->w->out_c, blocks = out_c / 4;                                \
    p->work.output = output;                                                              \
    blocks_##suffix##_pushes_56(&p->work);                                                \
    if (out_c % 4 == 0) return;                                                           \
    const struct by_four last = intarsia_by_four(p->w, p->columns, output + out_c - 4,    \
                                                 p->weights + 16 * blocks * p->groups,    \
                                                 p->channels + 4 * blocks, p->groups, 1); \
    blocks_##suffix##_pushes_56(&last);                                                   \
  }
#else
#define INTARSIA_BLOCKS(suffix, way, result, limit)                                               \
  INTARSIA_OUTLINE void by_four_##suffix(struct pixels *p, int8_t *output) {                      \
    const int8_t *weights = p->weights;                                                           \
    const struct intarsia_channel *channels = p->channels;                                        \
    const int32_t out_c = p->w->out_c;                                                            \
    for (int32_t next = 0; next < out_c; next += 4, weights += 16 * p->groups, channels += 4)     \
      for (int32_t pixel = 0; pixel < 4; ++pixel) {                                               \
        int32_t sums[4] = {channels[0].bias, channels[0].bias, channels[2].bias,                  \
                           channels[2].bias};                                                     \
        intarsia_shared_dot_4x1(p->columns + pixel, 4, weights, p->groups, sums);                 \
        block_results(p->w, output + pixel * out_c + intarsia_min_i32(next, out_c - 4), channels, \
                      sums, way);                                                                 \
      }                                                                                           \
  }
#endif

// The last block overlaps the one before where channels are no multiple of four.
INTARSIA_BLOCKS(whole, INTARSIA_WHOLE, INTARSIA_BY_FOUR_WHOLE, INTARSIA_BY_FOUR_UNLIMITED)
INTARSIA_BLOCKS(rectified, INTARSIA_RECTIFIED, INTARSIA_BY_FOUR_RECTIFIED,
                INTARSIA_BY_FOUR_UNLIMITED)
INTARSIA_BLOCKS(limited, INTARSIA_LIMITED, INTARSIA_BY_FOUR_WHOLE, INTARSIA_BY_FOUR_LIMITED)

// The number of pixels.
INTARSIA_OUTLINE int32_t begin(struct staging *s, struct pixels *p, const struct intarsia_window *w,
                               const int8_t *input, int8_t *scratch, const int8_t *weights,
                               const int32_t *channel_words) {
  const int32_t pixels = start(s, w, input, scratch);
  p->w = w;
  p->columns = s->columns;
  p->weights = weights;
  p->channels = (const struct intarsia_channel *)channel_words;
  p->groups = s->groups;
#if INTARSIA_HAS_DSP_LOOPS
  p->work = intarsia_by_four(w, p->columns, NULL, weights, p->channels, p->groups, w->out_c / 4);
#endif
  return pixels;
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              pixels_function *four, pixels_function *one) {
  struct staging s;
  struct pixels p;
  int32_t pixels = begin(&s, &p, w, input, scratch, weights, channel_words);
  for (; pixels >= 4; pixels -= 4, output += 4 * w->out_c) {
    stage_four(&s);
    four(&p, output);
  }
  for (; pixels > 0; --pixels, output += w->out_c) {
    stage_one(&s);
    one(&p, output);
  }
}

#define INTARSIA_KERNEL(name, suffix, way, single, four)                                  \
  INTARSIA_OUTLINE void single##_##suffix(struct pixels *p, int8_t *output) {             \
    single(p, output, way);                                                               \
  }                                                                                       \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output,    \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {            \
    convolve(window, input, output, scratch, weights, channels, four, single##_##suffix); \
  }

INTARSIA_KERNEL(intarsia_dsp_conv_s8, whole, INTARSIA_WHOLE, one_pixel, four_whole_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_rectified_s8, rectified, INTARSIA_RECTIFIED, one_pixel,
                four_rectified_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_limited_s8, limited, INTARSIA_LIMITED, one_pixel,
                four_limited_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_any_s8, any, INTARSIA_ANY, one_pixel, four_any_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_s8, whole, INTARSIA_WHOLE, one_by_four, by_four_whole)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_rectified_s8, rectified, INTARSIA_RECTIFIED, one_by_four,
                by_four_rectified)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_limited_s8, limited, INTARSIA_LIMITED, one_by_four,
                by_four_limited)
