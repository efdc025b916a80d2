// Depthwise convolution on cores that multiply single elements, channel by channel: the rows of one channel
// that a row of outputs sees are words in scratch, with their padding, as a ring. Four neighbouring
// outputs share each weight.
#include "intarsia/targets/cortex_m/thumb_depthwise.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/thumb_results.h"

enum { kOutputs = 4, kMostRows = 15, kWord = 4 };

// What the assembly of four outputs works on. x: of the first output in each row of the window.
struct four_outputs {
  const int32_t *rows[kMostRows + 1];  // and a null
  const int32_t *weights;
  int32_t sums[kOutputs];
  int32_t kernel_h, kernel_w, stride, dilation;  // the last two in bytes
};

INTARSIA_INLINE const int32_t *further(const int32_t *word, int32_t bytes) {
  return (const int32_t *)(const void *)((const char *)word + bytes);
}

#if INTARSIA_HAS_THUMB1
// Rows r0, weights r1, the window in a row r2; kernel_w r12, dilation lr; sums r8-r11. Four products share a weight.
#define INTARSIA_TAP(at1, at2, at3) \
  "ldmia r1!, {r3}\n"               \
  "ldr r4, [r2]\n"                  \
  "muls r4, r3, r4\n"               \
  "add r8, r8, r4\n"                \
  "ldr r4, [r2, #" at1              \
  "]\n"                             \
  "muls r4, r3, r4\n"               \
  "add r9, r9, r4\n"                \
  "ldr r4, [r2, #" at2              \
  "]\n"                             \
  "muls r4, r3, r4\n"               \
  "add r10, r10, r4\n"              \
  "ldr r4, [r2, #" at3              \
  "]\n"                             \
  "muls r4, r3, r4\n"               \
  "add r11, r11, r4\n"
#define INTARSIA_FOUR(at1, at2, at3) \
  __asm__ volatile(                        \
      ".syntax unified\n"                  \
      INTARSIA_SAVE_R7 INTARSIA_SAVE_HIGH("r4", "r5", "r6", "r7") \
      "mov r7, r1\n"                       \
      "mov r1, r0\n"                       \
      "adds r1, #64\n"                     \
      "ldmia r1!, {r2, r3, r4, r5, r6}\n"  \
      "mov r8, r3\n"                       \
      "mov r9, r4\n"                       \
      "mov r10, r5\n"                      \
      "mov r11, r6\n"                      \
      "ldmia r1!, {r3, r4, r5, r6}\n"      \
      "mov r12, r4\n"                      \
      "mov lr, r6\n"                       \
      "mov r1, r2\n"                       \
      "mov r6, r3\n"                       \
      "1: ldmia r0!, {r2}\n"               \
      "adds r2, r2, r7\n"                  \
      "mov r5, r12\n"                      \
      "2:\n" INTARSIA_TAP(at1, at2, at3)   \
      "add r2, r2, lr\n"                   \
      "subs r5, r5, #1\n"                  \
      "bne 2b\n"                           \
      "subs r6, r6, #1\n"                  \
      "bne 1b\n"                           \
      "mov r0, r8\n"                       \
      "mov r1, r9\n"                       \
      "mov r2, r10\n"                      \
      "mov r3, r11\n" INTARSIA_RESTORE_HIGH("r4", "r5", "r6", "r7") \
      INTARSIA_RESTORE_R7                  \
      : "+l"(at), "+l"(second), "=l"(third), "=l"(fourth) \
      :                                    \
      : "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "lr", "cc", "memory")

// The window of four outputs, `offset` bytes from the beginning of its rows; stride 1 or 2.
INTARSIA_OUTLINE void four_outputs_thumb1_pushes_20(struct four_outputs *work, int32_t offset) {
  register void *at __asm__("r0") = work;
  register int32_t second __asm__("r1") = offset;
  register int32_t third __asm__("r2"), fourth __asm__("r3");
  if (work->stride == kWord)
    INTARSIA_FOUR("4", "8", "12");
  else
    INTARSIA_FOUR("8", "16", "24");
  work->sums[0] = (int32_t)at, work->sums[1] = second, work->sums[2] = third,
  work->sums[3] = fourth;
}
#endif

#if INTARSIA_HAS_THUMB2
// Three weights in a row, stride 1: all their inputs r2-r7, sums r8-r11.
INTARSIA_OUTLINE void rows_of_three_thumb2_pushes_8(struct four_outputs *work, int32_t offset) {
  register struct four_outputs *at __asm__("r0") = work;
  register int32_t by __asm__("r1") = offset;
  __asm__ volatile(INTARSIA_SAVE_R7
                   "push {r0}\n"
                   "add lr, r0, #64\n"
                   "ldmia lr, {r2, r8, r9, r10, r11}\n"
                   "mov lr, r2\n"
                   "1: ldr r2, [r0], #4\n"
                   "cbz r2, 2f\n"
                   "add r2, r2, r1\n"
                   "ldmia r2, {r2, r3, r4, r5, r6, r7}\n"
                   "ldr r12, [lr], #4\n"
                   "mla r8, r2, r12, r8\n"
                   "mla r9, r3, r12, r9\n"
                   "mla r10, r4, r12, r10\n"
                   "mla r11, r5, r12, r11\n"
                   "ldr r12, [lr], #4\n"
                   "mla r8, r3, r12, r8\n"
                   "mla r9, r4, r12, r9\n"
                   "mla r10, r5, r12, r10\n"
                   "mla r11, r6, r12, r11\n"
                   "ldr r12, [lr], #4\n"
                   "mla r8, r4, r12, r8\n"
                   "mla r9, r5, r12, r9\n"
                   "mla r10, r6, r12, r10\n"
                   "mla r11, r7, r12, r11\n"
                   "b 1b\n"
                   "2: pop {r0}\n"
                   "add r0, r0, #68\n"
                   "stmia r0, {r8, r9, r10, r11}\n" INTARSIA_RESTORE_R7
                   : "+r"(at), "+r"(by)
                   :
                   : "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11",
                     "r12", "lr", "cc", "memory");
}
#endif

// Three weights in a row, all their inputs in registers; stride is a constant.
INTARSIA_INLINE void rows_of_three(struct four_outputs *work, int32_t offset, int32_t stride) {
  const int32_t *weights = work->weights;
  const int32_t step = stride / kWord;
  int32_t sum0 = work->sums[0], sum1 = work->sums[1], sum2 = work->sums[2], sum3 = work->sums[3];
  for (int32_t ky = 0; ky < work->kernel_h; ++ky) {
    const int32_t *x = further(work->rows[ky], offset);
    const int32_t weight0 = *weights++, weight1 = *weights++, weight2 = *weights++;
    sum0 += x[0] * weight0 + x[1] * weight1 + x[2] * weight2;
    sum1 += x[step] * weight0 + x[step + 1] * weight1 + x[step + 2] * weight2;
    sum2 += x[2 * step] * weight0 + x[2 * step + 1] * weight1 + x[2 * step + 2] * weight2;
    sum3 += x[3 * step] * weight0 + x[3 * step + 1] * weight1 + x[3 * step + 2] * weight2;
  }
  work->sums[0] = sum0, work->sums[1] = sum1, work->sums[2] = sum2, work->sums[3] = sum3;
}

// sums += products of the window, `offset` bytes from the beginning of its rows.
INTARSIA_INLINE void four_outputs(struct four_outputs *work, int32_t offset) {
#if INTARSIA_HAS_THUMB1
  if (work->stride <= 2 * kWord) {
    four_outputs_thumb1_pushes_20(work, offset);
    return;
  }
#endif
  if (work->kernel_w == 3 && work->dilation == kWord && work->stride == kWord) {
#if INTARSIA_HAS_THUMB2
    rows_of_three_thumb2_pushes_8(work, offset);
#else
    rows_of_three(work, offset, kWord);
#endif
    return;
  }
  if (work->kernel_w == 3 && work->dilation == kWord && work->stride == 2 * kWord) {
    rows_of_three(work, offset, 2 * kWord);
    return;
  }
  const int32_t *weights = work->weights;
  const int32_t stride = work->stride, dilation = work->dilation;
  int32_t sum0 = work->sums[0], sum1 = work->sums[1], sum2 = work->sums[2], sum3 = work->sums[3];
  for (int32_t ky = 0; ky < work->kernel_h; ++ky) {
    const int32_t *x = further(work->rows[ky], offset);
    for (int32_t kx = work->kernel_w; kx > 0; --kx, x = further(x, dilation)) {
      const int32_t weight = *weights++;
      sum0 += *x * weight;
      sum1 += *further(x, stride) * weight;
      sum2 += *further(x, 2 * stride) * weight;
      sum3 += *further(x, 3 * stride) * weight;
    }
  }
  work->sums[0] = sum0, work->sums[1] = sum1, work->sums[2] = sum2, work->sums[3] = sum3;
}

struct ring {
  int32_t *words;
  int32_t rows;     // slots
  int32_t columns;  // of the padded input that outputs see
  int32_t next;     // row of the padded input to fill
  int32_t slot;     // where to
};

INTARSIA_INLINE int32_t wrapped(int32_t slot, int32_t slots) {
  while (slot >= slots) slot -= slots;
  return slot;
}

// Fills the next row from the channel that `image` begins with.
INTARSIA_OUTLINE void stage(const struct intarsia_window *w, const int8_t *image,
                            struct ring *ring) {
  int32_t *to = ring->words + ring->slot * ring->columns, *end = to + ring->columns;
  const int32_t y = ring->next++ - w->pad_top, step = w->in_c, zero = w->in_zero;
  ring->slot = wrapped(ring->slot + 1, ring->rows);
  if (y >= 0 && y < w->in_h) {
    const int8_t *from = image + y * w->in_w * step;
    for (int32_t column = w->pad_left; column > 0; --column) *to++ = zero;
    const int32_t inside = end - to < w->in_w ? (int32_t)(end - to) : w->in_w;
    for (const int32_t *last = to + inside; to != last; from += step) *to++ = *from;
  }
  while (to != end) *to++ = zero;
}

// One output, where no more is left of a row.
INTARSIA_OUTLINE int32_t one_output(const struct four_outputs *work, int32_t offset, int32_t sum) {
  const int32_t *weights = work->weights;
  for (int32_t ky = 0; ky < work->kernel_h; ++ky) {
    const int32_t *x = further(work->rows[ky], offset);
    for (int32_t kx = work->kernel_w; kx > 0; --kx, x = further(x, work->dilation))
      sum += *x * *weights++;
  }
  return sum;
}

INTARSIA_INLINE void output_row(const struct intarsia_window *w, struct four_outputs *work,
                                int8_t *output, const struct intarsia_channel *channel,
                                enum intarsia_way way) {
  const int32_t out_c = w->out_c, bias = channel->bias;
  struct intarsia_results results = {work->sums, channel, output, kOutputs,
                                     0,          out_c,   w->low, w->high};
  int32_t left = w->out_w, offset = 0;
  for (; left > 0;
       left -= kOutputs, offset += kOutputs * work->stride, results.output += kOutputs * out_c) {
    if (left < kOutputs) results.count = left;
    if (left == 1 && !INTARSIA_HAS_THUMB2) {
      work->sums[0] = one_output(work, offset, bias);
      intarsia_results(&results, way);
      return;
    }
    work->sums[0] = work->sums[1] = work->sums[2] = work->sums[3] = bias;
    four_outputs(work, offset);
    intarsia_results(&results, way);
  }
}

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                               enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t taps = w->kernel_h * w->kernel_w, multiplier = w->out_c / w->in_c,
                words = taps * multiplier;
  const int32_t outputs = (w->out_w + kOutputs - 1) / kOutputs * kOutputs;
  int32_t *expanded = (int32_t *)(void *)scratch;
  struct four_outputs work = {.kernel_h = w->kernel_h,
                              .kernel_w = w->kernel_w,
                              .stride = w->stride_w * kWord,
                              .dilation = w->dilation_w * kWord};
  struct ring ring = {
      .words = expanded + words,
      .rows = (w->kernel_h - 1) * w->dilation_h + 1,
      .columns = (outputs - 1) * w->stride_w + (w->kernel_w - 1) * w->dilation_w + 1};
  for (int32_t c = 0; c < w->in_c; ++c, channels += multiplier, output += multiplier) {
    for (int32_t i = 0; i < words; ++i) expanded[i] = *weights++;
    const int8_t *image = input + c;
    int8_t *to = output;
    for (int32_t n = 0; n < w->batches; ++n, image += w->in_h * w->in_w * w->in_c) {
      int32_t top = 0;  // slot of the first row of the window
      ring.next = ring.slot = 0;
      for (int32_t y = 0; y < w->out_h; ++y, to += w->out_w * w->out_c) {
        const int32_t first = y * w->stride_h;
        if (ring.next < first) ring.next = first, ring.slot = top;
        while (ring.next < first + ring.rows) stage(w, image, &ring);
        for (int32_t ky = 0, slot = top; ky < w->kernel_h;
             ++ky, slot = wrapped(slot + w->dilation_h, ring.rows))
          work.rows[ky] = ring.words + slot * ring.columns;
        work.rows[w->kernel_h] = 0;
        top = wrapped(top + w->stride_h, ring.rows);
        for (int32_t i = 0; i < multiplier; ++i) {
          work.weights = expanded + i * taps;
          output_row(w, &work, to + i, channels + i, way);
        }
      }
    }
  }
}

void intarsia_thumb_depthwise_s8(const struct intarsia_window *w, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels) {
  depthwise(w, input, output, scratch, weights, channels, INTARSIA_WHOLE);
}

void intarsia_thumb_depthwise_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels) {
  depthwise(w, input, output, scratch, weights, channels, INTARSIA_LIMITED);
}

void intarsia_thumb_depthwise_any_s8(const struct intarsia_window *w, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *channels) {
  depthwise(w, input, output, scratch, weights, channels, INTARSIA_ANY);
}
