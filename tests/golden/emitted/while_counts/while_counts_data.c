/* while_counts: weights and tables. Generated file. */
#include "while_counts_data.h"

#include "intarsia/contract/placement.h"

const int32_t while_counts_t1_begin0_a[1] INTARSIA_WEIGHTS = {
  0,
};

const int32_t while_counts_t2_weights[1] INTARSIA_WEIGHTS = {
  1,
};
