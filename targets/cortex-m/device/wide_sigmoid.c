// Sigmoid and tanh of int16: wide_curves.h.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/wide_curves.h"

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
INTARSIA_INLINE void evaluate_pairs(struct intarsia_wide_curve c, const uint16_t *points,
                                    const int16_t *input, int16_t *output, int32_t count,
                                    int32_t scaling) {
  const int32_t one = 1 << c.below, last = INTARSIA_LAST_POINT << c.below;
  const int32_t half = intarsia_half_of(scaling & 0xff), middle = 1 << (c.below + 15),
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

INTARSIA_INLINE void evaluate_curve(struct intarsia_wide_curve c, const int16_t *input,
                                    int16_t *output, int32_t count, int32_t multiplier,
                                    int32_t shift) {
  const uint16_t *const points = intarsia_sigmoid_points();
#if INTARSIA_HAS_MVE
  // Two vectors at a time, since each step of one waits for the one before.
  for (; count >= 8; count -= 8, input += 8, output += 8) {
    const int32x4_t first = intarsia_four_on_curve(c, points, vldrhq_s32(input), multiplier, shift);
    const int32x4_t second =
        intarsia_four_on_curve(c, points, vldrhq_s32(input + 4), multiplier, shift);
    vstrhq_s32(output, first), vstrhq_s32(output + 4, second);
  }
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrhq_p_s32(output,
                 intarsia_four_on_curve(c, points, vldrhq_z_s32(input, some), multiplier, shift),
                 some);
  }
#else
#if INTARSIA_HAS_DSP_WORDS
  // The last of an odd number first, so that its numbers are no longer in registers.
  const int32_t odd = count & 1;
  input += count - odd, output += count - odd;
  if (odd) *output = (int16_t)intarsia_on_curve(c, points, *input, multiplier, shift);
  count -= odd;
  evaluate_pairs(c, points, input - count, output - count, count, (multiplier << 16) | shift);
#else
  for (; count > 0; --count)
    *output++ = (int16_t)intarsia_on_curve(c, points, *input++, multiplier, shift);
#endif
#endif
}

void intarsia_each_sigmoid_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t shift) {
  const struct intarsia_wide_curve sigmoid = INTARSIA_WIDE_SIGMOID;
  evaluate_curve(sigmoid, input, output, count, multiplier, shift);
}

void intarsia_each_tanh_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t shift) {
  const struct intarsia_wide_curve tanh = INTARSIA_WIDE_TANH;
  evaluate_curve(tanh, input, output, count, multiplier, shift);
}
