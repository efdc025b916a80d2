// Cuts channels out of tensors and constants, once it is decided which.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"
#include "passes/channel_flow.h"

namespace intarsia::passes {

struct ChannelCut {
  std::vector<std::vector<int64_t>> kept;  // per tensor that is no constant, ascending
  std::vector<std::vector<int64_t>> bias;  // per Weighted node: what each kept output's bias gains
};

// The bias of one output channel, 0 without one.
int64_t bias_of(const graph::Module& module, const graph::Function& function,
                const graph::Node& node, int64_t channel);

// `rules` are those of the function's nodes. Constants that change are new ones.
void cut_channels(graph::Module& module, graph::Function& function,
                  const std::vector<ChannelRule>& rules, const ChannelCut& cut);

}  // namespace intarsia::passes
