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

enum {
  kIntarsiaRaise = 0,
  kIntarsiaPixels = 4,
  kIntarsiaWidePixels = 4,
  kIntarsiaWideBlocks = 1,
  kIntarsiaTwoBlocks = 0
};

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

enum {
  kIntarsiaRaise = 0,
  kIntarsiaPixels = 2,
  kIntarsiaWidePixels = 2,
  kIntarsiaWideBlocks = 1,
  kIntarsiaTwoBlocks = 0
};

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

INTARSIA_INLINE void intarsia_narrowed(struct intarsia_sums a, struct intarsia_range range,
                                       int8_t *bytes) {
  const int16x8_t low = vcombine_s16(vqmovn_s32(a.lanes[0]), vqmovn_s32(a.lanes[1])),
                  high = vcombine_s16(vqmovn_s32(a.lanes[2]), vqmovn_s32(a.lanes[3]));
  const int8x16_t narrow = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
  vst1q_s8(bytes, vminq_s8(vmaxq_s8(narrow, vdupq_n_s8((int8_t)range.low)),
                           vdupq_n_s8((int8_t)range.high)));
}

INTARSIA_INLINE void intarsia_finish(const struct intarsia_sums *sums, const int32_t *table,
                                     struct intarsia_range range, int8_t *output) {
  const struct intarsia_sums scaled = {
      {intarsia_scaled(sums->lanes[0], table), intarsia_scaled(sums->lanes[1], table + 4),
       intarsia_scaled(sums->lanes[2], table + 8), intarsia_scaled(sums->lanes[3], table + 12)}};
  intarsia_narrowed(scaled, range, output);
}

INTARSIA_INLINE struct intarsia_sums intarsia_each(int32_t value) {
  const int32x4_t all = vdupq_n_s32(value);
  return (struct intarsia_sums){{all, all, all, all}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_widened(const int8_t *bytes) {
  const int8x16_t sixteen = vld1q_s8(bytes);
  const int16x8_t low = vmovl_s8(vget_low_s8(sixteen)), high = vmovl_high_s8(sixteen);
  return (struct intarsia_sums){{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low),
                                 vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)}};
}

// Each four lanes by an operation on two vectors.
#define BY_FOURS(name, operation)                                                             \
  INTARSIA_INLINE struct intarsia_sums name(struct intarsia_sums a, struct intarsia_sums b) { \
    return (struct intarsia_sums){                                                            \
        {operation(a.lanes[0], b.lanes[0]), operation(a.lanes[1], b.lanes[1]),                \
         operation(a.lanes[2], b.lanes[2]), operation(a.lanes[3], b.lanes[3])}};              \
  }
BY_FOURS(intarsia_added, vaddq_s32)
BY_FOURS(intarsia_multiplied, vmulq_s32)
BY_FOURS(intarsia_high, vqrdmulhq_s32)
BY_FOURS(intarsia_shifted_left, vshlq_s32)
#undef BY_FOURS

INTARSIA_INLINE struct intarsia_sums intarsia_shifted(struct intarsia_sums a, int32_t right) {
  return intarsia_shifted_left(a, intarsia_each(-right));
}

struct intarsia_pairs {
  int16x8_t a[2], b[2];
};

INTARSIA_INLINE struct intarsia_pairs intarsia_paired(const int8_t *a, const int8_t *b) {
  const int8x16_t first = vld1q_s8(a), second = vld1q_s8(b);
  return (struct intarsia_pairs){{vmovl_s8(vget_low_s8(first)), vmovl_high_s8(first)},
                                 {vmovl_s8(vget_low_s8(second)), vmovl_high_s8(second)}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_pair_products(struct intarsia_pairs pairs,
                                                            int32_t factors) {
  const int16x8_t a_factor = vdupq_n_s16((int16_t)factors),
                  b_factor = vdupq_n_s16((int16_t)(factors >> 16));
  struct intarsia_sums sums;
  for (int32_t half = 0; half < 2; ++half) {
    const int16x8_t a = pairs.a[half], b = pairs.b[half];
    sums.lanes[2 * half] = vmlal_s16(vmull_s16(vget_low_s16(a), vget_low_s16(a_factor)),
                                     vget_low_s16(b), vget_low_s16(b_factor));
    sums.lanes[2 * half + 1] = vmlal_high_s16(vmull_high_s16(a, a_factor), b, b_factor);
  }
  return sums;
}

INTARSIA_INLINE void intarsia_greater(const int8_t *bytes, int8_t *most) {
  vst1q_s8(most, vmaxq_s8(vld1q_s8(most), vld1q_s8(bytes)));
}

#endif  // INTARSIA_CORTEX_M_LANES_NEON_H_
