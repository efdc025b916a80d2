// Average and maximum over windows of an int8 image.
#ifndef INTARSIA_CORTEX_M_POOL_H_
#define INTARSIA_CORTEX_M_POOL_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// in_c == out_c >= 4. Only elements inside the input count, and each window has some; averages are of windows of 255
// elements at most, rounded to the nearest, halves away from zero. Results are limited to low .. high.
void intarsia_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                              int8_t *output);
void intarsia_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                          int8_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_POOL_H_
