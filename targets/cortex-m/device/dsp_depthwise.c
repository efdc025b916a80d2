// Depthwise convolution on cores with the DSP extension, four channels at a time.
//
// SMLAD wants two inputs of one channel in a word; in memory neighbours are of different channels. Two
// rows of the input are merged into such words once, with their padding, and serve all outputs that see
// them: scratch holds the pairs of rows that the current row of outputs needs, as a ring.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum { kLanes = 4 };  // channels of a block: words per column of a pair of rows

struct ring {
  uint32_t *words;
  int32_t pairs;      // slots
  int32_t row_words;  // of one slot
  int32_t columns;    // of the padded input that outputs see
  int32_t staged;     // pairs of rows merged so far
};

// Channel by channel: `upper`'s element below, `lower`'s above.
INTARSIA_INLINE void merge(uint32_t *to, uint32_t upper, uint32_t lower) {
#if INTARSIA_HAS_DSP
  uint32_t first, second;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(first) : "r"(upper), "r"(lower));
  __asm__("pkhtb %0, %2, %1, asr #16" : "=r"(second) : "r"(upper), "r"(lower));
#else
  const uint32_t first = (upper & 0xffffu) | lower << 16,
                 second = upper >> 16 | (lower & 0xffff0000u);
#endif
  to[0] = intarsia_even_pair(first);
  to[1] = intarsia_odd_pair(first);
  to[2] = intarsia_even_pair(second);
  to[3] = intarsia_odd_pair(second);
}

// Merges the next pair of rows of the channels that `image` begins with.
INTARSIA_OUTLINE void stage(const struct intarsia_window *w, const int8_t *image,
                            struct ring *ring) {
  const uint32_t zero = ((uint32_t)w->in_zero & 0xffu) * 0x01010101u;
  uint32_t *to = ring->words + ring->staged % ring->pairs * ring->row_words;
  const int32_t y = 2 * ring->staged++ - w->pad_top;
  const bool upper_inside = y >= 0 && y < w->in_h, lower_inside = y + 1 >= 0 && y + 1 < w->in_h;
  const int32_t step = w->in_c;
  const int8_t *upper = upper_inside ? image + y * w->in_w * step : (const int8_t *)&zero;
  const int8_t *lower = lower_inside ? image + (y + 1) * w->in_w * step : (const int8_t *)&zero;
  const int32_t upper_step = upper_inside ? step : 0, lower_step = lower_inside ? step : 0;
  int32_t column = 0;
  for (; column < w->pad_left; ++column, to += kLanes) merge(to, zero, zero);
  const int32_t end = w->pad_left + w->in_w < ring->columns ? w->pad_left + w->in_w : ring->columns;
  for (; column < end; ++column, to += kLanes) {
    merge(to, intarsia_load_word(upper), intarsia_load_word(lower));
    upper += upper_step;
    lower += lower_step;
  }
  for (; column < ring->columns; ++column, to += kLanes) merge(to, zero, zero);
}

// Weights as bytes to pairs of halfwords.
static void expand_weights(uint32_t *to, const int8_t *from, int32_t words) {
  for (; words > 0; --words, from += 4, to += 2) {
    const uint32_t word = intarsia_load_word(from);
    to[0] = intarsia_even_pair(word);
    to[1] = intarsia_odd_pair(word);
  }
}

// A window of any size, from the ring.
struct any_window {
  int32_t columns;      // >= 1
  int32_t to_next;      // bytes from the end of a pair's columns to those of the next pair
  const uint32_t *end;  // of the ring
  int32_t ring_bytes;
  int32_t pairs;  // >= 1; counts down
};

// sums += a window that begins in the ring at `row`. Nine instructions for eight products, thirteen for a pair.
INTARSIA_INLINE void add_window(struct any_window *window, const uint32_t *row,
                                const uint32_t *weights, int32_t sums[4]) {
#if INTARSIA_HAS_DSP_LOOPS
  register struct any_window *at __asm__("r0") = window;
  register const uint32_t *from __asm__("r6") = row;
  register const uint32_t *with __asm__(INTARSIA_OPERAND_R7) = weights;
  register int32_t sum0 __asm__("r8") = sums[0];
  register int32_t sum1 __asm__("r9") = sums[1];
  register int32_t sum2 __asm__("r10") = sums[2];
  register int32_t sum3 __asm__("r11") = sums[3];
  __asm__ volatile(INTARSIA_TAKE_R7
                   "2: ldr lr, [r0]\n"
                   "1: ldmia r6!, {r1, r2, r3, r4}\n"
                   "ldrd r5, r12, [r7], #8\n"
                   "smlad r8, r1, r5, r8\n"
                   "smlad r9, r2, r12, r9\n"
                   "ldrd r5, r12, [r7], #8\n"
                   "smlad r10, r3, r5, r10\n"
                   "smlad r11, r4, r12, r11\n"
                   "subs lr, lr, #1\n"
                   "bne 1b\n"
                   "ldrd r1, r2, [r0, #4]\n"
                   "ldrd r3, r4, [r0, #12]\n"
                   "add r6, r6, r1\n"
                   "cmp r6, r2\n"
                   "it hs\n"
                   "subhs r6, r6, r3\n"
                   "subs r4, r4, #1\n"
                   "str r4, [r0, #16]\n"
                   "bne 2b\n" INTARSIA_RESTORE_R7
                   : "+r"(from), "+r"(with), "+r"(sum0), "+r"(sum1), "+r"(sum2), "+r"(sum3)
                   : "r"(at)
                   : INTARSIA_CLOBBERS_R1 "r2", "r3", "r4", "r5", "r12", "lr", "cc", "memory");
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
#else
  for (; window->pairs > 0; --window->pairs) {
    for (int32_t column = window->columns; column > 0; --column, row += kLanes, weights += kLanes)
      for (int32_t lane = 0; lane < kLanes; ++lane)
        sums[lane] = intarsia_pair_product(row[lane], weights[lane], sums[lane]);
    row += window->to_next / 4;
    if (row >= window->end) row -= window->ring_bytes / 4;
  }
#endif
}

INTARSIA_INLINE void output_row(const struct intarsia_window *w, const struct ring *ring,
                                int32_t first_pair, const uint32_t *weights, int8_t *output,
                                const struct intarsia_channel *channels, enum intarsia_way way) {
  const int32_t kernel_w = w->kernel_w, out_c = w->out_c, step = w->stride_w * kLanes;
  const int32_t low = w->low, high = w->high;
  const int32_t slot = first_pair % ring->pairs;
  const int32_t row_words = ring->row_words;
  struct any_window window = {kernel_w, 4 * (row_words - kernel_w * kLanes),
                              ring->words + ring->pairs * row_words, 4 * ring->pairs * row_words,
                              0};
  const uint32_t *row = ring->words + slot * row_words;
  for (int32_t x = w->out_w; x > 0; --x, output += out_c, row += step) {
    int32_t sums[4] = {channels[0].bias, channels[1].bias, channels[2].bias, channels[3].bias};
    window.pairs = ring->pairs;
    add_window(&window, row, weights, sums);
    output[0] = intarsia_result(sums[0], &channels[0], low, high, way);
    output[1] = intarsia_result(sums[1], &channels[1], low, high, way);
    output[2] = intarsia_result(sums[2], &channels[2], low, high, way);
    output[3] = intarsia_result(sums[3], &channels[3], low, high, way);
  }
}

typedef void row_function(const struct intarsia_window *w, const struct ring *ring,
                          int32_t first_pair, const uint32_t *weights, int8_t *output,
                          const struct intarsia_channel *channels);

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                               row_function *row) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t phases = w->stride_h % 2 == 0 ? 1 : 2;
  struct ring ring;
  ring.pairs = phases == 1 ? (w->kernel_h + 1) / 2 : w->kernel_h / 2 + 1;
  ring.columns = (w->out_w - 1) * w->stride_w + w->kernel_w;
  ring.row_words = ring.columns * kLanes;
  const int32_t phase_words = ring.pairs * w->kernel_w * kLanes;
  uint32_t *expanded = (uint32_t *)(void *)scratch;
  ring.words = expanded + phases * phase_words;

  for (int32_t next = 0; next < w->out_c; next += kLanes) {
    const int32_t block = next + kLanes <= w->out_c ? next : w->out_c - kLanes;
    expand_weights(expanded, weights, phases * phase_words / 2);
    weights += 2 * phases * phase_words;
    const int8_t *image = input + block;
    int8_t *to = output + block;
    for (int32_t n = 0; n < w->batches; ++n, image += w->in_h * w->in_w * w->in_c) {
      ring.staged = 0;
      for (int32_t y = 0; y < w->out_h; ++y, to += w->out_w * w->out_c) {
        const int32_t first_row = y * w->stride_h, first_pair = first_row / 2;
        if (ring.staged < first_pair) ring.staged = first_pair;
        while (ring.staged < first_pair + ring.pairs) stage(w, image, &ring);
        row(w, &ring, first_pair, expanded + first_row % 2 * phase_words, to, channels + block);
      }
    }
  }
}

#define INTARSIA_KERNEL(name, suffix, way)                                                        \
  INTARSIA_OUTLINE void row_##suffix(const struct intarsia_window *w, const struct ring *ring,    \
                                     int32_t first_pair, const uint32_t *weights, int8_t *output, \
                                     const struct intarsia_channel *channels) {                   \
    output_row(w, ring, first_pair, weights, output, channels, way);                              \
  }                                                                                               \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output,            \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {                    \
    depthwise(window, input, output, scratch, weights, channels, row_##suffix);                   \
  }

INTARSIA_KERNEL(intarsia_dsp_depthwise_s8, whole, INTARSIA_WHOLE)
INTARSIA_KERNEL(intarsia_dsp_depthwise_rectified_s8, rectified, INTARSIA_RECTIFIED)
INTARSIA_KERNEL(intarsia_dsp_depthwise_limited_s8, limited, INTARSIA_LIMITED)
INTARSIA_KERNEL(intarsia_dsp_depthwise_any_s8, any, INTARSIA_ANY)
