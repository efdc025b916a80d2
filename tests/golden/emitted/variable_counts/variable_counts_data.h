/* variable_counts: weights and tables. Generated file, included by variable_counts.c alone. */
#ifndef VARIABLE_COUNTS_DATA_H
#define VARIABLE_COUNTS_DATA_H

#include <stdint.h>

#include "intarsia/contract/placement.h"

static const float variable_counts_read_state_initial[3] INTARSIA_WEIGHTS = {
  7.0f, 7.0f, 7.0f,
};

#endif
