// What a known input channel adds to the sums of a convolution or fully connected layer.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "intarsia/graph.h"
#include "passes/channel_flow.h"
#include "passes/known_channels.h"

namespace intarsia::passes {

class ConstantPart {
 public:
  ConstantPart(const graph::Module& module, const graph::Function& function,
               const graph::Node& node, const KnownChannels& known);

  // The sum over the window of (element - zero point) * weight for one output and one input channel,
  // when it is the same at every place of the output, borders included: then it can go to the bias.
  // Zero when all these weights are zero, whatever the channel holds.
  std::optional<int64_t> of(int64_t output, int64_t input);

 private:
  enum class State : uint8_t { New, Zero, Fixed, Varies };

  std::optional<int64_t> compute(int64_t output, int64_t input) const;
  std::optional<int64_t> conv_part(int64_t output, int64_t input) const;
  std::optional<int64_t> connected_part(int64_t output, int64_t input) const;
  int64_t weight(int64_t output, int64_t position, int64_t column) const;
  int64_t element(int64_t index) const;  // less the zero point

  const graph::Function& function_;
  const graph::Node& node_;
  const KnownChannels& known_;
  const graph::Tensor& input_;
  const graph::Tensor& weights_;
  const uint8_t* weight_bytes_;
  WeightLayout layout_;
  // [output][input]: as many as weights in a fully connected layer, so that parts have a place only
  // where there is something to keep.
  std::vector<State> state_;
  std::unordered_map<size_t, int64_t> part_;
};

}  // namespace intarsia::passes
