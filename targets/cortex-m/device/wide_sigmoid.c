// Sigmoid and tanh of int16 in steps of 2^-15, as intarsia/kernels/sigmoid.h has them: a point of the curve and a straight line to the
// next one. Values below zero are the others' mirror image, -1 - r for a result r before it is rounded, and a constant.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/kernels/sigmoid.h"
#include "intarsia/targets/cortex_m/dsp_dot.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

struct curve {
  int32_t below;   // bits of an argument below those that choose a point
  int32_t limit;   // beyond the last point
  int32_t base;    // added to all results, with half of the last bit
  int32_t mirror;  // and to those of arguments below zero
  int32_t shift;
};

enum {
  kLastPoint = INTARSIA_SIGMOID_POINTS - 1,
  kSigmoidBelow = 9,
  kTanhBelow = 8,
};

#define SIGMOID \
  { kSigmoidBelow, 0x7fff << 10, 1 << 9, 1 << 25, 10 }
#define TANH \
  { kTanhBelow, 0xffff << 8, (1 << 7) - (1 << 23), 1 << 24, 8 }

// Half of the last bit that an argument is shifted to the right by.
INTARSIA_INLINE int32_t half_of(int32_t shift) {
  return shift > 0 ? (int32_t)(UINT32_C(1) << (shift - 1)) : 0;
}

#if INTARSIA_HAS_MVE
// Which of eight lines (from points[at] on), and where on it: 2^below is its end. Lines from the last one on count as that one's end, or, of
// a sigmoid, any place of it: all its results are alike.
struct eight_places {
  uint16x8_t at, part;
};

INTARSIA_INLINE uint16x8_t limited_lines(uint16x8_t at) {
  return vminq_u16(at, vdupq_n_u16(kLastPoint - 1));
}

// Of x * multiplier. A sigmoid's take up to 17 bits and more, of which the lower 9 are the place; a tanh's count up to 16.
INTARSIA_INLINE struct eight_places places_of_products(struct curve c, int16x8_t x,
                                                       int32_t multiplier) {
  const uint16x8_t size = vreinterpretq_u16_s16(vabsq_s16(x));
  const uint16x8_t low = vmulq_n_u16(size, (uint16_t)multiplier),
                   high = vmulhq_u16(size, vdupq_n_u16((uint16_t)multiplier));
  struct eight_places places;
  if (c.below == kSigmoidBelow) {
    places.at = limited_lines(
        vorrq_u16(vqshlq_n_u16(high, 16 - kSigmoidBelow), vshrq_n_u16(low, kSigmoidBelow)));
    places.part = vandq_u16(low, vdupq_n_u16((1 << kSigmoidBelow) - 1));
  } else {
    const uint16x8_t all = vminq_u16(vpselq_u16(low, vdupq_n_u16(0xffff), vcmpeqq_n_u16(high, 0)),
                                     vdupq_n_u16(kLastPoint << kTanhBelow));
    places.at = limited_lines(vshrq_n_u16(all, kTanhBelow));
    places.part = vsubq_u16(all, vshlq_n_u16(places.at, kTanhBelow));
  }
  return places;
}

// Of four arguments: how far from zero, up to the last point.
INTARSIA_INLINE uint32x4_t four_magnitudes(struct curve c, int32x4_t product, int32_t shift) {
  const int32x4_t argument = vshlq_r_s32(vaddq_n_s32(product, half_of(shift)), -shift);
  return vminq_u32(vreinterpretq_u32_s32(vabsq_s32(argument)),
                   vdupq_n_u32((uint32_t)kLastPoint << c.below));
}

INTARSIA_INLINE uint16x8_t lower_halves(uint32x4_t even, uint32x4_t odd) {
  return vmovntq_u32(vmovnbq_u32(vdupq_n_u16(0), even), odd);
}

// Of (x * multiplier + half) >> shift, of any shift.
INTARSIA_INLINE struct eight_places places_of_shifted(struct curve c, int16x8_t x,
                                                      int32_t multiplier, int32_t shift) {
  const int16x8_t factors = vdupq_n_s16((int16_t)multiplier);
  const uint32x4_t even = four_magnitudes(c, vmullbq_int_s16(x, factors), shift),
                   odd = four_magnitudes(c, vmulltq_int_s16(x, factors), shift);
  const uint16x8_t all = lower_halves(even, odd);
  struct eight_places places;
  if (c.below == kSigmoidBelow)
    places.at = limited_lines(
        lower_halves(vshrq_n_u32(even, kSigmoidBelow), vshrq_n_u32(odd, kSigmoidBelow)));
  else
    places.at = limited_lines(vshrq_n_u16(all, kTanhBelow));
  places.part = vsubq_u16(all, vshlq_r_u16(places.at, c.below));
  return places;
}

// Eight values in 16 bits: products with the steps between points, which take 10 bits, are kept as far as results need them. The
// sign of x is the argument's, or that is zero, whose mirror image is itself.
INTARSIA_INLINE int16x8_t eight_on_curve(struct curve c, const uint16_t *points, int16x8_t x,
                                         int32_t multiplier, int32_t shift) {
  const struct eight_places places = shift == 0 ? places_of_products(c, x, multiplier)
                                                : places_of_shifted(c, x, multiplier, shift);
  const uint16x8_t here = vldrhq_gather_shifted_offset_u16(points, places.at),
                   step = vsubq_u16(vldrhq_gather_shifted_offset_u16(points + 1, places.at), here),
                   part = vshlq_n_u16(places.part, 7);
  const int16x8_t sign = vshrq_n_s16(x, 15);
  if (c.below == kSigmoidBelow) {
    // (2^9 * here + part * step + 2^9) >> 10, at most 2^15 - 1; 2^15 less that below zero.
    const uint16x8_t value =
        vminq_u16(vrhaddq_u16(here, vmulhq_u16(part, step)), vdupq_n_u16(0x7fff));
    return vaddq_s16(veorq_s16(vreinterpretq_s16_u16(value), sign),
                     vandq_s16(sign, vdupq_n_s16(-0x7fff)));
  }
  // (2^8 * here + part * step + 2^7) >> 8, less 2^15, with its sign.
  const uint16x8_t value = vaddq_u16(here, vrmulhq_u16(part, vaddq_u16(step, step)));
  const int16x8_t above = vreinterpretq_s16_u16(veorq_u16(value, vdupq_n_u16(0x8000)));
  return vsubq_s16(veorq_s16(above, sign), sign);
}
#else
// The curve at (x * multiplier + half) >> shift; points: intarsia_sigmoid_points().
INTARSIA_INLINE int32_t on_curve(struct curve c, const uint16_t *points, int32_t x,
                                 int32_t multiplier, int32_t shift) {
  const int32_t argument = (x * multiplier + half_of(shift)) >> shift, sign = argument >> 31;
  const uint32_t magnitude = (uint32_t)((argument ^ sign) - sign), at = magnitude >> c.below;
  int32_t value = c.limit;
  if (at < kLastPoint) {
    const uint32_t here = points[at], next = points[at + 1];
    value = (int32_t)((here << c.below) + (magnitude & ((1u << c.below) - 1u)) * (next - here));
  }
  return ((value ^ sign) + c.base + (sign & c.mirror)) >> c.shift;
}
#endif

#if INTARSIA_HAS_DSP_WORDS && !INTARSIA_HAS_MVE
// Of the argument in register x. Points are above one half of their range, so that they are signed halfwords less all of it, and two
// neighbours are a word: one instruction weighs both. With what it adds the line is one around zero, whose mirror image has no constant of
// its own. Arguments from the last point on count as a sigmoid's at the point before it and a tanh's just before the last: results are
// the same from there on.
#define ON_LINE(x)                           \
  "eor %[at], " x ", " x                     \
  ", asr #31\n"                              \
  "sub %[at], %[at], " x                     \
  ", asr #31\n"                              \
  "cmp %[at], %[last]\n"                     \
  "it hs\n"                                  \
  "movhs %[at], %[most]\n"                   \
  "ubfx %[part], %[at], #0, %[below]\n"      \
  "lsr %[at], %[at], %[below]\n"             \
  "rsb %[part], %[part], %[part], lsl #16\n" \
  "ldr %[at], [%[points], %[at], lsl #1]\n"  \
  "add %[part], %[part], %[one]\n"           \
  "smlad %[at], %[at], %[part], %[middle]\n" \
  "eor " x ", %[at], " x                     \
  ", asr #31\n"                              \
  "add " x ", " x ", %[base]\n"

// Two at a time, which are loaded and stored as one word. The upper half of `scaling` is the multiplier, the lower one the shift.
INTARSIA_INLINE void evaluate_pairs(struct curve c, const uint16_t *points, const int16_t *input,
                                    int16_t *output, int32_t count, int32_t scaling) {
  const int32_t one = 1 << c.below, last = kLastPoint << c.below;
  const int32_t half = half_of(scaling & 0xff), middle = 1 << (c.below + 15),
                base = c.base + (c.mirror >> 1);
  for (const int16_t *end = input + count; input != end; input += 2, output += 2) {
    int32_t first, at, part;
    uint32_t both = intarsia_load_word((const int8_t *)input);
    __asm__("smlabt %[first], %[both], %[scaling], %[half]\n"
            "smlatt %[both], %[both], %[scaling], %[half]\n"
            "asr %[first], %[first], %[scaling]\n"
            "asr %[both], %[both], %[scaling]\n" ON_LINE("%[first]") ON_LINE("%[both]")
            "lsl %[both], %[both], %[left]\n"
            "pkhtb %[both], %[both], %[first], asr %[right]\n"
            : [both] "+r"(both), [first] "=&r"(first), [at] "=&r"(at), [part] "=&r"(part)
            : [points] "r"(points), [scaling] "r"(scaling), [half] "r"(half), [middle] "r"(middle),
              [base] "r"(base), [last] "i"(last), [most] "i"(c.below == 9 ? last - one : last - 1),
              [below] "i"(c.below), [one] "i"(one), [left] "i"(16 - c.shift), [right] "i"(c.shift)
            : "cc", "memory");
    memcpy(output, &both, sizeof both);
  }
}
#endif

#if INTARSIA_HAS_MVE
INTARSIA_INLINE void evaluate_eights(struct curve c, const uint16_t *points, const int16_t *input,
                                     int16_t *output, int32_t count, int32_t multiplier,
                                     int32_t shift) {
  for (; count > 0; count -= 8, input += 8, output += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)count);
    vstrhq_p_s16(output, eight_on_curve(c, points, vldrhq_z_s16(input, some), multiplier, shift),
                 some);
  }
}
#endif

INTARSIA_INLINE void evaluate_curve(struct curve c, const int16_t *input, int16_t *output,
                                    int32_t count, int32_t multiplier, int32_t shift) {
  const uint16_t *const points = intarsia_sigmoid_points();
#if INTARSIA_HAS_MVE
  // Where nothing is shifted is known before the loop: each of the two has its own.
  if (shift == 0)
    evaluate_eights(c, points, input, output, count, multiplier, 0);
  else
    evaluate_eights(c, points, input, output, count, multiplier, shift);
#else
#if INTARSIA_HAS_DSP_WORDS
  // The last of an odd number first, so that its numbers are no longer in registers.
  const int32_t odd = count & 1;
  input += count - odd, output += count - odd;
  if (odd) *output = (int16_t)on_curve(c, points, *input, multiplier, shift);
  count -= odd;
  evaluate_pairs(c, points, input - count, output - count, count, (multiplier << 16) | shift);
#else
  for (; count > 0; --count) *output++ = (int16_t)on_curve(c, points, *input++, multiplier, shift);
#endif
#endif
}

void intarsia_each_sigmoid_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t shift) {
  const struct curve sigmoid = SIGMOID;
  evaluate_curve(sigmoid, input, output, count, multiplier, shift);
}

void intarsia_each_tanh_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t shift) {
  const struct curve tanh = TANH;
  evaluate_curve(tanh, input, output, count, multiplier, shift);
}
