// Lanes of four 128-bit registers: SDOT where the core has it, else products of bytes (SMULL) that are added in pairs (SADALP).
#ifndef INTARSIA_CORTEX_M_LANES_NEON_H_
#define INTARSIA_CORTEX_M_LANES_NEON_H_

#include <arm_neon.h>

struct intarsia_sums {
  int32x4_t lanes[4];
};

INTARSIA_INLINE struct intarsia_sums intarsia_sums_of(const int32_t *words) {
  return (struct intarsia_sums){
      {vld1q_s32(words), vld1q_s32(words + 4), vld1q_s32(words + 8), vld1q_s32(words + 12)}};
}

INTARSIA_INLINE void intarsia_stage(int8_t *to, const int8_t *from, int32_t count) {
  memcpy(to, from, (size_t)count);
}

INTARSIA_INLINE int32_t intarsia_four_bytes(const int8_t *staged) {
  int32_t four;
  memcpy(&four, staged, sizeof four);
  return four;
}

#ifdef __ARM_FEATURE_DOTPROD

enum { kIntarsiaRaise = 0, kIntarsiaPixels = 4, kIntarsiaWidePixels = 4, kIntarsiaWideBlocks = 1 };

struct intarsia_dots {
  struct intarsia_sums sums;
};
struct intarsia_elements {
  int8x16_t fours;
};
struct intarsia_weights {
  int8x16_t fours[4];
};

INTARSIA_INLINE struct intarsia_dots intarsia_dots_begin(const int32_t *table) {
  return (struct intarsia_dots){intarsia_sums_of(table)};
}

INTARSIA_INLINE struct intarsia_elements intarsia_elements(const int8_t *staged) {
  return (struct intarsia_elements){vreinterpretq_s8_s32(vdupq_n_s32(intarsia_four_bytes(staged)))};
}

INTARSIA_INLINE struct intarsia_weights intarsia_weights(const int8_t *weights) {
  return (struct intarsia_weights){
      {vld1q_s8(weights), vld1q_s8(weights + 16), vld1q_s8(weights + 32), vld1q_s8(weights + 48)}};
}

INTARSIA_INLINE void intarsia_dot(struct intarsia_dots *dots, struct intarsia_elements elements,
                                  struct intarsia_weights weights) {
  int32x4_t *lanes = dots->sums.lanes;
  lanes[0] = vdotq_s32(lanes[0], weights.fours[0], elements.fours);
  lanes[1] = vdotq_s32(lanes[1], weights.fours[1], elements.fours);
  lanes[2] = vdotq_s32(lanes[2], weights.fours[2], elements.fours);
  lanes[3] = vdotq_s32(lanes[3], weights.fours[3], elements.fours);
}

INTARSIA_INLINE void intarsia_dot_each(struct intarsia_dots *dots, struct intarsia_weights elements,
                                       struct intarsia_weights weights) {
  int32x4_t *lanes = dots->sums.lanes;
  lanes[0] = vdotq_s32(lanes[0], weights.fours[0], elements.fours[0]);
  lanes[1] = vdotq_s32(lanes[1], weights.fours[1], elements.fours[1]);
  lanes[2] = vdotq_s32(lanes[2], weights.fours[2], elements.fours[2]);
  lanes[3] = vdotq_s32(lanes[3], weights.fours[3], elements.fours[3]);
}

INTARSIA_INLINE struct intarsia_sums intarsia_dots_end(const struct intarsia_dots *dots,
                                                       const int32_t *table) {
  (void)table;
  return dots->sums;
}

#else  // without dot products

enum { kIntarsiaRaise = 0, kIntarsiaPixels = 2, kIntarsiaWidePixels = 2, kIntarsiaWideBlocks = 1 };

// Two sums of each lane.
struct intarsia_dots {
  int32x4_t pairs[8];
};
struct intarsia_elements {
  int8x8_t fours;
};
struct intarsia_weights {
  int8x16_t fours[4];
};

INTARSIA_INLINE struct intarsia_dots intarsia_dots_begin(const int32_t *table) {
  (void)table;
  const int32x4_t none = vdupq_n_s32(0);
  return (struct intarsia_dots){{none, none, none, none, none, none, none, none}};
}

INTARSIA_INLINE struct intarsia_elements intarsia_elements(const int8_t *staged) {
  return (struct intarsia_elements){vreinterpret_s8_s32(vdup_n_s32(intarsia_four_bytes(staged)))};
}

INTARSIA_INLINE struct intarsia_weights intarsia_weights(const int8_t *weights) {
  return (struct intarsia_weights){
      {vld1q_s8(weights), vld1q_s8(weights + 16), vld1q_s8(weights + 32), vld1q_s8(weights + 48)}};
}

// Four lanes, whose sums begin at `pairs`.
INTARSIA_INLINE void intarsia_products(int32x4_t *pairs, int8x16_t weights, int8x8_t low,
                                       int8x8_t high) {
  pairs[0] = vpadalq_s16(pairs[0], vmull_s8(vget_low_s8(weights), low));
  pairs[1] = vpadalq_s16(pairs[1], vmull_s8(vget_high_s8(weights), high));
}

INTARSIA_INLINE void intarsia_dot(struct intarsia_dots *dots, struct intarsia_elements elements,
                                  struct intarsia_weights weights) {
  intarsia_products(dots->pairs, weights.fours[0], elements.fours, elements.fours);
  intarsia_products(dots->pairs + 2, weights.fours[1], elements.fours, elements.fours);
  intarsia_products(dots->pairs + 4, weights.fours[2], elements.fours, elements.fours);
  intarsia_products(dots->pairs + 6, weights.fours[3], elements.fours, elements.fours);
}

INTARSIA_INLINE void intarsia_four_each(int32x4_t *pairs, int8x16_t weights, int8x16_t elements) {
  intarsia_products(pairs, weights, vget_low_s8(elements), vget_high_s8(elements));
}

INTARSIA_INLINE void intarsia_dot_each(struct intarsia_dots *dots, struct intarsia_weights elements,
                                       struct intarsia_weights weights) {
  intarsia_four_each(dots->pairs, weights.fours[0], elements.fours[0]);
  intarsia_four_each(dots->pairs + 2, weights.fours[1], elements.fours[1]);
  intarsia_four_each(dots->pairs + 4, weights.fours[2], elements.fours[2]);
  intarsia_four_each(dots->pairs + 6, weights.fours[3], elements.fours[3]);
}

INTARSIA_INLINE struct intarsia_sums intarsia_dots_end(const struct intarsia_dots *dots,
                                                       const int32_t *table) {
  struct intarsia_sums sums = intarsia_sums_of(table);
  const int32x4_t *pairs = dots->pairs;
  sums.lanes[0] = vaddq_s32(sums.lanes[0], vpaddq_s32(pairs[0], pairs[1]));
  sums.lanes[1] = vaddq_s32(sums.lanes[1], vpaddq_s32(pairs[2], pairs[3]));
  sums.lanes[2] = vaddq_s32(sums.lanes[2], vpaddq_s32(pairs[4], pairs[5]));
  sums.lanes[3] = vaddq_s32(sums.lanes[3], vpaddq_s32(pairs[6], pairs[7]));
  return sums;
}

#endif  // dot products

INTARSIA_INLINE int8x16x2_t intarsia_laced(int8x16_t first, int8x16_t second) {
  const int16x8x2_t laced = vzipq_s16(vreinterpretq_s16_s8(first), vreinterpretq_s16_s8(second));
  return (int8x16x2_t){{vreinterpretq_s8_s16(laced.val[0]), vreinterpretq_s8_s16(laced.val[1])}};
}

INTARSIA_INLINE void intarsia_four_taps(struct intarsia_dots *dots, const int8_t *a,
                                        const int8_t *b, const int8_t *c, const int8_t *d,
                                        const int8_t *weights) {
  const int8x16x2_t first = vzipq_s8(vld1q_s8(a), vld1q_s8(b)),
                    second = vzipq_s8(vld1q_s8(c), vld1q_s8(d));
  const int8x16x2_t low = intarsia_laced(first.val[0], second.val[0]),
                    high = intarsia_laced(first.val[1], second.val[1]);
  const struct intarsia_weights elements = {{low.val[0], low.val[1], high.val[0], high.val[1]}};
  intarsia_dot_each(dots, elements, intarsia_weights(weights));
}

INTARSIA_INLINE void intarsia_store_sums(const struct intarsia_sums *sums, int32_t *to) {
  vst1q_s32(to, sums->lanes[0]);
  vst1q_s32(to + 4, sums->lanes[1]);
  vst1q_s32(to + 8, sums->lanes[2]);
  vst1q_s32(to + 12, sums->lanes[3]);
}

// SQRDMULH is the rounded upper half of the doubled product.
INTARSIA_INLINE int32x4_t intarsia_scaled(int32x4_t sums, const int32_t *table) {
  const int32x4_t high =
      vqrdmulhq_s32(sums, vld1q_s32(table + kIntarsiaMultipliers * kIntarsiaVector));
  const int32x4_t rounded = vaddq_s32(vsraq_n_s32(high, high, 31),
                                      vld1q_s32(table + kIntarsiaRoundings * kIntarsiaVector));
  return vshlq_s32(rounded, vnegq_s32(vld1q_s32(table + kIntarsiaShifts * kIntarsiaVector)));
}

INTARSIA_INLINE void intarsia_finish(const struct intarsia_sums *sums, const int32_t *table,
                                     struct intarsia_range range, int8_t *output) {
  const int16x8_t low = vcombine_s16(vqmovn_s32(intarsia_scaled(sums->lanes[0], table)),
                                     vqmovn_s32(intarsia_scaled(sums->lanes[1], table + 4)));
  const int16x8_t high = vcombine_s16(vqmovn_s32(intarsia_scaled(sums->lanes[2], table + 8)),
                                      vqmovn_s32(intarsia_scaled(sums->lanes[3], table + 12)));
  const int8x16_t bytes = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
  vst1q_s8(output, vminq_s8(vmaxq_s8(bytes, vdupq_n_s8((int8_t)range.low)),
                            vdupq_n_s8((int8_t)range.high)));
}

#endif  // INTARSIA_CORTEX_M_LANES_NEON_H_
