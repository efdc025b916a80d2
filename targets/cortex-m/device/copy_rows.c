// Rows of elements from one place to another: of tensors that are joined, taken apart or cut.
#include "intarsia/targets/cortex_m/copy_rows.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/mve_strip.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

// Counts and steps in bytes.
static void copy_rows(const void *from_bytes, void *to_bytes, int32_t rows, int32_t each,
                      int32_t from_step, int32_t to_step) {
  const int8_t *from = (const int8_t *)from_bytes;
  int8_t *to = (int8_t *)to_bytes;
#if INTARSIA_HAS_MVE
  if (each <= 2 * kStripLanes) {
    for (int32_t c = 0; c < each; c += kStripLanes)
      intarsia_strip_columns(from + c, to + c, rows, intarsia_clamp_i32(each - c, 0, kStripLanes),
                             from_step, to_step);
    return;
  }
#endif
  for (; rows > 0; --rows, from += from_step, to += to_step) (void)intarsia_copy(to, from, each);
}

void intarsia_copy_rows_s8(const int8_t *from, int8_t *to, int32_t rows, int32_t count,
                           int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, count, from_step, to_step);
}
void intarsia_copy_rows_s16(const int16_t *from, int16_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 2 * count, 2 * from_step, 2 * to_step);
}
void intarsia_copy_rows_s32(const int32_t *from, int32_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 4 * count, 4 * from_step, 4 * to_step);
}
void intarsia_copy_rows_f32(const float *from, float *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 4 * count, 4 * from_step, 4 * to_step);
}

// With Helium a vector at a time; elsewhere words, the last of which overlaps the one before.
#if INTARSIA_HAS_MVE
#define SPREAD(dup, store, context, lanes)                          \
  for (; count > 0; --count, ++from) {                              \
    const uint32_t some = (uint32_t)times;                          \
    for (int32_t done = 0; done < times; done += (lanes))           \
      store(to + done, dup(*from), context(some - (uint32_t)done)); \
    to += times;                                                    \
  }
#else
INTARSIA_INLINE void spread_words(uint32_t word, int8_t *to, int32_t bytes) {
  const int32_t last = bytes - 4;
  for (int32_t done = 0; done < last; done += 4) memcpy(to + done, &word, sizeof word);
  memcpy(to + last, &word, sizeof word);
}
#endif

void intarsia_spread_s8(const int8_t *from, int8_t *to, int32_t count, int32_t times) {
#if INTARSIA_HAS_MVE
  SPREAD(vdupq_n_s8, vstrbq_p_s8, vctp8q, 16)
#else
  for (; count > 0; --count, ++from, to += times)
    if (times >= 4)
      spread_words((uint8_t)*from * 0x01010101u, to, times);
    else
      for (int32_t i = 0; i < times; ++i) to[i] = *from;
#endif
}
void intarsia_spread_s16(const int16_t *from, int16_t *to, int32_t count, int32_t times) {
#if INTARSIA_HAS_MVE
  SPREAD(vdupq_n_s16, vstrhq_p_s16, vctp16q, 8)
#else
  for (; count > 0; --count, ++from, to += times)
    if (times >= 2)
      spread_words((uint16_t)*from * 0x00010001u, (int8_t *)to, 2 * times);
    else
      *to = *from;
#endif
}
void intarsia_spread_f32(const float *from, float *to, int32_t count, int32_t times) {
#if INTARSIA_HAS_MVE && (__ARM_FEATURE_MVE & 2)
  SPREAD(vdupq_n_f32, vstrwq_p_f32, vctp32q, 4)
#else
  for (; count > 0; --count, ++from)
    for (int32_t i = times; i > 0; --i) *to++ = *from;
#endif
}
