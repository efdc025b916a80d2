#ifndef EXAMPLES_FIXED_TABLES_H
#define EXAMPLES_FIXED_TABLES_H

#include <stdint.h>

/* Made by make_tables.py, which has the formulas. */
enum { FIXED_CIRCLE = 512, FIXED_LOG2_PIECES = 64 };

extern const int32_t fixed_sine_q30[FIXED_CIRCLE * 3 / 4];
extern const int32_t fixed_log2_table_q16[FIXED_LOG2_PIECES + 1];

#endif
