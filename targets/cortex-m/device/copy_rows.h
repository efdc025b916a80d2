// Rows of elements that are copied, and elements that become rows: counts and steps in elements.
#ifndef INTARSIA_CORTEX_M_COPY_ROWS_H_
#define INTARSIA_CORTEX_M_COPY_ROWS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void intarsia_copy_rows_s8(const int8_t *from, int8_t *to, int32_t rows, int32_t count,
                           int32_t from_step, int32_t to_step);
void intarsia_copy_rows_s16(const int16_t *from, int16_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step);
void intarsia_copy_rows_s32(const int32_t *from, int32_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step);
void intarsia_copy_rows_f32(const float *from, float *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step);

// Each of `count` elements `times` times behind each other.
void intarsia_spread_s8(const int8_t *from, int8_t *to, int32_t count, int32_t times);
void intarsia_spread_s16(const int16_t *from, int16_t *to, int32_t count, int32_t times);
void intarsia_spread_f32(const float *from, float *to, int32_t count, int32_t times);

// Rows that become columns: element c of row r of the result, whose rows are `to_step` apart, is element r of row c of what is read, whose
// rows are `from_step` apart.
void intarsia_turn_s8(const int8_t *from, int8_t *to, int32_t rows, int32_t columns,
                      int32_t from_step, int32_t to_step);
void intarsia_turn_s16(const int16_t *from, int16_t *to, int32_t rows, int32_t columns,
                       int32_t from_step, int32_t to_step);
void intarsia_turn_f32(const float *from, float *to, int32_t rows, int32_t columns,
                       int32_t from_step, int32_t to_step);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_COPY_ROWS_H_
