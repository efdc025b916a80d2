// Numbers of TFLite's quantised arithmetic that are known at compile time: fixed-point multipliers,
// clamping ranges. All of them follow TFLite's own evaluation order (which products are float and
// which double), because the last bit of a multiplier decides results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/graph/data_type.h"

namespace intarsia::operators {

// A real factor as value * 2^(shift - 31); 2^30 <= value < 2^31 unless it is zero.
struct Multiplier {
  int32_t value = 0;
  int32_t shift = 0;
  bool operator==(const Multiplier&) const = default;
};

// The nearest multiplier; halves away from zero. Factors below 2^-32 become zero.
Multiplier quantize_multiplier(double factor);

// How a 64-bit value is multiplied: value * 2^-shift, value below 2^15.
struct WideMultiplier {
  int32_t value = 0, shift = 0;
};
WideMultiplier wide_multiplier(Multiplier m);

// The factor is exactly one: requantising is a change of zero point.
inline bool is_identity(Multiplier m) {
  return m.value == 1 << 30 && m.shift == 1;
}

struct Range {
  int64_t low = 0, high = 0;
};
Range type_range(DataType type);

// Limits of a fused activation on a quantised result.
Range activation_range(graph::Activation activation, DataType type, double scale,
                       int64_t zero_point);

struct FloatRange {
  std::optional<float> low, high;
};
FloatRange activation_range(graph::Activation activation);

// Rescaling of accumulators, one per channel or a single one for all.
std::vector<Multiplier> conv_multipliers(const graph::Quantization& input,
                                         const graph::Quantization& weights,
                                         const graph::Quantization& output);

// Both operands are brought to half of the larger scale with `left_shift` bits more, then added.
struct AddRescaling {
  int32_t left_shift;
  Multiplier a, b, output;
};
// None when a factor is not below one (scales too far apart for the arithmetic).
std::optional<AddRescaling> add_rescaling(DataType type, double a, double b, double output);

std::optional<AddRescaling> squared_difference_rescaling(DataType type, double a, double b,
                                                         float output);

// The factor scale * beta of the exponent in Q5.26 and the smallest difference that matters.
struct SoftmaxScaling {
  Multiplier multiplier;
  int32_t diff_min;
};
// None when scale * beta is not above 0.
std::optional<SoftmaxScaling> softmax_scaling(double scale, double beta);

// Rescaling of a sum of `count` elements to their mean.
Multiplier mean_multiplier(double input_scale, double output_scale, int64_t count);

}  // namespace intarsia::operators
