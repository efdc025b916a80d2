/* while_counts: weights and tables. Generated file, private to while_counts.c. */
#ifndef WHILE_COUNTS_DATA_H
#define WHILE_COUNTS_DATA_H

#include <stdint.h>

extern const int32_t while_counts_t1_begin0_a[1];
extern const int32_t while_counts_t2_weights[1];

#endif
