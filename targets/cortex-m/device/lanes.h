// Sixteen 32-bit lanes, held by what the compiler's flags offer: AVX-512 with its dot products, AVX2, NEON with or without dot products,
// or plain C. Every way gives the same sums, to the bit: no product or sum of two of them saturates.
//
// A backend defines
//   kIntarsiaRaise         what the sign bit of staged elements is changed by: 0, or 0x80 where products take unsigned elements;
//                          intarsia_stage() copies elements so
//   kIntarsiaPixels, kIntarsiaWidePixels, kIntarsiaWideBlocks   how many pixels, and blocks of sixteen channels, share their loads;
//   kIntarsiaTwoBlocks     pixels of two blocks, 0 where there are too few registers
//   struct intarsia_dots   sixteen sums while they grow: intarsia_dots_begin() and intarsia_dots_end() with a block's table, which
//                          gives struct intarsia_sums; intarsia_dot() adds products of
//   struct intarsia_elements, struct intarsia_weights   four elements of a window, the same for all lanes, and sixteen by four weights
//   intarsia_finish()      to int8 (device/results.h has the proof)
//   kIntarsiaLine          elements of a line that intarsia_line() makes of taps (lanes_depthwise.c)
// and for element-wise work (lanes_elements.c, lanes_pool.c), of struct intarsia_sums:
//   intarsia_each()        one number in all lanes; intarsia_widened(): sixteen bytes
//   intarsia_added(), intarsia_multiplied(), intarsia_shifted() to the right, of one number for all lanes
//   intarsia_high()        (2 * lane * multiplier + 2^31) / 2^32, for multipliers from zero on
//   struct intarsia_pairs  sixteen bytes of two operands each, intarsia_paired(); intarsia_pair_products() by the halves of a word
//   intarsia_narrowed()    sixteen bytes, saturated and limited; intarsia_greater() of sixteen bytes each
#ifndef INTARSIA_CORTEX_M_LANES_H_
#define INTARSIA_CORTEX_M_LANES_H_

#include <string.h>

#include "intarsia/targets/cortex_m/lanes_conv.h"
#include "intarsia/targets/cortex_m/results.h"

enum {
  kIntarsiaVector = 16,
  kIntarsiaTableRows = 5,
  kIntarsiaTable = kIntarsiaTableRows * kIntarsiaVector,  // words for sixteen channels
  kIntarsiaRaisedBias = 1,                                // rows of the table
  kIntarsiaMultipliers = 2,
  kIntarsiaRoundings = 3,
  kIntarsiaShifts = 4,
};

// How sums become results.
struct intarsia_range {
  int32_t low, high;
  bool any;  // multipliers and sums of any size
  bool
      rectified;  // the lowest result is the zero point: how halves below it are rounded does not matter (results.h)
};

INTARSIA_INLINE struct intarsia_range intarsia_range_of(const struct intarsia_window *w, bool any) {
  return (struct intarsia_range){w->low, w->high, any, w->low == w->out_zero};
}

// A table of `width` channels: rows lie `width` words apart.
INTARSIA_INLINE void intarsia_finish_any(const int32_t *sums, const int32_t *table, int32_t width,
                                         struct intarsia_range range, int8_t *output,
                                         int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t scaled = intarsia_requantize(sums[i], table[kIntarsiaMultipliers * width + i],
                                               table[kIntarsiaShifts * width + i]);
    output[i] = (int8_t)intarsia_clamp_i32(scaled + table[kIntarsiaRoundings * width + i],
                                           range.low, range.high);
  }
}

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "intarsia/targets/cortex_m/lanes_avx512.h"
#else
#if defined(__AVX2__)
#include "intarsia/targets/cortex_m/lanes_avx2.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include "intarsia/targets/cortex_m/lanes_neon.h"
#else
#include "intarsia/targets/cortex_m/lanes_plain.h"
#endif
#include "intarsia/targets/cortex_m/lanes_sixteen.h"
#endif

// Halves are rounded away from zero: a negative value is one less before the half is added.
INTARSIA_INLINE struct intarsia_sums intarsia_rounded(struct intarsia_sums lanes,
                                                      struct intarsia_sums half, int32_t shift) {
  const struct intarsia_sums signs = intarsia_shifted(lanes, 31);
  return intarsia_shifted(intarsia_added(intarsia_added(lanes, signs), half), shift);
}

// Loops over registers are written out, or the registers would be memory.
#if defined(__GNUC__) && !defined(__clang__)
#define INTARSIA_WRITTEN_OUT _Pragma("GCC unroll 16")
#elif defined(__clang__)
#define INTARSIA_WRITTEN_OUT _Pragma("unroll")
#else
#define INTARSIA_WRITTEN_OUT
#endif

#endif  // INTARSIA_CORTEX_M_LANES_H_
