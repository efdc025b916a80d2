// The table of struct intarsia_channel: how each output channel starts its sums and ends them.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/plugin/quantization.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

// Weights of one operator as rows, one per output channel.
using WeightRows = std::vector<std::vector<int8_t>>;
// One after another, each filled with zeros to `run` bytes.
std::vector<uint8_t> filled_rows(const WeightRows& rows, int64_t run);

struct Channel {
  int64_t bias;  // with the input's zero point
  operators::Multiplier multiplier;
};

struct Channels {
  std::vector<Channel> list;
  int64_t out_zero;
  bool quick;           // the quick arithmetic of device/results.h covers them
  bool shared = false;  // small code: one kernel for every range of results

  // struct intarsia_channel, one after another.
  std::vector<uint8_t> table() const;
  // Of each channel its multiplier, 24 less its shift, its bias, its rounding.
  std::vector<uint8_t> scalar_table() const;
  // Blocks of as many channels as `order` has: their biases; then, in that order, their multipliers, roundings, and 24
  // less their shifts. Channels beyond the last have zeros.
  std::vector<uint8_t> block_table(const std::vector<size_t>& order) const;
  // Where all channels have one multiplier: it, its rounding, 24 less its shift; then the biases, and zeros up to whole blocks.
  std::optional<std::vector<uint8_t>> shared_table(size_t block) const;
};

// The first channels of blocks of `lanes` <= channels; the last overlaps the one before rather than
// reach beyond.
std::vector<int64_t> blocks_of(int64_t channels, int64_t lanes);

// Of as many rows as there are channels, or all of them several times over. None when a folded bias leaves 32 bits.
std::optional<Channels> make_channels(const OpView& view, const WeightRows& rows,
                                      const std::vector<operators::Multiplier>& multipliers);

// The same of weights with more bits.
std::optional<Channels> make_channels(const OpView& view,
                                      const std::vector<std::vector<int16_t>>& rows,
                                      const std::vector<operators::Multiplier>& multipliers);

// The kernel of a family for the way from sums to results: _s8, _limited_s8 or _any_s8.
std::string kernel_for(const std::string& family, const Channels& channels, const Window& window);
// Of families that have _rectified_s8 as well.
std::string dsp_kernel_for(const std::string& family, const Channels& channels,
                           const Window& window);

// Int8 activations with constant weights, int8 too or int16 (of nine bits), and a constant or absent 32-bit bias.
bool is_int8_dot_product(const OpView& view, DataType weights = DataType::Int8);
// Limits of the fused activation.
operators::Range output_range(const OpView& view, graph::Activation activation);

}  // namespace intarsia::targets::cortex_m
