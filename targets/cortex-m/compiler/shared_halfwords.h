// Weights of two channels in one halfword, 256 * B + A, as device/dsp_dot.h says.
#pragma once

#include <optional>
#include <vector>

#include "channels.h"

namespace intarsia::targets::cortex_m {

// Blocks of four channels, of which the last overlaps the one before, in runs of a multiple of four elements that are filled up with
// zeros: of each group of four the halfwords of elements 0, 2 for A and B, then C and D; of elements 1, 3 alike.
// Nothing when two weights do not fit a halfword.
std::optional<std::vector<uint8_t>> shared_halfwords(const WeightRows& rows, int64_t run);

// Whether no sum of B or D leaves 24 bits, whatever the inputs.
bool shared_sums_fit(const WeightRows& rows);

// struct intarsia_channel of the channels of each block, with the biases of B and D doubled where the quick arithmetic doubles sums.
std::vector<uint8_t> shared_table(const Channels& channels);

}  // namespace intarsia::targets::cortex_m
