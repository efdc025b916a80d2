// How channels (the last axis of a tensor) pass through operators: what dead channel removal is made of.
//
// Removal must be the same on both sides of an operator that computes each channel on its own, so
// channels form classes that go or stay together. Convolutions and fully connected layers end a class
// and begin another. Any operator without a rule here needs and makes all channels.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::passes {

int64_t channel_count(const graph::Tensor& tensor);  // 1 for a scalar

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

// Channel `out` of the node's output is made of channel `in` of operand `operand` and of its own
// constants; an output channel may have several ties, or none when the node makes it of nothing.
struct ChannelTie {
  size_t operand;
  int64_t in, out;
};

enum class ChannelFlow : uint8_t {
  Opaque,    // needs all channels of all operands, makes all
  Tied,      // `ties` says all
  Weighted,  // every output channel is a sum over input channels, with the weights of operand 1
};

struct ChannelRule {
  ChannelFlow flow = ChannelFlow::Opaque;
  std::vector<ChannelTie> ties;
  // Operands with one channel that all output channels read; they need it.
  std::vector<size_t> broadcast;
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
