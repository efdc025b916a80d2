/* variable_counts: weights and tables. Generated file. */
#include "variable_counts_data.h"

#include "intarsia/contract/placement.h"

const float variable_counts_read_state_initial[3] INTARSIA_WEIGHTS = {
  7.0f, 7.0f, 7.0f,
};
