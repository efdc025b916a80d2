// Weights and tables as the kernels on int16 activations (device/wide_dot.h) and some on int8 ones (device/byte_dot.h) read them.
#pragma once

#include <optional>

#include "conv.h"

namespace intarsia::targets::cortex_m {

constexpr int64_t kWideLanes = 4;

// "intarsia_dsp_" or "intarsia_mve_".
std::string wide_prefix(CoreClass core);
bool has_wide_kernels(CoreClass core);
// Elements of a run, filled to a whole group.
int64_t wide_run(CoreClass core, int64_t count);

// Rows of equal length by blocks of four, the last filled with zeros.
std::vector<uint8_t> wide_weights(CoreClass core, const WeightRows& rows);

// The same for the kernels on int8 activations (device/byte_dot.h), and what the sum of each row begins with for a zero point of these.
int64_t byte_run(CoreClass core, int64_t count);
std::vector<uint8_t> byte_weights(CoreClass core, const WeightRows& rows);
int64_t zero_point_share(const std::vector<int8_t>& row, int64_t zero_point);

// [count / row][row] of an operator's constant weights.
WeightRows weight_rows(const OpView& view, size_t input, int64_t rows);

// Int16 activations without zero points and constant weights of int8.
bool is_wide_product(const OpView& view);
// Of kernels whose sums and products are of 32 bits, one for each row of weights, which the operator's channels are once or several
// times over; none if a sum may leave them, or the shift is too near or too far.
std::optional<std::vector<WideChannel>> short_channels(
    const OpView& view, const WeightRows& rows,
    const std::vector<operators::Multiplier>& multipliers);
// Of intarsia_dsp_conv_s16.
ConvConstants dsp_wide_conv_constants(const WideConv& conv);
// A channel's bias, multiplier, half of the last bit and shift to the right.
void append_channel(std::vector<uint8_t>& bytes, const WideChannel& channel);

void append_word(std::vector<uint8_t>& bytes, int64_t value);
// The lower half of 64 bits, then the upper.
void append_wide(std::vector<uint8_t>& bytes, int64_t value);

}  // namespace intarsia::targets::cortex_m
