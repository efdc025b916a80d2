// Images of another size, between four neighbours.
#ifndef INTARSIA_CORTEX_M_RESIZE_H_
#define INTARSIA_CORTEX_M_RESIZE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// places: for each row of the result the offsets in elements of two rows of the input and the weight of the second one in 1 / 1024,
// which is within -1024 and 2047; then the same of columns. Sums have 20 bits of a fraction, and are rounded to the nearest, halves away
// from zero. image, results: elements of one image of the batch.
void intarsia_resize_bilinear_s8(const int8_t *input, int8_t *output, const int32_t *places,
                                 int32_t batches, int32_t image, int32_t rows, int32_t columns,
                                 int32_t channels);
void intarsia_resize_bilinear_s16(const int16_t *input, int16_t *output, const int32_t *places,
                                  int32_t batches, int32_t image, int32_t rows, int32_t columns,
                                  int32_t channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_RESIZE_H_
