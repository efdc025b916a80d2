/* small_conv: weights and tables. Generated file. */
#include "small_conv_data.h"

#include "intarsia/contract/placement.h"

_Alignas(4) const int8_t small_conv_features_weights[18] INTARSIA_WEIGHTS = {
  1, 10, 2, -11, -3, -12, -4, 13, 5, 14, -10, 15, 7, -16, -8, 17, 9, 2,
};

const int32_t small_conv_features_bias[2] INTARSIA_WEIGHTS = {
  40, -17,
};

_Alignas(4) const int8_t small_conv_features_shift[2] INTARSIA_WEIGHTS = {
  2, 3,
};
