// Rows whose elements come from anywhere in a row of what is read: groups of channels that are shuffled, every second element.
#ifndef INTARSIA_CORTEX_M_PICK_ROWS_H_
#define INTARSIA_CORTEX_M_PICK_ROWS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Element i of each row is element places[i], without a sign, of the row that is read. Counts and steps in elements.
void intarsia_pick_rows_s8(const int8_t *from, int8_t *to, const int8_t *places, int32_t rows,
                           int32_t count, int32_t from_step);
void intarsia_pick_rows_s16(const int16_t *from, int16_t *to, const int16_t *places, int32_t rows,
                            int32_t count, int32_t from_step);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_PICK_ROWS_H_
