/* variable_counts: weights and tables. Generated file, private to variable_counts.c. */
#ifndef VARIABLE_COUNTS_DATA_H
#define VARIABLE_COUNTS_DATA_H

#include <stdint.h>

extern const float variable_counts_read_state_initial[3];

#endif
