/* while_counts: weights and tables. Generated file, included by while_counts.c alone. */
#ifndef WHILE_COUNTS_DATA_H
#define WHILE_COUNTS_DATA_H

#include <stdint.h>

#include "intarsia/contract/placement.h"

static const int32_t while_counts_t1_begin0_a[1] INTARSIA_WEIGHTS = {
  0,
};

static const int32_t while_counts_t2_weights[1] INTARSIA_WEIGHTS = {
  1,
};

#endif
