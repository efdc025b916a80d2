// The accumulators of a convolution or fully connected layer, from bias to stored result.
//
// Several output channels (lanes) are computed side by side: they share every load of an input.
// An input zero point z costs a subtraction per input, unless every output sees all weights of
// its channel: then -z * sum(weights) is a constant that joins the bias.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

// The most lanes that divide the channels: as many as Armv6-M has registers for.
int64_t lane_count(int64_t channels);

class DotProduct {
 public:
  struct Options {
    int64_t channels;
    int64_t lanes;
    bool channel_is_first;  // weights are [channel, ...], else [..., channel]
    bool clips;             // some outputs see only part of the weights
    graph::Activation activation;
    std::vector<Multiplier> multipliers;  // empty for float
  };

  // The bias's extents when it is an operand to declare, none when it is absent or becomes a table.
  static std::optional<Shape> bias_shape(const OpView& view, int64_t channels);

  // After the operator's operands are declared.
  DotProduct(OpLowering& op, const Options& options);

  // `channel` is that of lane 0.
  Stmt begin(const Expr& channel) const;  // accumulators = bias
  // accumulators += input * weights[lane]
  Stmt accumulate(const Expr& input, const std::vector<Expr>& weights) const;
  // accumulators[lane] += inputs[lane] * weights[lane]
  Stmt accumulate(const std::vector<Expr>& inputs, const std::vector<Expr>& weights) const;
  // Stores results at `place`, whose last index is the channel.
  Stmt finish(std::vector<Expr> place) const;

 private:
  Expr centred(const Expr& input) const;
  Expr product(const Expr& centred_input, const Expr& weight) const;
  Expr result(size_t lane, const Expr& channel) const;

  OpLowering& op_;
  std::vector<BufferId> acc_;     // one per lane
  bool wide_sum_ = false;         // in 64 bits
  bool wide_result_ = false;      // and requantised from 64 bits
  int64_t input_zero_point_ = 0;  // still to be subtracted from each input
  std::optional<Table> start_;    // integer bias, perhaps folded
  std::optional<Requantizer> requantizer_;
  FloatRange float_range_;
};

}  // namespace intarsia::operators
