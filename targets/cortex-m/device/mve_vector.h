// Vectors of four 32-bit lanes on cores with Helium, and portable twins.
#ifndef INTARSIA_CORTEX_M_MVE_VECTOR_H_
#define INTARSIA_CORTEX_M_MVE_VECTOR_H_

#include <stdint.h>
#include <string.h>

#include "cortex_m/results.h"

#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)
#define INTARSIA_HAS_MVE 1
#include <arm_mve.h>
#else
#define INTARSIA_HAS_MVE 0
#endif

#if INTARSIA_HAS_MVE
typedef int32x4_t intarsia_lanes;
#else
typedef struct {
  int32_t lane[4];
} intarsia_lanes;
#endif

INTARSIA_INLINE intarsia_lanes intarsia_load_lanes(const int32_t *from) {
#if INTARSIA_HAS_MVE
  return vldrwq_s32(from);
#else
  intarsia_lanes lanes;
  memcpy(lanes.lane, from, sizeof lanes.lane);
  return lanes;
#endif
}

// from[at[lane]]
INTARSIA_INLINE intarsia_lanes intarsia_gather_lanes(const int32_t *from, const uint32_t at[4]) {
#if INTARSIA_HAS_MVE
  return vldrwq_gather_shifted_offset_s32(from, vldrwq_u32(at));
#else
  intarsia_lanes lanes;
  for (int lane = 0; lane < 4; ++lane) lanes.lane[lane] = from[at[lane]];
  return lanes;
#endif
}

// sums * multiplier / 2^31 * 2^shift, -31 <= shift <= -1, rounded as TFLite does, plus zero, within
// [low, high].
INTARSIA_INLINE intarsia_lanes intarsia_requantize_lanes(intarsia_lanes sums, intarsia_lanes multiplier,
                                                         intarsia_lanes shift, int32_t zero, int32_t low,
                                                         int32_t high) {
#if INTARSIA_HAS_MVE
  const int32x4_t scaled = vqrdmulhq_s32(sums, multiplier);
  // VRSHL rounds halves up; a negative value is one less first, so that they go away from zero.
  const int32x4_t rounded = vrshlq_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), shift);
  return vminq_s32(vmaxq_s32(vaddq_n_s32(rounded, zero), vdupq_n_s32(low)), vdupq_n_s32(high));
#else
  for (int lane = 0; lane < 4; ++lane) {
    const int32_t value =
        intarsia_requantize_right(sums.lane[lane], multiplier.lane[lane], -shift.lane[lane]) + zero;
    sums.lane[lane] = intarsia_clamp_i32(value, low, high);
  }
  return sums;
#endif
}

// to[at[lane]] = the lane's low byte.
INTARSIA_INLINE void intarsia_scatter_bytes(int8_t *to, const uint32_t at[4], intarsia_lanes lanes) {
#if INTARSIA_HAS_MVE
  vstrbq_scatter_offset_s32(to, vldrwq_u32(at), lanes);
#else
  for (int lane = 0; lane < 4; ++lane) to[at[lane]] = (int8_t)lanes.lane[lane];
#endif
}

#endif  // INTARSIA_CORTEX_M_MVE_VECTOR_H_
