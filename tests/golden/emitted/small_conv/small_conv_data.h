/* small_conv: weights and tables. Generated file, included by small_conv.c alone. */
#ifndef SMALL_CONV_DATA_H
#define SMALL_CONV_DATA_H

#include <stdint.h>

#include "intarsia/contract/placement.h"

_Alignas(4) static const int8_t small_conv_features_weights[18] INTARSIA_WEIGHTS = {
  1, 10, 2, -11, -3, -12, -4, 13, 5, 14, -10, 15, 7, -16, -8, 17, 9, 2,
};

static const int32_t small_conv_features_bias[2] INTARSIA_WEIGHTS = {
  40, -17,
};

_Alignas(4) static const int8_t small_conv_features_shift[2] INTARSIA_WEIGHTS = {
  2, 3,
};

#endif
