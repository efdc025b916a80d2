// How channels (the last axis of a tensor) pass through an operator: what the removal of dead channels is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::operators {

int64_t channel_count(const graph::Tensor& tensor);  // 1 for a scalar

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

// ---- rules that several operators have; those of a constant are opaque: nothing of it is removed ------------------------

bool is_constant(const graph::Function& function, const graph::Node& node,
                 size_t operand);  // or absent
ChannelRule opaque(const graph::Function& function, const graph::Node& node);
// Output channel k is made of channel k of the first operand.
ChannelRule each_channel(const graph::Function& function, const graph::Node& node);
// Of the first two, broadcast.
ChannelRule each_channel_of_two(const graph::Function& function, const graph::Node& node);

}  // namespace intarsia::operators
