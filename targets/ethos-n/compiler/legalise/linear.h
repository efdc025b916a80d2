// Convolutions of all kinds and averages in one form: along rows and columns, which element of the input each tap of
// each output reads. Folding puts neighbouring rows or columns into channels, where a stride is 1, a dilation gone, and
// a long kernel short: an image lies in memory as its elements one after another, so that it costs nothing.
#pragma once

#include <optional>
#include <vector>

#include "legalise/rewrite.h"

namespace intarsia::targets::ethos_n {

// Rows or columns. Tap k of output o reads element o * stride - before + k * dilation; transposed: tap k of input i
// adds to output i * stride - before + k.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0;
  bool transposed = false;

  // May be outside of the input; nothing: the tap does not meet that output.
  std::optional<int64_t> source(int64_t output, int64_t tap) const;
  int64_t taps_inside(int64_t output) const;
};

// q_out = sum of weight * (q_in - zero point) + bias, scaled, for each output channel of every place.
struct Linear {
  Axis y, x;
  int64_t channels = 1, outputs = 1;
  int64_t channels_of_group = 1, outputs_of_group = 1;
  std::vector<int8_t> weights;  // [output][tap y][tap x][channel of the group]
  std::vector<float> scales;    // of the weights: one, or one for each output
  std::vector<int32_t> biases;  // one for each output
  bool is_average = false;  // scales are of the mean of the taps that are inside, and so are biases
  int32_t nudge = 0;        // added to every sum
  graph::Activation activation = graph::Activation::None;
};

// The operator in this form; none: it is not linear, or its weights are not known or not of 8 bits and zero point 0.
// Its batch is taken for 1.
std::optional<Linear> linear_of(const graph::Module& module, const graph::Function& function,
                                const graph::Node& node);

std::vector<Way> ways_to_fold(const graph::Function& function, const graph::Node& node,
                              const Linear& linear);

}  // namespace intarsia::targets::ethos_n
