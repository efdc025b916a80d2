// Depthwise convolution on cores that multiply single elements, channel by channel: the rows of one channel
// that a row of outputs sees are words in scratch, with their padding, as a ring. Four neighbouring
// outputs share each weight. Where a product is one of 32 bits, the upper half of a word is the element that the output
// after the next sees (thumb_pairs.h): two products serve the four.
#include "intarsia/targets/cortex_m/thumb_depthwise.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/thumb_results.h"

enum { kOutputs = 4, kMostRows = 15, kWord = 4, kHalf = 16, kPaired = !INTARSIA_HAS_THUMB2 };

// What the assembly of four outputs works on. x: of the first output in each row of the window.
struct four_outputs {
  const int32_t *rows[kMostRows + 1];  // and a null
  const int32_t *weights;
  int32_t sums[kOutputs];
  int32_t kernel_w, stride, dilation;  // the last two in bytes
  int32_t kernel_h;
  bool twos_fit;  // the products of two neighbours in a row of the window add up in 16 bits
};

#if !INTARSIA_HAS_THUMB1
INTARSIA_INLINE const int32_t *further(const int32_t *word, int32_t bytes) {
  return (const int32_t *)(const void *)((const char *)word + bytes);
}
#endif

#if INTARSIA_HAS_THUMB1
// Rows r0, weights r1, the window in a row r2, a weight r3; products of outputs 0 and 2 r4, of 1 and 3 r5. What adds up where:
// thumb_pairs.h. lr: the window's place in the rows.
#define INTARSIA_PRODUCTS(at, at1) \
  "ldmia r1!, {r3}\n"              \
  "ldr r4, [r2, #" at              \
  "]\n"                            \
  "muls r4, r3, r4\n"              \
  "ldr r5, [r2, #" at1             \
  "]\n"                            \
  "muls r5, r3, r5\n"
#define INTARSIA_BEGIN "mov r8, r4\nmov r9, r5\n"
#define INTARSIA_JOIN "add r4, r4, r8\nadd r5, r5, r9\n"
#define INTARSIA_END   \
  "add r10, r10, r4\n" \
  "asrs r4, r4, #16\n" \
  "adcs r6, r6, r4\n"  \
  "add r11, r11, r5\n" \
  "asrs r5, r5, #16\n" \
  "adcs r7, r7, r5\n"
// All rows by `taps`; before them `numbers` may fetch more from where r3 points.
#define INTARSIA_FOUR(numbers, taps)             \
  register void *at __asm__("r0") = work;        \
  register int32_t place __asm__("r1") = offset; \
  __asm__ volatile(                                                                             \
      ".syntax unified\n" INTARSIA_SAVE_R7 INTARSIA_SAVE_HIGH("r4", "r5", "r6", "r7")           \
      "mov lr, r1\n"                                                                            \
      "mov r3, r0\n"                                                                            \
      "adds r3, #64\n"                                                                          \
      "ldmia r3!, {r1, r4, r5, r6, r7}\n"                                                       \
      "push {r3}\n"                                                                             \
      "lsls r2, r6, #16\n"                                                                      \
      "adds r4, r4, r2\n"                                                                       \
      "mov r10, r4\n"                                                                           \
      "lsls r2, r7, #16\n"                                                                      \
      "adds r5, r5, r2\n"                                                                       \
      "mov r11, r5\n" numbers                                                                   \
      "b 2f\n"                                                                                  \
      "1: add r2, r2, lr\n" taps                                                                \
      "2: ldmia r0!, {r2}\n"                                                                    \
      "cmp r2, #0\n"                                                                            \
      "bne 1b\n"                                                                                \
      "pop {r3}\n"                                                                              \
      "subs r3, r3, #16\n"                                                                      \
      "lsls r2, r6, #16\n"                                                                      \
      "mov r4, r10\n"                                                                           \
      "subs r4, r4, r2\n"                                                                       \
      "lsls r2, r7, #16\n"                                                                      \
      "mov r5, r11\n"                                                                           \
      "subs r5, r5, r2\n"                                                                       \
      "stmia r3!, {r4, r5, r6, r7}\n" INTARSIA_RESTORE_HIGH("r4", "r5", "r6", "r7")             \
      INTARSIA_RESTORE_R7                                                                       \
      : "+l"(at), "+l"(place)                                                                   \
      :                                                                                         \
      : "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "lr", "cc", "memory")

INTARSIA_OUTLINE void rows_of_three_pushes_24(struct four_outputs *work, int32_t offset) {
  INTARSIA_FOUR("", INTARSIA_PRODUCTS("0", "4") INTARSIA_BEGIN INTARSIA_PRODUCTS("4", "8")
                        INTARSIA_JOIN INTARSIA_END INTARSIA_PRODUCTS("8", "12") INTARSIA_END);
}
INTARSIA_OUTLINE void rows_of_three_by_two_pushes_24(struct four_outputs *work, int32_t offset) {
  INTARSIA_FOUR("", INTARSIA_PRODUCTS("0", "8") INTARSIA_BEGIN INTARSIA_PRODUCTS("4", "12")
                        INTARSIA_JOIN INTARSIA_END INTARSIA_PRODUCTS("8", "16") INTARSIA_END);
}
// Tap by tap, whatever the shape and the weights: columns r9, stride r12, dilation r8; the columns that are left on the stack.
INTARSIA_OUTLINE void rows_of_taps_pushes_28(struct four_outputs *work, int32_t offset) {
  INTARSIA_FOUR(
      "ldmia r3!, {r2, r4, r5}\n"
      "mov r9, r2\n"
      "mov r12, r4\n"
      "mov r8, r5\n",
      "mov r4, r9\n"
      "3: push {r4}\n"
      "ldmia r1!, {r3}\n"
      "ldr r4, [r2]\n"
      "muls r4, r3, r4\n"
      "mov r5, r12\n"
      "ldr r5, [r2, r5]\n"
      "muls r5, r3, r5\n" INTARSIA_END
      "add r2, r2, r8\n"
      "pop {r4}\n"
      "subs r4, r4, #1\n"
      "bne 3b\n");
}
#undef INTARSIA_FOUR
#undef INTARSIA_END
#undef INTARSIA_JOIN
#undef INTARSIA_BEGIN
#undef INTARSIA_PRODUCTS
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

#if INTARSIA_HAS_THUMB2
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
  if (work->kernel_w == 3 && work->dilation == kWord && work->stride == kWord) {
    rows_of_three_thumb2_pushes_8(work, offset);
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
#else
// The same, by pairs.
INTARSIA_INLINE void four_outputs(struct four_outputs *work, int32_t offset) {
#if INTARSIA_HAS_THUMB1
  const bool unrolled = work->kernel_w == 3 && work->dilation == kWord && work->twos_fit;
  if (unrolled && work->stride == kWord)
    rows_of_three_pushes_24(work, offset);
  else if (unrolled && work->stride == 2 * kWord)
    rows_of_three_by_two_pushes_24(work, offset);
  else
    rows_of_taps_pushes_28(work, offset);
#else
  const int32_t *weights = work->weights;
  for (int32_t ky = 0; ky < work->kernel_h; ++ky) {
    const int32_t *x = further(work->rows[ky], offset);
    int32_t both[2] = {0, 0};
    for (int32_t kx = work->kernel_w; kx > 0; --kx, x = further(x, work->dilation)) {
      const int32_t weight = *weights++;
      both[0] += *x * weight;
      both[1] += *further(x, work->stride) * weight;
      if (work->twos_fit && (work->kernel_w - kx) % 2 == 0 && kx > 1) continue;
      for (int32_t pair = 0; pair < 2; ++pair) {
        const int32_t upper = (both[pair] + (1 << (kHalf - 1))) >> kHalf;
        work->sums[pair] += both[pair] - upper * (1 << kHalf);
        work->sums[pair + 2] += upper;
        both[pair] = 0;
      }
    }
  }
#endif
}
#endif

struct ring {
  int32_t *words;
  int32_t rows;     // slots
  int32_t columns;  // of the padded input that outputs see
  int32_t before;   // columns in front of a row, whatever they hold: between two of a pair
  int32_t next;     // row of the padded input to fill
  int32_t slot;     // where to
};

INTARSIA_INLINE int32_t wrapped(int32_t slot, int32_t slots) {
  while (slot >= slots) slot -= slots;
  return slot;
}

// The upper half of a word is the element `before` columns further, which goes there when it comes.
INTARSIA_INLINE int32_t *put(int32_t *to, int32_t element, int32_t before) {
  *to = element;
  if (kPaired) to[-before] = (int32_t)((uint32_t)to[-before] + ((uint32_t)element << kHalf));
  return to + 1;
}

// Fills the next row from the channel that `image` begins with.
INTARSIA_OUTLINE void stage(const struct intarsia_window *w, const int8_t *image,
                            struct ring *ring) {
  const int32_t before = ring->before;
  int32_t *to = ring->words + ring->slot * (ring->columns + before) + before,
          *end = to + ring->columns;
  const int32_t y = ring->next++ - w->pad_top, zero = w->in_zero;
  // Where rows and columns have changed places, in_h is what a row of the image in memory has.
  const int32_t step = w->transposed != 0 ? w->in_h * w->in_c : w->in_c,
                pitch = w->transposed != 0 ? w->in_c : w->in_w * w->in_c;
  ring->slot = wrapped(ring->slot + 1, ring->rows);
  if (y >= 0 && y < w->in_h) {
    const int8_t *from = image + y * pitch;
    for (int32_t column = w->pad_left; column > 0; --column) to = put(to, zero, before);
    const int32_t inside = end - to < w->in_w ? (int32_t)(end - to) : w->in_w;
    for (const int32_t *last = to + inside; to != last; from += step) to = put(to, *from, before);
  }
  while (to != end) to = put(to, zero, before);
}

// `sums` has room for the row, filled up to fours.
INTARSIA_INLINE void output_row(const struct intarsia_window *w, struct four_outputs *work,
                                int32_t *sums, int8_t *output,
                                const struct intarsia_channel *channel, enum intarsia_way way) {
  const int32_t bias = channel->bias, step = w->transposed != 0 ? w->out_h * w->out_c : w->out_c;
  struct intarsia_results results = {sums, channel, output, w->out_w, 0, step, w->low, w->high};
  work->twos_fit = channel->shift >> 8 != 0;
#if !INTARSIA_HAS_THUMB1
  struct intarsia_channel plain = *channel;  // once a row, not at each result
  plain.shift = (int8_t)plain.shift;
  results.channel = &plain;
#endif
  int32_t offset = 0;
  for (int32_t left = w->out_w; left > 0; left -= kOutputs, offset += kOutputs * work->stride) {
    work->sums[0] = work->sums[1] = work->sums[2] = work->sums[3] = bias;
    four_outputs(work, offset);
    for (int32_t i = 0; i < kOutputs; ++i) *sums++ = work->sums[i];
  }
#if INTARSIA_HAS_THUMB1
  intarsia_results_of_one(&results, channel, way);
#else
  intarsia_results(&results, way);
#endif
}

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                               enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t taps = w->kernel_h * w->kernel_w, multiplier = w->out_c / w->in_c,
                words = taps * multiplier;
  const int32_t outputs = (w->out_w + kOutputs - 1) / kOutputs * kOutputs;
  int32_t *sums = (int32_t *)(void *)scratch, *expanded = sums + outputs;
  struct four_outputs work = {.kernel_h = w->kernel_h,
                              .kernel_w = w->kernel_w,
                              .stride = w->stride_w * kWord,
                              .dilation = w->dilation_w * kWord};
  struct ring ring = {
      .words = expanded + words,
      .rows = (w->kernel_h - 1) * w->dilation_h + 1,
      .columns = (outputs - 1) * w->stride_w + (w->kernel_w - 1) * w->dilation_w + 1,
      .before = kPaired ? 2 * w->stride_w : 0};
  const int32_t results = w->out_h * w->out_w * w->out_c,
                row = w->transposed != 0 ? w->out_c : w->out_w * w->out_c;
  for (int32_t c = 0; c < w->in_c; ++c, channels += multiplier, output += multiplier) {
    for (int32_t i = 0; i < words; ++i) expanded[i] = *weights++;
    const int8_t *image = input + c;
    for (int32_t n = 0; n < w->batches; ++n, image += w->in_h * w->in_w * w->in_c) {
      int8_t *to = output + n * results;
      int32_t top = 0;  // slot of the first row of the window
      ring.next = ring.slot = 0;
      for (int32_t y = 0; y < w->out_h; ++y, to += row) {
        const int32_t first = y * w->stride_h;
        if (ring.next < first) ring.next = first, ring.slot = top;
        while (ring.next < first + ring.rows) stage(w, image, &ring);
        for (int32_t ky = 0, slot = top; ky < w->kernel_h;
             ++ky, slot = wrapped(slot + w->dilation_h, ring.rows))
          work.rows[ky] = ring.words + slot * (ring.columns + ring.before) + ring.before;
        work.rows[w->kernel_h] = 0;
        top = wrapped(top + w->stride_h, ring.rows);
        for (int32_t i = 0; i < multiplier; ++i) {
          work.weights = expanded + i * taps;
          output_row(w, &work, sums, to + i, channels + i, way);
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
