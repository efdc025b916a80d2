// How real factors become the NPU's multipliers and shifts, and what the NPU makes of them. TFLite
// computes some factors in double and some in float; the last bit of a result depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "intarsia/graph.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

// TFLite's form of a real factor: value / 2^31 * 2^exponent.
struct FixedFactor {
  int32_t value = 0;
  int exponent = 0;
};
FixedFactor fixed_factor(double real);

// The same factor in the NPU's form, where a rounding shift right by up to 63 follows the product.
// Nothing when it would have to shift left.
std::optional<ChannelScale> channel_scale(const FixedFactor& factor);
inline std::optional<ChannelScale> channel_scale(double real) {
  return channel_scale(fixed_factor(real));
}
// The factor with a 15-bit fraction, as TFLite uses it for 64-bit accumulators.
std::optional<ChannelScale> reduced_channel_scale(double real);

// What the output stage makes of an accumulator: its three ways to round (ETHOS-U reference,
// section "rounding").
int64_t scaled(int64_t value, const ChannelScale& scale, Rounding rounding);

// TFLite's product of a 32-bit value and a factor: rounded to the high half, then once more.
int32_t multiply(int32_t value, const FixedFactor& factor);
// Divided by 2^shift, to nearest, ties away from zero.
int32_t rounding_shift_right(int32_t value, int shift);

double scale_of(const graph::Tensor& tensor, size_t channel = 0);
int32_t zero_point_of(const graph::Tensor& tensor);

// What an activation lets pass, in the output's steps; the type's range without one.
struct Clamp {
  int32_t low, high;
  bool operator==(const Clamp&) const = default;
};
Clamp range_of(DataType type);
Clamp clamp_of(graph::Activation activation, const graph::Tensor& output);

}  // namespace intarsia::targets::ethos_u
