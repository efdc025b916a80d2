// Bilinear resizing, channels side by side. A sum's half is added and its sign, so that a shift rounds halves away from zero.
#include "intarsia/targets/cortex_m/resize.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum { kOne = 1 << 10, kWords = 3 };  // kWords: of a place

// Weights of the neighbours of a pixel: above and left, below and left, above and right, below and right; and those of an axis alone.
struct blend {
  int32_t weights[4];
  int32_t upper, lower, left, right;
};

INTARSIA_INLINE struct blend blend_of(int32_t lower, int32_t right) {
  const int32_t upper = kOne - lower, left = kOne - right;
  const struct blend blend = {
      {upper * left, lower * left, upper * right, lower * right}, upper, lower, left, right};
  return blend;
}

INTARSIA_INLINE int32_t rounded_sum(int32_t sum) {
  return (sum + (sum >> 31) + (1 << 19)) >> 20;
}

#if INTARSIA_HAS_MVE
INTARSIA_INLINE int32x4_t rounded_sums(int32x4_t sums) {
  return vrshrq_n_s32(vaddq_s32(sums, vshrq_n_s32(sums, 31)), 20);
}
INTARSIA_INLINE int32x4_t four_bytes(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d,
                                     const struct blend *blend) {
  int32x4_t sums = vmulq_n_s32(a, blend->weights[0]);
  sums = vmlaq_n_s32(sums, b, blend->weights[1]);
  sums = vmlaq_n_s32(sums, c, blend->weights[2]);
  return rounded_sums(vmlaq_n_s32(sums, d, blend->weights[3]));
}

// The sum has 36 bits: it is whole * 1024 + fraction, with the fraction in ten bits. Columns differ by 27 bits, of which the lower ten are
// multiplied by themselves.
INTARSIA_INLINE int32x4_t four_halves(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d,
                                      const struct blend *blend) {
  const int32x4_t ten = vdupq_n_s32(kOne - 1);
  const int32x4_t left = vmlaq_n_s32(vmulq_n_s32(a, blend->upper), b, blend->lower);
  const int32x4_t right = vmlaq_n_s32(vmulq_n_s32(c, blend->upper), d, blend->lower);
  const int32x4_t apart = vsubq_s32(right, left);
  const int32x4_t low = vmulq_n_s32(vandq_s32(apart, ten), blend->right);
  int32x4_t whole = vmlaq_n_s32(left, vshrq_n_s32(apart, 10), blend->right);
  whole = vaddq_s32(whole, vshrq_n_s32(low, 10));
  const int32x4_t fraction = vaddq_s32(vandq_s32(low, ten), vshrq_n_s32(whole, 31));
  return vrshrq_n_s32(vaddq_s32(whole, vshrq_n_s32(fraction, 10)), 10);
}
#endif

INTARSIA_INLINE int16_t one_half(int32_t a, int32_t b, int32_t c, int32_t d,
                                 const struct blend *blend) {
  const int32_t left = a * blend->upper + b * blend->lower,
                right = c * blend->upper + d * blend->lower;
  const int64_t sum = (int64_t)left * blend->left + (int64_t)right * blend->right;
  return (int16_t)((sum + ((int32_t)(sum >> 32) >> 31) + (1 << 19)) >> 20);
}

void intarsia_resize_bilinear_s8(const int8_t *input, int8_t *output, const int32_t *places,
                                 int32_t batches, int32_t image, int32_t rows, int32_t columns,
                                 int32_t channels) {
  for (; batches > 0; --batches, input += image)
    for (int32_t oy = 0; oy < rows; ++oy) {
      const int32_t *row = places + kWords * oy, *column = places + kWords * rows;
      const int8_t *above = input + row[0], *below = input + row[1];
      for (int32_t ox = 0; ox < columns; ++ox, column += kWords) {
        const struct blend blend = blend_of(row[2], column[2]);
        const int8_t *a = above + column[0], *b = below + column[0], *c = above + column[1],
                     *d = below + column[1];
        int32_t left = channels;
#if INTARSIA_HAS_MVE
        for (; left >= 4 || (left > 0 && channels >= 4); left -= 4) {
          const int32_t back = left < 4 ? 4 - left : 0;  // the last four overlap the ones before
          a -= back, b -= back, c -= back, d -= back, output -= back;
          vstrbq_s32(output, four_bytes(vldrbq_s32(a), vldrbq_s32(b), vldrbq_s32(c), vldrbq_s32(d),
                                        &blend));
          a += 4, b += 4, c += 4, d += 4, output += 4;
        }
#endif
        for (; left > 0; --left)
          *output++ = (int8_t)rounded_sum(*a++ * blend.weights[0] + *b++ * blend.weights[1] +
                                          *c++ * blend.weights[2] + *d++ * blend.weights[3]);
      }
    }
}

void intarsia_resize_bilinear_s16(const int16_t *input, int16_t *output, const int32_t *places,
                                  int32_t batches, int32_t image, int32_t rows, int32_t columns,
                                  int32_t channels) {
  for (; batches > 0; --batches, input += image)
    for (int32_t oy = 0; oy < rows; ++oy) {
      const int32_t *row = places + kWords * oy, *column = places + kWords * rows;
      const int16_t *above = input + row[0], *below = input + row[1];
      for (int32_t ox = 0; ox < columns; ++ox, column += kWords) {
        const struct blend blend = blend_of(row[2], column[2]);
        const int16_t *a = above + column[0], *b = below + column[0], *c = above + column[1],
                      *d = below + column[1];
        int32_t left = channels;
#if INTARSIA_HAS_MVE
        for (; left >= 4 || (left > 0 && channels >= 4); left -= 4) {
          const int32_t back = left < 4 ? 4 - left : 0;  // the last four overlap the ones before
          a -= back, b -= back, c -= back, d -= back, output -= back;
          vstrhq_s32(output, four_halves(vldrhq_s32(a), vldrhq_s32(b), vldrhq_s32(c), vldrhq_s32(d),
                                         &blend));
          a += 4, b += 4, c += 4, d += 4, output += 4;
        }
#endif
        for (; left > 0; --left) *output++ = one_half(*a++, *b++, *c++, *d++, &blend);
      }
    }
}
