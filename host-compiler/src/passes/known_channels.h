// Which channels no input of the function changes, and their values.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/graph.h"
#include "passes/channel_flow.h"

namespace intarsia::passes {

class KnownChannels {
 public:
  KnownChannels(const graph::Module& module, const graph::Function& function,
                const ChannelNumbers& numbers, const std::vector<ChannelRule>& rules);

  bool known(graph::TensorId id, int64_t channel) const {
    return !depends_[numbers_.of(id, channel)] && !values_[id.at()].empty();
  }
  // Dense elements of the tensor; those of its known channels are the same in every invocation.
  const graph::TensorValue& values(graph::TensorId id) const { return values_[id.at()]; }

 private:
  void follow(const graph::Module& module, const graph::Function& function, const graph::Node& node,
              const ChannelRule& rule);
  void evaluate(const graph::Module& module, const graph::Function& function);

  const ChannelNumbers& numbers_;
  std::vector<bool> depends_;               // on an input or on state, per channel
  std::vector<graph::TensorValue> values_;  // per tensor; empty: not asked for
};

}  // namespace intarsia::passes
