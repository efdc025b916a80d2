// The table of struct intarsia_channel: how each output channel starts its sums and ends them.
#pragma once

#include <optional>
#include <vector>

#include "kernels.h"
#include "standard_lowering/quantization.h"

namespace intarsia::targets::cortex_m {

// Weights of one operator as rows, one per output channel.
using WeightRows = std::vector<std::vector<int8_t>>;

struct Channels {
  bool quick;  // the quick arithmetic of device/results.h covers them
  std::vector<uint8_t> bytes;
};

// None when a folded bias leaves 32 bits.
std::optional<Channels> make_channels(const OpView& view, const WeightRows& rows,
                                      const std::vector<standard_lowering::Multiplier>& multipliers);

// Int8 throughout with constant weights and a constant or absent 32-bit bias.
bool is_int8_dot_product(const OpView& view);
// Limits of the fused activation.
standard_lowering::Range output_range(const OpView& view, graph::Activation activation);

}  // namespace intarsia::targets::cortex_m
