// Small random networks in which channels are dead in every way there is: weights of zeros with all
// kinds of biases and clamps, weights that read a channel with zeros, behind padding, strides, pools,
// residual additions and flattening.
#pragma once

#include "intarsia/graph.h"
#include "support/random_operator.h"

namespace intarsia::testing {

struct NetworkSizes {
  int64_t most_images = 2, most_rows = 9;  // of the input
  int64_t channel_unit = 1;                // numbers of channels are multiples of it
};

// A verified module of at most about a dozen operators on integers of the type (Int8 or Int16).
graph::Module random_network(Random& random, DataType type, const NetworkSizes& sizes = {});

}  // namespace intarsia::testing
