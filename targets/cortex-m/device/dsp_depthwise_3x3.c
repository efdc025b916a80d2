// Depthwise convolution with windows of three columns on cores with the DSP extension, one channel and four outputs at a
// time.
//
// SMLAD wants two inputs of one channel in a word; in memory neighbours are of different channels. Two rows of the input
// are merged into such words once, with their padding, for a block of four channels; scratch holds as many pairs of rows
// as the compiler found room for (strip_h), as a ring. The six pairs of weights of a channel stay in registers for all
// rows of outputs that begin alike, on an even row of the padded input or on an odd one. Rows may be columns of the image
// (transposed).
//
// Elements of int16 are the same pairs; what differs is how they are merged, and how sums become results.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_merge.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum { kLaneWeights = 12 };  // bytes of a channel's six pairs of weights

// Pairs of rows of a block of channels in scratch.
struct ring {
  uint32_t *words;
  int32_t slots, row_words, columns;
  int32_t step, pitch;             // elements between columns and between rows of the image
  int32_t staged;                  // pairs so far
  struct intarsia_lanes elements;  // of the block that is computed, where outputs share them
};

// Rows of outputs that begin on an even row of the padded input, or on an odd one, of a block. The assembly has it on
// its stack.
struct block_rows {
  int32_t low, high;
  int32_t
      row;  // bytes from an output to the next, then the number of outputs: two bits of a rest, the others of fours less one
  int32_t rows_left;
  int32_t to_next_columns, to_next_outputs;  // bytes from the end of a row
  const struct intarsia_channel *channels;
  const int8_t *weights;
  const uint32_t *upper, *lower;  // pairs of rows
  void *output;
  int32_t rows, lanes;
};

enum { kRestShift = 16, kFoursShift = 18 };

// Merges the next pair of rows of the channels that `image` begins with, elements of `size` bytes.
INTARSIA_INLINE void stage(const struct intarsia_window *w, const void *image, struct ring *ring,
                           int32_t size, bool multiplied) {
  uint32_t zeros[2];  // four elements
  zeros[0] = size == 1 ? ((uint32_t)w->in_zero & 0xffu) * 0x01010101u : 0u;
  if (size != 1) zeros[1] = 0;
  uint32_t *to =
      ring->words + ring->staged % ring->slots * ring->row_words + w->pad_left * kMergedLanes;
  const int32_t y = 2 * ring->staged++ - w->pad_top;
  const bool upper_inside = y >= 0 && y < w->in_h, lower_inside = y + 1 >= 0 && y + 1 < w->in_h;
  const int32_t step = size * ring->step, pitch = size * ring->pitch;
  const int32_t inside = ring->columns - w->pad_left;
  const int8_t *first = (const int8_t *)image;
  const int8_t *upper = upper_inside ? first + y * pitch : (const int8_t *)zeros;
  const int8_t *lower = lower_inside ? first + (y + 1) * pitch : (const int8_t *)zeros;
  const int32_t columns = inside < w->in_w ? inside : w->in_w;
  if (multiplied)
    intarsia_merge_lanes(to, upper, upper_inside ? step : 0, lower, lower_inside ? step : 0,
                         columns, &ring->elements, size);
  else if (size == 1)
    intarsia_merge_rows(to, upper, upper_inside ? step : 0, lower, lower_inside ? step : 0,
                        columns);
  else
    intarsia_merge_halves(to, upper, upper_inside ? step : 0, lower, lower_inside ? step : 0,
                          columns);
}
INTARSIA_OUTLINE void stage_bytes(const struct intarsia_window *w, const void *image,
                                  struct ring *ring) {
  stage(w, image, ring, 1, false);
}
INTARSIA_OUTLINE void stage_halves(const struct intarsia_window *w, const void *image,
                                   struct ring *ring) {
  stage(w, image, ring, 2, false);
}
INTARSIA_OUTLINE void stage_shared_bytes(const struct intarsia_window *w, const void *image,
                                         struct ring *ring) {
  stage(w, image, ring, 1, true);
}
INTARSIA_OUTLINE void stage_shared_halves(const struct intarsia_window *w, const void *image,
                                          struct ring *ring) {
  stage(w, image, ring, 2, true);
}

// Columns beside the image, which no pair of rows changes.
INTARSIA_OUTLINE void fill_padding(const struct intarsia_window *w, const struct ring *ring) {
  const uint32_t pair = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
  uint32_t *row = ring->words;
  for (int32_t slot = 0; slot < ring->slots; ++slot, row += ring->row_words) {
    for (int32_t i = 0; i < w->pad_left * kMergedLanes; ++i) row[i] = pair;
    for (int32_t i = (w->pad_left + w->in_w) * kMergedLanes; i < ring->row_words; ++i)
      row[i] = pair;
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// In assembly. Pairs of weights, doubled, so that sums are doubled too: r2-r4 of the upper pair of rows and r5-r7 of the
// lower. Columns r0 and r1, a column's two words r12 and lr. Sums r8-r11; the start of all is in r8 until its own first
// product, as columns are taken from the last to the first. On the stack, by words from sp: start, multiplier, rounding,
// shift, output, row (of block_rows, counted down), then struct block_rows. All instructions are 32-bit, so that loops
// which begin on a word stay on words.
#define INTARSIA_COLUMN(offset) "ldr.w r12, [r0, #" #offset "]\nldr.w lr, [r1, #" #offset "]\n"
#define INTARSIA_FIRST_COLUMN(step) "ldr.w r12, [r0], #" #step "\nldr.w lr, [r1], #" #step "\n"
#define INTARSIA_BEGIN(sum) "smlad " #sum ", r12, r4, r8\nsmlad " #sum ", lr, r7, " #sum "\n"
#define INTARSIA_TAP2(sum) "smlad " #sum ", r12, r4, " #sum "\nsmlad " #sum ", lr, r7, " #sum "\n"
#define INTARSIA_TAP1(sum) "smlad " #sum ", r12, r3, " #sum "\nsmlad " #sum ", lr, r6, " #sum "\n"
#define INTARSIA_TAP0(sum) "smlad " #sum ", r12, r2, " #sum "\nsmlad " #sum ", lr, r5, " #sum "\n"

// clang-format off
// Products of the upper pair of rows, and of the lower, with a column, and the next column's loads: behind each other, or, on a core
// with two instructions at a time, each beside a product.
#define INTARSIA_UPPER(sum, tap, before) "smlad " #sum ", r12, " #tap ", " #before "\n"
#define INTARSIA_LOWER(sum, tap) "smlad " #sum ", lr, " #tap ", " #sum "\n"
#if INTARSIA_TWO_AT_A_TIME
#define INTARSIA_STEP(upper, lower, next) upper "ldr.w r12, [r0" next "\n" lower "ldr.w lr, [r1" next "\n"
#else
#define INTARSIA_STEP(upper, lower, next) upper lower "ldr.w r12, [r0" next "\nldr.w lr, [r1" next "\n"
#endif
#define INTARSIA_FOUR_BY_1 \
  INTARSIA_COLUMN(80) \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r4, r8), INTARSIA_LOWER(r11, r7), ", #64]") \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r3, r11) INTARSIA_UPPER(r10, r4, r8), \
                INTARSIA_LOWER(r11, r6) INTARSIA_LOWER(r10, r7), ", #48]") \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r2, r11) INTARSIA_UPPER(r10, r3, r10) INTARSIA_UPPER(r9, r4, r8), \
                INTARSIA_LOWER(r11, r5) INTARSIA_LOWER(r10, r6) INTARSIA_LOWER(r9, r7), ", #32]") \
  INTARSIA_STEP(INTARSIA_UPPER(r10, r2, r10) INTARSIA_UPPER(r9, r3, r9) INTARSIA_UPPER(r8, r4, r8), \
                INTARSIA_LOWER(r10, r5) INTARSIA_LOWER(r9, r6) INTARSIA_LOWER(r8, r7), ", #16]") \
  INTARSIA_STEP(INTARSIA_UPPER(r9, r2, r9) INTARSIA_UPPER(r8, r3, r8), \
                INTARSIA_LOWER(r9, r5) INTARSIA_LOWER(r8, r6), "], #64") \
  INTARSIA_TAP0(r8)
#define INTARSIA_TWO_BY_1 \
  INTARSIA_COLUMN(48) INTARSIA_BEGIN(r9) \
  INTARSIA_COLUMN(32) INTARSIA_TAP1(r9) INTARSIA_BEGIN(r8) \
  INTARSIA_COLUMN(16) INTARSIA_TAP0(r9) INTARSIA_TAP1(r8) \
  INTARSIA_FIRST_COLUMN(32) INTARSIA_TAP0(r8)
#define INTARSIA_ONE_BY_1 \
  INTARSIA_COLUMN(32) INTARSIA_BEGIN(r8) INTARSIA_COLUMN(16) INTARSIA_TAP1(r8) \
  INTARSIA_FIRST_COLUMN(16) INTARSIA_TAP0(r8)
#define INTARSIA_FOUR_BY_2 \
  INTARSIA_COLUMN(128) \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r4, r8), INTARSIA_LOWER(r11, r7), ", #112]") \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r3, r11), INTARSIA_LOWER(r11, r6), ", #96]") \
  INTARSIA_STEP(INTARSIA_UPPER(r11, r2, r11) INTARSIA_UPPER(r10, r4, r8), \
                INTARSIA_LOWER(r11, r5) INTARSIA_LOWER(r10, r7), ", #80]") \
  INTARSIA_STEP(INTARSIA_UPPER(r10, r3, r10), INTARSIA_LOWER(r10, r6), ", #64]") \
  INTARSIA_STEP(INTARSIA_UPPER(r10, r2, r10) INTARSIA_UPPER(r9, r4, r8), \
                INTARSIA_LOWER(r10, r5) INTARSIA_LOWER(r9, r7), ", #48]") \
  INTARSIA_STEP(INTARSIA_UPPER(r9, r3, r9), INTARSIA_LOWER(r9, r6), ", #32]") \
  INTARSIA_STEP(INTARSIA_UPPER(r9, r2, r9) INTARSIA_UPPER(r8, r4, r8), \
                INTARSIA_LOWER(r9, r5) INTARSIA_LOWER(r8, r7), ", #16]") \
  INTARSIA_STEP(INTARSIA_UPPER(r8, r3, r8), INTARSIA_LOWER(r8, r6), "], #128") \
  INTARSIA_TAP0(r8)
#define INTARSIA_TWO_BY_2 \
  INTARSIA_COLUMN(64) INTARSIA_BEGIN(r9) \
  INTARSIA_COLUMN(48) INTARSIA_TAP1(r9) \
  INTARSIA_COLUMN(32) INTARSIA_TAP0(r9) INTARSIA_BEGIN(r8) \
  INTARSIA_COLUMN(16) INTARSIA_TAP1(r8) \
  INTARSIA_FIRST_COLUMN(64) INTARSIA_TAP0(r8)
#define INTARSIA_ONE_BY_2 \
  INTARSIA_COLUMN(32) INTARSIA_BEGIN(r8) INTARSIA_COLUMN(16) INTARSIA_TAP1(r8) \
  INTARSIA_FIRST_COLUMN(32) INTARSIA_TAP0(r8)

// Doubled sums become results (results.h) and go to memory. SMMLAR adds the rounding as well.
#define INTARSIA_SCALE_RECTIFIED(sum) "smmlar " #sum ", " #sum ", r12, lr\n"
#define INTARSIA_SCALE_WHOLE(sum) \
  "smmulr " #sum ", " #sum ", r12\n" \
  "add.w " #sum ", " #sum ", " #sum ", asr #31\n" \
  "add.w " #sum ", " #sum ", lr\n"
#define INTARSIA_SHIFT(sum) "asr.w " #sum ", " #sum ", r12\n"
#define INTARSIA_LOAD_LIMITS "ldr.w r12, [sp, #24]\nldr.w lr, [sp, #28]\n"
#define INTARSIA_CLAMP(sum) \
  "cmp.w " #sum ", r12\n" \
  "it lt\n" \
  "movlt.w " #sum ", r12\n" \
  "cmp.w " #sum ", lr\n" \
  "it gt\n" \
  "movgt.w " #sum ", lr\n"
#define INTARSIA_NOTHING(sum)
// The address of a store is not made by the instruction before it.
#define INTARSIA_STORE(sum) \
  "ssat " #sum ", #8, " #sum "\n" \
  "strb.w " #sum ", [lr]\n" \
  "uxtah lr, lr, r12\n"
// Of int16, from sums that are not doubled; those with limits are no larger.
#define INTARSIA_SCALE_HALF(sum) "smmla " #sum ", " #sum ", r12, lr\n"
#define INTARSIA_STORE_LIMITED_HALF(sum) \
  "strh.w " #sum ", [lr]\n" \
  "uxtah lr, lr, r12\n"
#define INTARSIA_STORE_HALF(sum) \
  "ssat " #sum ", #16, " #sum "\n" \
  INTARSIA_STORE_LIMITED_HALF(sum)
#define INTARSIA_STORE_RECTIFIED_HALF(sum) \
  "usat " #sum ", #15, " #sum "\n" \
  INTARSIA_STORE_LIMITED_HALF(sum)
#define INTARSIA_DOUBLED_START "add.w r8, r8, r8\n"
#define INTARSIA_DOUBLED_WEIGHTS \
  "sadd16 r2, r2, r2\n" \
  "sadd16 r3, r3, r3\n" \
  "sadd16 r4, r4, r4\n" \
  "sadd16 r5, r5, r5\n" \
  "sadd16 r6, r6, r6\n" \
  "sadd16 r7, r7, r7\n"
#define INTARSIA_ALL_1(what) what(r8)
#define INTARSIA_ALL_2(what) what(r8) what(r9)
#define INTARSIA_ALL_4(what) what(r8) what(r9) what(r10) what(r11)
#define INTARSIA_OUTPUTS(all, scale, load_limits, clamp, store) \
  "ldr.w r12, [sp, #4]\n" \
  "ldr.w lr, [sp, #8]\n" \
  all(scale) \
  "ldr.w r12, [sp, #12]\n" \
  all(INTARSIA_SHIFT) \
  load_limits all(clamp) \
  "ldr.w lr, [sp, #16]\n" \
  "ldr.w r12, [sp, #20]\n" \
  all(store)

#define INTARSIA_ROWS_3X3(by, scale, load_limits, clamp, start, doubled, size, store) \
  register const struct block_rows *end __asm__("r0") = work + 1; \
  __asm__ volatile( \
      INTARSIA_SAVE_R7 \
      "ldmdb r0!, {r1, r2, r3, r4, r5, r6, r7}\n" \
      "push {r1, r2, r3, r4, r5, r6, r7}\n" \
      "ldmdb r0!, {r1, r2, r3, r4, r5, r6}\n" \
      "push {r1, r2, r3, r4, r5, r6}\n" \
      "sub.w sp, sp, #24\n" \
      "1: ldr.w r0, [sp, #48]\n" \
      "ldr.w r1, [sp, #52]\n" \
      "ldm.w r0!, {r8, r9, r10, r11}\n" \
      start \
      "stm.w sp, {r8, r9, r10, r11}\n" \
      "ldr.w r2, [r1]\n" \
      "ldr.w r4, [r1, #4]\n" \
      "ldr.w r6, [r1, #8]\n" \
      "add.w r1, r1, #12\n" \
      "str.w r0, [sp, #48]\n" \
      "str.w r1, [sp, #52]\n" \
      "sxtb16 r3, r2, ror #8\n" \
      "sxtb16 r2, r2\n" \
      "sxtb16 r5, r4, ror #8\n" \
      "sxtb16 r4, r4\n" \
      "sxtb16 r7, r6, ror #8\n" \
      "sxtb16 r6, r6\n" \
      "ldr.w r0, [sp, #56]\n" \
      "ldr.w r1, [sp, #60]\n" \
      "ldr.w lr, [sp, #64]\n" \
      "ldr.w r12, [sp, #68]\n" \
      "ldr.w r11, [sp, #32]\n" \
      doubled \
      "add.w r8, r0, #4\n" \
      "add.w r9, r1, #4\n" \
      "add.w r10, lr, #" size "\n" \
      "str.w r8, [sp, #56]\n" \
      "str.w r9, [sp, #60]\n" \
      "str.w r10, [sp, #64]\n" \
      "str.w r12, [sp, #36]\n" \
      "str.w lr, [sp, #16]\n" \
      "2: str.w r11, [sp, #20]\n" \
      "mov.w r12, r11\n" \
      "adds.w r8, r11, #262144\n" \
      "bcs.w 4f\n" \
      ".balign 4\n" \
      "3: ldr.w r8, [sp]\n" \
      INTARSIA_FOUR_BY_##by INTARSIA_OUTPUTS(INTARSIA_ALL_4, scale, load_limits, clamp, store) \
      "subs.w r12, r12, #262144\n" \
      "str.w lr, [sp, #16]\n" \
      "str.w r12, [sp, #20]\n" \
      "bcs.w 3b\n" \
      "4: lsls.w r8, r12, #15\n" \
      "bcc.w 5f\n" \
      "ldr.w r8, [sp]\n" \
      INTARSIA_TWO_BY_##by INTARSIA_OUTPUTS(INTARSIA_ALL_2, scale, load_limits, clamp, store) \
      "str.w lr, [sp, #16]\n" \
      "lsls.w r8, r12, #15\n" \
      "5: bpl.w 6f\n" \
      "ldr.w r8, [sp]\n" \
      INTARSIA_ONE_BY_##by INTARSIA_OUTPUTS(INTARSIA_ALL_1, scale, load_limits, clamp, store) \
      "str.w lr, [sp, #16]\n" \
      "6: ldr.w lr, [sp, #16]\n" \
      "ldr.w r8, [sp, #36]\n" \
      "ldr.w r9, [sp, #40]\n" \
      "ldr.w r10, [sp, #44]\n" \
      "ldr.w r11, [sp, #32]\n" \
      "subs.w r8, r8, #1\n" \
      "add.w r0, r0, r9\n" \
      "add.w r1, r1, r9\n" \
      "add.w lr, lr, r10\n" \
      "str.w r8, [sp, #36]\n" \
      "str.w lr, [sp, #16]\n" \
      "bne.w 2b\n" \
      "ldr.w r8, [sp, #72]\n" \
      "subs.w r8, r8, #1\n" \
      "str.w r8, [sp, #72]\n" \
      "bne.w 1b\n" \
      "add.w sp, sp, #76\n" \
      INTARSIA_RESTORE_R7 \
      : "+r"(end) \
      : \
      : "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
// clang-format on
#define INTARSIA_ROWS_OF(suffix, by, way, scale, load_limits, clamp)                         \
  INTARSIA_OUTLINE void rows_##suffix##_by_##by##_pushes_80(const struct block_rows *work) { \
    INTARSIA_ROWS_3X3(by, scale, load_limits, clamp, INTARSIA_DOUBLED_START,                 \
                      INTARSIA_DOUBLED_WEIGHTS, "1", INTARSIA_STORE);                        \
  }
#define INTARSIA_HALF_ROWS_OF(suffix, by, load_limits, clamp, store)                         \
  INTARSIA_OUTLINE void rows_##suffix##_by_##by##_pushes_80(const struct block_rows *work) { \
    INTARSIA_ROWS_3X3(by, INTARSIA_SCALE_HALF, load_limits, clamp, , , "2", store);          \
  }
#else
INTARSIA_INLINE void block_rows(const struct block_rows *work, int32_t by, enum intarsia_way way,
                                int32_t size) {
  const int32_t step = work->row & 0xffff, rest = work->row >> kRestShift & 3;
  const int32_t out_w = 4 * (int32_t)((((uint32_t)work->row >> kFoursShift) + 1) & 0x3fffu) + rest;
  for (int32_t lane = 0; lane < work->lanes; ++lane) {
    const struct intarsia_channel *channel = work->channels + lane;
    uint32_t weights[6];
    for (int32_t i = 0; i < 3; ++i) {
      const uint32_t word = intarsia_load_word(work->weights + kLaneWeights * lane + 4 * i);
      weights[2 * i] = intarsia_even_pair(word), weights[2 * i + 1] = intarsia_odd_pair(word);
    }
    const uint32_t *upper = work->upper + lane, *lower = work->lower + lane;
    int8_t *output = (int8_t *)work->output + size * lane;
    for (int32_t row = 0; row < work->rows; ++row) {
      for (int32_t x = 0; x < out_w;
           ++x, output += step, upper += by * kMergedLanes, lower += by * kMergedLanes) {
        int32_t sum = channel->bias;
        for (int32_t kx = 0; kx < 3; ++kx) {
          sum = intarsia_pair_product(upper[kx * kMergedLanes], weights[kx], sum);
          sum = intarsia_pair_product(lower[kx * kMergedLanes], weights[3 + kx], sum);
        }
        if (size == 1)
          *output = intarsia_result(sum, channel, work->low, work->high, way);
        else
          *(int16_t *)(void *)output =
              (int16_t)intarsia_half_result(sum, channel, work->low, work->high);
      }
      upper += work->to_next_columns / 4, lower += work->to_next_columns / 4;
      output += work->to_next_outputs;
    }
  }
}
#define INTARSIA_ROWS_OF(suffix, by, way, scale, load_limits, clamp)                         \
  INTARSIA_OUTLINE void rows_##suffix##_by_##by##_pushes_80(const struct block_rows *work) { \
    block_rows(work, by, way, 1);                                                            \
  }
#define INTARSIA_HALF_ROWS_OF(suffix, by, load_limits, clamp, store)                         \
  INTARSIA_OUTLINE void rows_##suffix##_by_##by##_pushes_80(const struct block_rows *work) { \
    block_rows(work, by, INTARSIA_WHOLE, 2);                                                 \
  }
#endif

typedef void rows_function(const struct block_rows *work);

// Where things are, in elements from one to the next: columns, rows and images of the input, and of the output.
struct places {
  int32_t step, pitch, image, out_step, out_row, out_image;
};

INTARSIA_INLINE struct places places_of(const struct intarsia_window *w) {
  const struct places places = {.step = w->transposed ? w->in_h * w->in_c : w->in_c,
                                .pitch = w->transposed ? w->in_c : w->in_w * w->in_c,
                                .image = w->in_h * w->in_w * w->in_c,
                                .out_step = w->transposed ? w->out_h * w->out_c : w->out_c,
                                .out_row = w->transposed ? w->out_c : w->out_w * w->out_c,
                                .out_image = w->out_h * w->out_w * w->out_c};
  return places;
}

INTARSIA_INLINE void depthwise_3x3(const struct intarsia_window *w, const struct places *places,
                                   const int8_t *input, int8_t *output, int8_t *scratch,
                                   const int8_t *weights, const int32_t *channel_words,
                                   rows_function *by_1, rows_function *by_2, int32_t size,
                                   bool multiplied) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t phases = w->stride_h == 1 ? 2 : 1;  // rows of outputs that begin in one pair
  const int32_t steps = (w->out_h + phases - 1) / phases;
  const int32_t out_step = places->out_step, out_row = places->out_row;
  struct ring ring = {.words = (uint32_t *)(void *)scratch,
                      .slots = w->strip_h,
                      .columns = (w->out_w - 1) * w->stride_w + 3,
                      .step = places->step,
                      .pitch = places->pitch};
  ring.row_words = ring.columns * kMergedLanes;
  fill_padding(w, &ring);
  struct block_rows work;
  work.low = w->low, work.high = w->high;
  work.row = (int32_t)((uint32_t)(w->out_w / 4 - 1) << kFoursShift |
                       (uint32_t)(w->out_w % 4) << kRestShift | (uint32_t)(size * out_step));
  work.to_next_columns = 4 * (ring.row_words - w->out_w * w->stride_w * kMergedLanes);
  work.to_next_outputs = size * (phases * out_row - w->out_w * out_step);
  work.lanes = kMergedLanes;
  work.rows_left = 0;
  for (int32_t next = 0; next < w->out_c;
       next += kMergedLanes, weights += phases * kMergedLanes * kLaneWeights) {
    const int32_t block = next + kMergedLanes <= w->out_c ? next : w->out_c - kMergedLanes;
    const int32_t multiplier = multiplied ? w->out_c / w->in_c : 1;
    const int8_t *image = input + size * (block / multiplier);
    if (multiplied) ring.elements = intarsia_lanes_from(block, kMergedLanes, multiplier, size);
    int8_t *to = output + size * block;
    work.channels = channels + block;
    for (int32_t n = 0; n < w->batches;
         ++n, image += size * places->image, to += size * places->out_image) {
      ring.staged = 0;
      for (int32_t step = 0, run; step < steps; step += run) {
        while (ring.staged < step + ring.slots && ring.staged <= steps) {
          if (multiplied && size == 1)
            stage_shared_bytes(w, image, &ring);
          else if (multiplied)
            stage_shared_halves(w, image, &ring);
          else if (size == 1)
            stage_bytes(w, image, &ring);
          else
            stage_halves(w, image, &ring);
        }
        // Rows whose pairs follow each other in the ring; or one, whose second pair is the ring's first.
        const int32_t slot = step % ring.slots, behind = ring.slots - 1 - slot;
        run = behind == 0 ? 1 : behind < steps - step ? behind : steps - step;
        for (int32_t phase = 0; phase < phases; ++phase) {
          const int32_t y = phases * step + phase;
          work.rows = (w->out_h - y + phases - 1) / phases;
          if (work.rows > run) work.rows = run;
          if (work.rows <= 0) break;
          work.upper = ring.words + slot * ring.row_words;
          work.lower = behind == 0 ? ring.words : work.upper + ring.row_words;
          work.weights = weights + phase * kMergedLanes * kLaneWeights;
          work.output = to + size * y * out_row;
          if (w->stride_w == 1)
            by_1(&work);
          else
            by_2(&work);
        }
      }
    }
  }
}

INTARSIA_INLINE int16_t steps_over(int32_t extent, int32_t step) {
  return (int16_t)((extent + step - 1) / step);
}

// Every dilation-th row and column, from each of the first, is an image of its own, whose windows have no gaps.
INTARSIA_INLINE void dilated_3x3(const struct intarsia_window *w, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels, rows_function *by_1, int32_t size) {
  const int32_t down = w->dilation_h, across = w->dilation_w;
  const struct places all = places_of(w);
  const struct places places = {across * all.step,     down * all.pitch,   all.image,
                                across * all.out_step, down * all.out_row, all.out_image};
  struct intarsia_window grid = {.batches = w->batches,
                                 .in_c = w->in_c,
                                 .out_c = w->out_c,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .in_zero = w->in_zero,
                                 .low = w->low,
                                 .high = w->high,
                                 .strip_h = w->strip_h};
  for (int32_t y = 0; y < down && y < w->out_h; ++y)
    for (int32_t x = 0; x < across && x < w->out_w; ++x) {
      grid.pad_top = w->pad_top > y ? steps_over(w->pad_top - y, down) : 0;
      grid.pad_left = w->pad_left > x ? steps_over(w->pad_left - x, across) : 0;
      const int32_t row = grid.pad_top * down + y - w->pad_top,  // the first inside of the image
          column = grid.pad_left * across + x - w->pad_left;
      grid.in_h = steps_over(w->in_h - row, down);
      grid.in_w = steps_over(w->in_w - column, across);
      grid.out_h = steps_over(w->out_h - y, down);
      grid.out_w = steps_over(w->out_w - x, across);
      depthwise_3x3(&grid, &places, input + size * (row * all.pitch + column * all.step),
                    output + size * (y * all.out_row + x * all.out_step), scratch, weights,
                    channels, by_1, by_1, size, false);
    }
}

// Of elements of a type: plain, with several outputs of each channel, and dilated.
#define INTARSIA_ENTRIES(plain, multiplied, dilated, suffix, element, size)                       \
  void plain(const struct intarsia_window *window, const element *input, element *output,         \
             int8_t *scratch, const int8_t *weights, const int32_t *channels) {                   \
    const struct places places = places_of(window);                                               \
    depthwise_3x3(window, &places, (const int8_t *)input, (int8_t *)output, scratch, weights,     \
                  channels, rows_##suffix##_by_1_pushes_80, rows_##suffix##_by_2_pushes_80, size, \
                  false);                                                                         \
  }                                                                                               \
  void multiplied(const struct intarsia_window *window, const element *input, element *output,    \
                  int8_t *scratch, const int8_t *weights, const int32_t *channels) {              \
    const struct places places = places_of(window);                                               \
    depthwise_3x3(window, &places, (const int8_t *)input, (int8_t *)output, scratch, weights,     \
                  channels, rows_##suffix##_by_1_pushes_80, rows_##suffix##_by_2_pushes_80, size, \
                  true);                                                                          \
  }                                                                                               \
  void dilated(const struct intarsia_window *window, const element *input, element *output,       \
               int8_t *scratch, const int8_t *weights, const int32_t *channels) {                 \
    dilated_3x3(window, (const int8_t *)input, (int8_t *)output, scratch, weights, channels,      \
                rows_##suffix##_by_1_pushes_80, size);                                            \
  }

#define INTARSIA_KERNEL(plain, multiplied, dilated, suffix, way, scale, load_limits, clamp) \
  INTARSIA_ROWS_OF(suffix, 1, way, scale, load_limits, clamp)                               \
  INTARSIA_ROWS_OF(suffix, 2, way, scale, load_limits, clamp)                               \
  INTARSIA_ENTRIES(plain, multiplied, dilated, suffix, int8_t, 1)
#define INTARSIA_HALF_KERNEL(plain, multiplied, dilated, suffix, load_limits, clamp, store) \
  INTARSIA_HALF_ROWS_OF(suffix, 1, load_limits, clamp, store)                               \
  INTARSIA_HALF_ROWS_OF(suffix, 2, load_limits, clamp, store)                               \
  INTARSIA_ENTRIES(plain, multiplied, dilated, suffix, int16_t, 2)

INTARSIA_KERNEL(intarsia_dsp_depthwise_3x3_s8, intarsia_dsp_depthwise_3x3_multiplied_s8,
                intarsia_dsp_depthwise_3x3_dilated_s8, whole, INTARSIA_WHOLE, INTARSIA_SCALE_WHOLE,
                , INTARSIA_NOTHING)
INTARSIA_KERNEL(intarsia_dsp_depthwise_3x3_rectified_s8,
                intarsia_dsp_depthwise_3x3_multiplied_rectified_s8,
                intarsia_dsp_depthwise_3x3_dilated_rectified_s8, rectified, INTARSIA_RECTIFIED,
                INTARSIA_SCALE_RECTIFIED, , INTARSIA_NOTHING)
INTARSIA_KERNEL(intarsia_dsp_depthwise_3x3_limited_s8,
                intarsia_dsp_depthwise_3x3_multiplied_limited_s8,
                intarsia_dsp_depthwise_3x3_dilated_limited_s8, limited, INTARSIA_LIMITED,
                INTARSIA_SCALE_WHOLE, INTARSIA_LOAD_LIMITS, INTARSIA_CLAMP)
INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_3x3_s16, intarsia_dsp_depthwise_3x3_multiplied_s16,
                     intarsia_dsp_depthwise_3x3_dilated_s16, halves, , INTARSIA_NOTHING,
                     INTARSIA_STORE_HALF)
INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_3x3_rectified_s16,
                     intarsia_dsp_depthwise_3x3_multiplied_rectified_s16,
                     intarsia_dsp_depthwise_3x3_dilated_rectified_s16, rectified_halves, ,
                     INTARSIA_NOTHING, INTARSIA_STORE_RECTIFIED_HALF)
INTARSIA_HALF_KERNEL(intarsia_dsp_depthwise_3x3_limited_s16,
                     intarsia_dsp_depthwise_3x3_multiplied_limited_s16,
                     intarsia_dsp_depthwise_3x3_dilated_limited_s16, limited_halves,
                     INTARSIA_LOAD_LIMITS, INTARSIA_CLAMP, INTARSIA_STORE_LIMITED_HALF)
