// How channels (the last axis of a tensor) pass through operators: what dead channel removal is made of.
//
// Removal must be the same on both sides of an operator that computes each channel on its own, so
// channels form classes that go or stay together. Convolutions and fully connected layers end a class
// and begin another. Any operator without a rule here needs and makes all channels.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"
#include "operators/channel_rule.h"

namespace intarsia::passes {

using operators::channel_count;
using operators::ChannelFlow;
using operators::ChannelRule;
using operators::ChannelTie;

// Numbers of all channels of all tensors of a function.
class ChannelNumbers {
 public:
  explicit ChannelNumbers(const graph::Function& function);
  size_t of(graph::TensorId id, int64_t channel) const {
    return first_[id.at()] + static_cast<size_t>(channel);
  }
  size_t count() const { return count_; }

 private:
  std::vector<size_t> first_;
  size_t count_ = 0;
};

// Two operands, broadcast, each output channel made of the same channel of both.
bool is_binary(graph::OpKind kind);
// One operand; every output element is made of one input element and of nothing else.
bool is_unary(graph::OpKind kind);

ChannelRule channel_rule(const graph::Function& function, const graph::Node& node);

// The weights of a Weighted node as W[output channel][position][column]. A column belongs to input
// channel `column % channels`; for a fully connected layer there is one position.
struct WeightLayout {
  int64_t filters, positions, columns, channels;
};
WeightLayout weight_layout(const graph::Function& function, const graph::Node& node);

}  // namespace intarsia::passes
