// Operators with weights: their constants as the NPU takes them, and what all their windows must
// meet.
#pragma once

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/window_axis.h"

namespace intarsia::targets::ethos_u {

// Operand 1 as it lies in the model.
Weights read_weights(const Site& site);
// Scales of all output channels, with the bias of operand 2.
std::vector<ChannelScale> channel_scales(const Site& site, size_t channels);

// Constants, scales, bias and sums of weights. `per_channel` weights belong to one output channel;
// they lie `stride` apart from each other, and the channels `channel_stride`.
Reason check_weights(const Site& site, size_t channels, size_t per_channel, size_t channel_stride,
                     size_t stride);
// Height and elements of a dilated kernel.
Reason check_kernel(const WindowAxis& y, const WindowAxis& x);

// Channels first .. first + count - 1.
Operand channels(const Operand& operand, int64_t first, int64_t count);

// With the node's range and rounding.
void emit_weighted(Builder& builder, Operation op, const Site& site, graph::Activation activation);

}  // namespace intarsia::targets::ethos_u
