// Depthwise convolution with windows of any size on cores with the DSP extension, one channel and four outputs at a time.
//
// Two rows of the input are merged into halfword pairs once, with their padding, for a block of four channels, as in
// dsp_depthwise_3x3.c; scratch holds the pairs of rows that a row of outputs needs, as a ring. A row of pairs is stored
// column by column for each remainder of stride_w, so that neighbouring outputs are always neighbours in memory. A window
// is passes over such rows: `taps` weights (strip_w, 1, 3, 5 or 7) beside each other, where each weight and each column is
// loaded once for four outputs.
//
// Elements of int16 are the same pairs; what differs is how they are merged, and how sums become results.
//
// Weights are bytes; of layers whose weights need nine bits, pairs of halfwords (strip_h is 1).
//
// Dilated windows (stride 1) are plain ones on every dilation_h-th row and dilation_w-th column, from each of the first.
//
// Windows of a single row have nothing below it: there a pair is a column and the one `group` columns further, and a
// window is half as many pairs.
//
// Several results of a channel share what is merged: a block is four channels of the input, whose first results come first.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_merge.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum { kMostTogether = 1024 };  // words of weights of a block with several results of each channel

// How a window is taken apart; the same for all channels.
struct passes {
  int32_t lanes, multiplier;  // the latter of elements that are merged one by one
  int32_t results;            // of each channel of a block whose elements are merged once
  int32_t phases;             // a window begins on an even row of pairs, or on an odd one as well
  int32_t pairs;              // of rows that it covers
  int32_t segments;           // remainders of stride_w
  int32_t chunks, taps;
  int32_t columns;  // of a segment
  int32_t row_words, lane_words;
  struct intarsia_lanes elements;  // of the block that is computed
};

// Every dilation-th row and column from these on; the whole image where nothing is dilated.
struct grid {
  int32_t first_row, first_column, out_h, out_w;
};

// A row of outputs of a block of channels. The assembly has it on its stack, behind six words: start, multiplier, rounding,
// shift, output, row.
struct fir_row {
  int32_t low, high;
  int32_t row;  // bytes between outputs, and above 16 bits their number
  const struct intarsia_channel *channels;
  const uint32_t *weights;
  const uint32_t *columns;
  void *output;
  int32_t lanes;  // and above 16 bits the bytes from a lane's outputs to the next one's
  int32_t passes, lane_bytes;
  const int32_t *offsets;  // of the passes' columns, in bytes
  const uint32_t *group;   // of four outputs: only the assembly's
};

INTARSIA_INLINE struct passes passes_of(const struct intarsia_window *w) {
  struct passes p;
  p.lanes = w->out_c < kMergedLanes ? w->out_c : kMergedLanes;
  p.phases = w->stride_h % 2 == 0 ? 1 : 2;
  p.pairs = p.phases == 1 ? (w->kernel_h + 1) / 2 : w->kernel_h / 2 + 1;
  p.segments = w->stride_w < w->kernel_w ? w->stride_w : w->kernel_w;
  p.taps = w->strip_w;
  const int32_t widest = (w->kernel_w + p.segments - 1) / p.segments;
  p.chunks = (widest + p.taps - 1) / p.taps;
  const int32_t out_w = (w->out_w + w->dilation_w - 1) / w->dilation_w;
  p.columns = (out_w + 3) / 4 * 4 + p.chunks * p.taps - 1;
  p.row_words = p.segments * p.columns * kMergedLanes;
  p.lane_words = (p.pairs * p.segments * p.chunks * p.taps + 1) / 2 * 2;
  const int32_t multiplier = w->out_c / w->in_c;
  const bool together = w->in_c >= kMergedLanes &&
                        p.phases * multiplier * kMergedLanes * p.lane_words <= kMostTogether;
  p.results = together ? multiplier : 1;
  p.multiplier = together ? 1 : multiplier;
  return p;
}

// Columns of the block: two elements each, the second of which is a row or some columns behind the first.
INTARSIA_INLINE uint32_t *merge(const struct passes *p, uint32_t *to, const int8_t *above,
                                int32_t above_step, const int8_t *below, int32_t below_step,
                                int32_t columns, int32_t size) {
  if (p->lanes < kMergedLanes || p->multiplier != 1)
    intarsia_merge_lanes(to, above, above_step, below, below_step, columns, &p->elements, size);
  else if (size == 1)
    intarsia_merge_rows(to, above, above_step, below, below_step, columns);
  else
    intarsia_merge_halves(to, above, above_step, below, below_step, columns);
  return to + columns * kMergedLanes;
}

INTARSIA_OUTLINE uint32_t *merge_bytes(const struct passes *p, uint32_t *to, const int8_t *above,
                                       int32_t above_step, const int8_t *below, int32_t below_step,
                                       int32_t columns) {
  return merge(p, to, above, above_step, below, below_step, columns, 1);
}
INTARSIA_OUTLINE uint32_t *merge_halves(const struct passes *p, uint32_t *to, const int8_t *above,
                                        int32_t above_step, const int8_t *below, int32_t below_step,
                                        int32_t columns) {
  return merge(p, to, above, above_step, below, below_step, columns, 2);
}
typedef uint32_t *merge_function(const struct passes *p, uint32_t *to, const int8_t *above,
                                 int32_t above_step, const int8_t *below, int32_t below_step,
                                 int32_t columns);

INTARSIA_INLINE uint32_t *zero_columns(uint32_t *to, uint32_t zero, int32_t columns) {
  for (; columns > 0; --columns, to += kMergedLanes) intarsia_merge(to, zero, zero);
  return to;
}
INTARSIA_OUTLINE uint32_t *merge_zeros(uint32_t *to, uint32_t zero, int32_t columns) {
  return zero_columns(to, zero, columns);
}

// So many steps of `step` > 0 are needed to come from `from` < 0 to 0 or beyond.
INTARSIA_INLINE int32_t steps_to_zero(int32_t from, int32_t step) {
  return from >= -step ? 1 : (step - 1 - from) / step;
}

// A segment, of which a column and the one `second` columns further are a pair, from column `at` of the image on.
INTARSIA_INLINE void stage_beside(const struct intarsia_window *w, const struct passes *p,
                                  const int8_t *row, int32_t at, int32_t apart, uint32_t *to,
                                  const uint32_t *zeros, int32_t size, merge_function *merged) {
  const int32_t second = w->group, in_w = w->in_w, step = size * w->in_c;
  for (int32_t left = p->columns; left > 0;) {
    // So many pairs alike: padding, both inside, or a single one of which one column is.
    const int32_t next = at + second;
    const bool first_seen = at >= 0 && at < in_w, second_seen = next >= 0 && next < in_w;
    int32_t alike = 1;
    if (at >= in_w)
      alike = left;
    else if (next < 0)
      alike = steps_to_zero(next, apart);
    else if (first_seen && second_seen)
      alike = steps_to_zero(next - in_w, apart);
    if (alike > left) alike = left;
    left -= alike;
    if (first_seen || second_seen)
      to = merged(p, to, first_seen ? row + at * step : (const int8_t *)zeros,
                  first_seen ? apart * step : 0,
                  second_seen ? row + next * step : (const int8_t *)zeros,
                  second_seen ? apart * step : 0, alike);
    else
      to = merge_zeros(to, *zeros, alike);
    at += alike * apart;
  }
}

// One of the pairs that a row of outputs needs, of the block that begins with `channel`, of elements of `size` bytes.
INTARSIA_INLINE void stage(const struct intarsia_window *w, const struct passes *p,
                           const struct grid *grid, const int8_t *image, int32_t channel,
                           int32_t pair, uint32_t *to, int32_t size, merge_function *merged) {
  const uint32_t zero = ((uint32_t)w->in_zero & 0xffu) * 0x01010101u;
  const uint32_t zeros[2] = {zero, zero};  // four elements: those of int16 have none
  const int32_t step = size * w->in_c, in_w = w->in_w, segment_words = p->columns * kMergedLanes;
  image += size * (channel / p->multiplier);
  if (w->group > 0) {  // a pair is of columns, not of rows
    const int32_t unit = 2 * w->group;
    const int8_t *row = image + (grid->first_row + pair) * in_w * step;
    for (int32_t segment = 0; segment < p->segments; ++segment, to += segment_words)
      stage_beside(w, p, row, grid->first_column + segment * unit, w->stride_w * unit, to, zeros,
                   size, merged);
    return;
  }
  const int32_t y = grid->first_row + 2 * pair * w->dilation_h;
  const bool upper_inside = y >= 0 && y < w->in_h,
             lower_inside = y + w->dilation_h >= 0 && y + w->dilation_h < w->in_h;
  const int8_t *upper = image + y * in_w * step, *lower = upper + w->dilation_h * in_w * step;
  // Between columns of a segment: dilation and stride are not both more than 1.
  const int32_t apart = w->stride_w * w->dilation_w;
  for (int32_t segment = 0; segment < p->segments; ++segment) {
    const int32_t first = grid->first_column + segment;
    int32_t before = first < 0 ? steps_to_zero(first, apart) : 0;
    int32_t inside = first < in_w ? steps_to_zero(first - in_w, apart) : 0;  // and before
    if (inside > p->columns) inside = p->columns;
    if (before > p->columns) before = p->columns;
    to = zero_columns(to, zero, before);
    if (before < inside) {
      const int32_t at = (first + before * apart) * step;
      to =
          merged(p, to, upper_inside ? upper + at : (const int8_t *)zeros,
                 upper_inside ? apart * step : 0, lower_inside ? lower + at : (const int8_t *)zeros,
                 lower_inside ? apart * step : 0, inside - before);
      before = inside;
    }
    to = zero_columns(to, zero, p->columns - before);
  }
}
INTARSIA_OUTLINE void stage_bytes(const struct intarsia_window *w, const struct passes *p,
                                  const struct grid *grid, const int8_t *image, int32_t channel,
                                  int32_t pair, uint32_t *to) {
  stage(w, p, grid, image, channel, pair, to, 1, merge_bytes);
}
INTARSIA_OUTLINE void stage_halves(const struct intarsia_window *w, const struct passes *p,
                                   const struct grid *grid, const int8_t *image, int32_t channel,
                                   int32_t pair, uint32_t *to) {
  stage(w, p, grid, image, channel, pair, to, 2, merge_halves);
}

// Weights as bytes to pairs of halfwords, or pairs as they are, doubled where sums are to be. Returns the next block's.
INTARSIA_OUTLINE const int8_t *expand_weights(uint32_t *to, const int8_t *from, int32_t words,
                                              bool halfwords, bool doubled) {
  for (; words > 0; words -= 2, from += 4, to += 2) {
    const uint32_t word = intarsia_load_word(from);
    if (halfwords) {
      from += 4;
      to[0] = word;
      to[1] = intarsia_load_word(from);
    } else {
      to[0] = intarsia_even_pair(word);
      to[1] = intarsia_odd_pair(word);
    }
    // The sign of the lower half does not reach the upper one.
    if (doubled) to[0] = to[0] << 1 & 0xfffeffffu, to[1] = to[1] << 1 & 0xfffeffffu;
  }
  return from;
}

// Sums of int8 are doubled, but in INTARSIA_ANY.
INTARSIA_INLINE void row_of_outputs(const struct fir_row *row, int32_t taps, enum intarsia_way way,
                                    int32_t size) {
  const bool doubled = way != INTARSIA_ANY && size == 1;
  const int32_t step = row->row & 0xffff;
  for (int32_t lane = 0; lane < (row->lanes & 0xffff); ++lane) {
    const struct intarsia_channel *channel = &row->channels[lane];
    int8_t *output = (int8_t *)row->output + (row->lanes >> 16) * lane;
    for (int32_t x = 0; x < row->row >> 16; ++x, output += step) {
      int32_t sum = doubled ? 2 * channel->bias : channel->bias;
      const uint32_t *weight = row->weights + row->lane_bytes / 4 * lane;
      for (int32_t pass = 0; pass < row->passes; ++pass) {
        const uint32_t *column =
            row->columns + lane + (row->offsets[pass] - 3 * 16) / 4 + kMergedLanes * x;
        for (int32_t tap = 0; tap < taps; ++tap, column += kMergedLanes)
          sum = intarsia_pair_product(*column, *weight++, sum);
      }
      if (size == 1)
        *output = intarsia_result(doubled ? sum / 2 : sum, channel, row->low, row->high, way);
      else
        *(int16_t *)(void *)output =
            (int16_t)intarsia_half_result(sum, channel, row->low, row->high);
    }
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// clang-format off
// Sums r8-r11, columns r2-r5, a weight r6. Weights r7, columns r0, offsets r1, passes left lr, the group's columns r12.
#define INTARSIA_TAP(load, a, b, c) \
  "ldr.w r6, [r7], #4\n" \
  "ldr.w " #load ", [r0], #16\n" \
  "smlad r8, " #a ", r6, r8\n" \
  "smlad r9, " #b ", r6, r9\n" \
  "smlad r10, " #c ", r6, r10\n" \
  "smlad r11, " #load ", r6, r11\n"
#define INTARSIA_TAPS_1 INTARSIA_TAP(r5, r2, r3, r4)
#define INTARSIA_TAPS_3 INTARSIA_TAPS_1 INTARSIA_TAP(r2, r3, r4, r5) INTARSIA_TAP(r3, r4, r5, r2)
#define INTARSIA_TAPS_5 INTARSIA_TAPS_3 INTARSIA_TAP(r4, r5, r2, r3) INTARSIA_TAP(r5, r2, r3, r4)
#define INTARSIA_TAPS_7 INTARSIA_TAPS_5 INTARSIA_TAP(r2, r3, r4, r5) INTARSIA_TAP(r3, r4, r5, r2)

#define INTARSIA_FIR_RECTIFIED(sum) \
  "smmlar " #sum ", " #sum ", r0, r1\n" \
  "asr.w " #sum ", " #sum ", r2\n"
#define INTARSIA_FIR_WHOLE(sum) \
  "add.w r5, r1, " #sum ", asr #31\n" \
  "smmlar " #sum ", " #sum ", r0, r5\n" \
  "asr.w " #sum ", " #sum ", r2\n"
#define INTARSIA_FIR_LIMITS "ldr.w r6, [sp, #24]\nldr.w r7, [sp, #28]\n"
#define INTARSIA_FIR_CLAMP(sum) \
  "cmp.w " #sum ", r6\n" \
  "it lt\n" \
  "movlt.w " #sum ", r6\n" \
  "cmp.w " #sum ", r7\n" \
  "it gt\n" \
  "movgt.w " #sum ", r7\n"
#define INTARSIA_FIR_NOTHING(sum)
#define INTARSIA_FIR_STORE(sum) \
  "ssat " #sum ", #8, " #sum "\n" \
  "strb.w " #sum ", [r3]\n" \
  "uxtah r3, r3, r4\n"

// Of int16, from sums that are not doubled; those with limits are no larger.
#define INTARSIA_FIR_HALF(sum) \
  "smmla " #sum ", " #sum ", r0, r1\n" \
  "asr.w " #sum ", " #sum ", r2\n"
#define INTARSIA_FIR_STORE_LIMITED_HALF(sum) \
  "strh.w " #sum ", [r3]\n" \
  "uxtah r3, r3, r4\n"
#define INTARSIA_FIR_STORE_HALF(sum) \
  "ssat " #sum ", #16, " #sum "\n" \
  INTARSIA_FIR_STORE_LIMITED_HALF(sum)
#define INTARSIA_FIR_STORE_RECTIFIED_HALF(sum) \
  "usat " #sum ", #15, " #sum "\n" \
  INTARSIA_FIR_STORE_LIMITED_HALF(sum)
#define INTARSIA_FIR_DOUBLED_START "add.w r8, r8, r8\n"

#define INTARSIA_FIR_ROW(taps, scale, limits, clamp, start, store) \
  register const struct fir_row *end __asm__("r0") = row + 1; \
  __asm__ volatile( \
      INTARSIA_SAVE_R7 \
      "ldmdb r0!, {r1, r2, r3, r4, r5, r6}\n" \
      "push {r1, r2, r3, r4, r5, r6}\n" \
      "ldmdb r0!, {r1, r2, r3, r4, r5, r6}\n" \
      "push {r1, r2, r3, r4, r5, r6}\n" \
      "sub.w sp, sp, #24\n" \
      "1: ldr.w r0, [sp, #36]\n" \
      "ldr.w r1, [sp, #44]\n" \
      "ldr.w r2, [sp, #48]\n" \
      "ldr.w r3, [sp, #32]\n" \
      "ldm.w r0!, {r8, r9, r10, r11}\n" \
      start \
      "stm.w sp, {r8, r9, r10, r11}\n" \
      "ldr.w r6, [sp, #52]\n" \
      "add.w r4, r1, #4\n" \
      "add.w r5, r2, r6, lsr #16\n" \
      "str.w r0, [sp, #36]\n" \
      "str.w r4, [sp, #44]\n" \
      "str.w r5, [sp, #48]\n" \
      "str.w r2, [sp, #16]\n" \
      "str.w r3, [sp, #20]\n" \
      "str.w r1, [sp, #68]\n" \
      "2: ldr.w r8, [sp]\n" \
      "ldr.w r12, [sp, #68]\n" \
      "ldr.w r1, [sp, #64]\n" \
      "ldr.w r7, [sp, #40]\n" \
      "ldr.w lr, [sp, #56]\n" \
      "mov.w r9, r8\n" \
      "mov.w r10, r8\n" \
      "mov.w r11, r8\n" \
      ".balign 4\n" \
      "3: ldr.w r0, [r1], #4\n" \
      "add.w r0, r0, r12\n" \
      "subs.w lr, lr, #1\n" \
      "ldr r2, [r0, #-48]\n" \
      "ldr r3, [r0, #-32]\n" \
      "ldr r4, [r0, #-16]\n" \
      INTARSIA_TAPS_##taps \
      "bne.w 3b\n" \
      "add.w r12, r12, #64\n" \
      "ldr.w r0, [sp, #4]\n" \
      "ldr.w r1, [sp, #8]\n" \
      "ldr.w r2, [sp, #12]\n" \
      "ldr.w r3, [sp, #16]\n" \
      "ldr.w r4, [sp, #20]\n" \
      limits \
      "str.w r12, [sp, #68]\n" \
      scale(r8) scale(r9) scale(r10) scale(r11) \
      clamp(r8) clamp(r9) clamp(r10) clamp(r11) \
      "cmp.w r4, #0x40000\n" \
      "blo.w 4f\n" \
      store(r8) store(r9) store(r10) store(r11) \
      "sub.w r4, r4, #0x40000\n" \
      "cmp.w r4, #0x10000\n" \
      "str.w r3, [sp, #16]\n" \
      "str.w r4, [sp, #20]\n" \
      "bhs.w 2b\n" \
      "b.w 5f\n" \
      "4:\n" store(r8) \
      "cmp.w r4, #0x20000\n" \
      "blo.w 5f\n" \
      store(r9) \
      "cmp.w r4, #0x30000\n" \
      "blo.w 5f\n" \
      store(r10) \
      "5: ldr.w r0, [sp, #40]\n" \
      "ldr.w r1, [sp, #60]\n" \
      "ldr.w r2, [sp, #52]\n" \
      "add.w r0, r0, r1\n" \
      "sub.w r2, r2, #1\n" \
      "str.w r0, [sp, #40]\n" \
      "str.w r2, [sp, #52]\n" \
      "lsls.w r2, r2, #16\n" \
      "bne.w 1b\n" \
      "add.w sp, sp, #72\n" \
      INTARSIA_RESTORE_R7 \
      : "+r"(end) \
      : \
      : "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
// clang-format on
#define INTARSIA_FIR(suffix, taps, way, scale, limits, clamp)                                     \
  INTARSIA_OUTLINE void row_##suffix##_##taps##_pushes_76(const struct fir_row *row) {            \
    INTARSIA_FIR_ROW(taps, scale, limits, clamp, INTARSIA_FIR_DOUBLED_START, INTARSIA_FIR_STORE); \
  }
#define INTARSIA_HALF_FIR(suffix, taps, limits, clamp, store)                          \
  INTARSIA_OUTLINE void row_##suffix##_##taps##_pushes_76(const struct fir_row *row) { \
    INTARSIA_FIR_ROW(taps, INTARSIA_FIR_HALF, limits, clamp, , store);                 \
  }
#else
#define INTARSIA_FIR(suffix, taps, way, scale, limits, clamp)                          \
  INTARSIA_OUTLINE void row_##suffix##_##taps##_pushes_76(const struct fir_row *row) { \
    row_of_outputs(row, taps, way, 1);                                                 \
  }
#define INTARSIA_HALF_FIR(suffix, taps, limits, clamp, store)                          \
  INTARSIA_OUTLINE void row_##suffix##_##taps##_pushes_76(const struct fir_row *row) { \
    row_of_outputs(row, taps, INTARSIA_WHOLE, 2);                                      \
  }
#endif

typedef void row_function(const struct fir_row *row, int32_t taps);

// Offsets of the passes over a window whose first pair of rows is in this slot.
INTARSIA_OUTLINE void list_passes(const struct passes *p, int32_t slot, int32_t *offsets) {
  const int32_t column = 4 * kMergedLanes, chunk = p->taps * column, segment = p->columns * column,
                row = p->segments * segment;
  int32_t from = slot * row + 3 * column;
  for (int32_t pair = p->pairs; pair > 0; --pair) {
    int32_t segment_from = from;
    for (int32_t segments = p->segments; segments > 0; --segments, segment_from += segment) {
      int32_t at = segment_from;
      for (int32_t chunks = p->chunks; chunks > 0; --chunks, at += chunk) *offsets++ = at;
    }
    from += row;
    if (++slot == p->pairs) slot = 0, from = 3 * column;
  }
}

// One grid of outputs of a block of channels.
INTARSIA_INLINE void block(const struct intarsia_window *w, const struct passes *p,
                           const struct grid *grid, const int8_t *image, int32_t channel,
                           uint32_t *ring, const uint32_t *weights,
                           const struct intarsia_channel *channels, int8_t *output,
                           struct fir_row *row, row_function *outputs, int32_t size) {
  int32_t *offsets = (int32_t *)(void *)(ring + p->pairs * p->row_words);
  int32_t staged = 0, listed = -1;
  row->offsets = offsets;
  row->row = (int32_t)((uint32_t)grid->out_w << 16 | (uint32_t)(size * w->dilation_w * w->out_c));
  row->columns = ring;
  row->passes = p->pairs * p->segments * p->chunks;
  for (int32_t y = 0; y < grid->out_h; ++y, output += size * w->dilation_h * w->out_w * w->out_c) {
    const int32_t first_row = y * w->stride_h, first_pair = first_row / 2;
    if (staged < first_pair) staged = first_pair;
    for (; staged < first_pair + p->pairs; ++staged) {
      uint32_t *to = ring + staged % p->pairs * p->row_words;
      if (size == 1)
        stage_bytes(w, p, grid, image, channel, staged, to);
      else
        stage_halves(w, p, grid, image, channel, staged, to);
    }
    const int32_t slot = first_pair % p->pairs;
    if (slot != listed) list_passes(p, slot, offsets);
    listed = slot;
    row->weights = weights + first_row % 2 * p->results * p->lanes * p->lane_words;
    row->channels = channels;
    for (int32_t result = 0; result < p->results; ++result) {
      row->output = output + size * result;
      outputs(row, p->taps);
      row->weights += p->lanes * p->lane_words, row->channels += p->lanes;
    }
  }
}

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                               row_function *outputs, bool doubled, int32_t size) {
  struct passes p = passes_of(w);
  const int32_t weight_words = p.phases * p.results * p.lanes * p.lane_words;
  uint32_t *expanded = (uint32_t *)(void *)scratch, *ring = expanded + weight_words;
  struct fir_row row;
  row.low = w->low, row.high = w->high;
  row.lanes = size * p.results << 16 | p.lanes, row.lane_bytes = 4 * p.lane_words;
  const int32_t count = w->out_c / p.results;
  const struct intarsia_channel *table = (const struct intarsia_channel *)channel_words;
  for (int32_t next = 0; next < count; next += kMergedLanes) {
    const int32_t channel = next + p.lanes <= count ? next : count - p.lanes;
    // Of several results each block has its own.
    const struct intarsia_channel *own = table + (p.results > 1 ? next * p.results : channel);
    p.elements = intarsia_lanes_from(channel, p.lanes, p.multiplier, size);
    weights = expand_weights(expanded, weights, weight_words, w->strip_h != 0, doubled);
    const int8_t *image = input;
    int8_t *to = output + size * p.results * channel;
    for (int32_t n = 0; n < w->batches; ++n) {
      for (int32_t y = 0; y < w->dilation_h; ++y)
        for (int32_t x = 0; x < w->dilation_w; ++x) {
          const struct grid grid = {y - w->pad_top, x - w->pad_left,
                                    (w->out_h - y + w->dilation_h - 1) / w->dilation_h,
                                    (w->out_w - x + w->dilation_w - 1) / w->dilation_w};
          if (grid.out_w > 0)
            block(w, &p, &grid, image, channel, ring, expanded, own,
                  to + size * (y * w->out_w + x) * w->out_c, &row, outputs, size);
        }
      image += size * w->in_h * w->in_w * w->in_c;
      to += size * w->out_h * w->out_w * w->out_c;
    }
  }
}

#define INTARSIA_BY_TAPS(suffix)                                                \
  INTARSIA_OUTLINE void row_##suffix(const struct fir_row *row, int32_t taps) { \
    if (taps == 1)                                                              \
      row_##suffix##_1_pushes_76(row);                                          \
    else if (taps == 3)                                                         \
      row_##suffix##_3_pushes_76(row);                                          \
    else if (taps == 5)                                                         \
      row_##suffix##_5_pushes_76(row);                                          \
    else                                                                        \
      row_##suffix##_7_pushes_76(row);                                          \
  }
#define INTARSIA_KERNEL(name, suffix, way, scale, limits, clamp)                         \
  INTARSIA_FIR(suffix, 1, way, scale, limits, clamp)                                     \
  INTARSIA_FIR(suffix, 3, way, scale, limits, clamp)                                     \
  INTARSIA_FIR(suffix, 5, way, scale, limits, clamp)                                     \
  INTARSIA_FIR(suffix, 7, way, scale, limits, clamp)                                     \
  INTARSIA_BY_TAPS(suffix)                                                               \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output,   \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {           \
    depthwise(window, input, output, scratch, weights, channels, row_##suffix, true, 1); \
  }
#define INTARSIA_HALF_KERNEL(name, suffix, limits, clamp, store)                           \
  INTARSIA_HALF_FIR(suffix, 1, limits, clamp, store)                                       \
  INTARSIA_HALF_FIR(suffix, 3, limits, clamp, store)                                       \
  INTARSIA_HALF_FIR(suffix, 5, limits, clamp, store)                                       \
  INTARSIA_HALF_FIR(suffix, 7, limits, clamp, store)                                       \
  INTARSIA_BY_TAPS(suffix)                                                                 \
  void name(const struct intarsia_window *window, const int16_t *input, int16_t *output,   \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {             \
    depthwise(window, (const int8_t *)input, (int8_t *)output, scratch, weights, channels, \
              row_##suffix, false, 2);                                                     \
  }

INTARSIA_KERNEL(intarsia_dsp_depthwise_s8, whole, INTARSIA_WHOLE, INTARSIA_FIR_WHOLE, ,
                INTARSIA_FIR_NOTHING)
INTARSIA_KERNEL(intarsia_dsp_depthwise_rectified_s8, rectified, INTARSIA_RECTIFIED,
                INTARSIA_FIR_RECTIFIED, , INTARSIA_FIR_NOTHING)
INTARSIA_KERNEL(intarsia_dsp_depthwise_limited_s8, limited, INTARSIA_LIMITED, INTARSIA_FIR_WHOLE,
                INTARSIA_FIR_LIMITS, INTARSIA_FIR_CLAMP)

INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_s16, halves, , INTARSIA_FIR_NOTHING,
                     INTARSIA_FIR_STORE_HALF)
INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_rectified_s16, rectified_halves, , INTARSIA_FIR_NOTHING,
                     INTARSIA_FIR_STORE_RECTIFIED_HALF)
INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_limited_s16, limited_halves, INTARSIA_FIR_LIMITS,
                     INTARSIA_FIR_CLAMP, INTARSIA_FIR_STORE_LIMITED_HALF)

INTARSIA_OUTLINE void row_any(const struct fir_row *row, int32_t taps) {
  row_of_outputs(row, taps, INTARSIA_ANY, 1);
}

void intarsia_dsp_depthwise_any_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels) {
  depthwise(window, input, output, scratch, weights, channels, row_any, false, 1);
}
