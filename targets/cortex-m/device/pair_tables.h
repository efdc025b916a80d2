// Functions of two elements of int8 by tables of one of them.
#ifndef INTARSIA_CORTEX_M_PAIR_TABLES_H_
#define INTARSIA_CORTEX_M_PAIR_TABLES_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of each a, from 0 to 127 and then from -128 to -1, a bound: 1 for every b above it, else 0; with `inverted` 1 the other way round.
void intarsia_each_above_s8(const int8_t *a, const int8_t *b, bool *output, const int16_t *bounds,
                            int32_t count, int32_t inverted);
// The same of two bounds of each a, all first ones before all second ones: 1 for b above the first, but not above the second.
void intarsia_each_between_s8(const int8_t *a, const int8_t *b, bool *output, const int16_t *bounds,
                              int32_t count, int32_t inverted);

// a / b: (((a - a_zero) * slope of b) / 2^9 + round) / 2^13, both rounded down, as an int8 that saturates. Slopes are in the order of
// bounds.
void intarsia_each_quotient_s8(const int8_t *a, const int8_t *b, int8_t *output,
                               const int32_t *slopes, int32_t count, int32_t a_zero, int32_t round);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_PAIR_TABLES_H_
