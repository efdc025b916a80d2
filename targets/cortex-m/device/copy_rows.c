// Rows of elements from one place to another: of tensors that are joined, taken apart or cut.
#include "intarsia/targets/cortex_m/copy_rows.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/mve_strip.h"

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
