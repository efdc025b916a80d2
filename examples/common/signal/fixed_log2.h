#ifndef EXAMPLES_FIXED_LOG2_H
#define EXAMPLES_FIXED_LOG2_H

#include <stdint.h>

/* 2^16 times the logarithm to base 2, for `value` from 1; 0 gives 0. The place of the highest bit is the integer part;
 * the rest is interpolated linearly in a table of 64 pieces, whose error is at most 1 / (8 * 64^2 * ln 2) = 0.000044,
 * and the rounding of the table. */
int32_t fixed_log2_q16(uint64_t value);

/* 10 log10(numerator / denominator) in hundredths of a decibel, both from 1. */
int32_t fixed_centibel(uint64_t numerator, uint64_t denominator);

#endif
