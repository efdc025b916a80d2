/* small_conv: weights and tables. Generated file, private to small_conv.c. */
#ifndef SMALL_CONV_DATA_H
#define SMALL_CONV_DATA_H

#include <stdint.h>

extern const int8_t small_conv_features_weights[18];
extern const int32_t small_conv_features_bias[2];
extern const int8_t small_conv_features_shift[2];

#endif
