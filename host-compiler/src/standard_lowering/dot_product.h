// The accumulator of a convolution or fully connected layer, from bias to stored result.
//
// An input zero point z costs a subtraction per product, unless every output sees all weights of
// its channel: then -z * sum(weights) is a constant that joins the bias.
#pragma once

#include <optional>
#include <vector>

#include "standard_lowering/op_lowering.h"

namespace intarsia::standard_lowering {

class DotProduct {
 public:
  // The bias's extents when it is an operand to declare, none when it is absent or made a table
  // here.
  static std::optional<Shape> bias_shape(const OpView& view, int64_t channels);

  // After the operator's operands are declared. channel_is_first: weights are [channel, ...], else
  // [..., channel]. clips: some outputs see only part of the weights.
  DotProduct(OpLowering& op, int64_t channels, bool channel_is_first, bool clips,
             graph::Activation activation, const std::vector<Multiplier>& multipliers);

  Stmt begin(const Expr& channel) const;  // accumulator = bias
  Stmt accumulate(const Expr& input, const Expr& weight) const;
  Expr result(const Expr& channel) const;  // of the output's type

 private:
  OpLowering& op_;
  BufferId acc_;
  int64_t input_zero_point_ = 0;  // still to be subtracted from each input
  std::optional<Table> start_;    // integer bias, perhaps folded
  std::optional<Requantizer> requantizer_;
  FloatRange float_range_;
};

}  // namespace intarsia::standard_lowering
