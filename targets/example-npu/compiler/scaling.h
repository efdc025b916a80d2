// Real factors as the device takes them: TFLite's quantised multipliers.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/graph.h"

namespace intarsia::targets::example_npu {

// multiplier / 2^31 * 2^left_shift / 2^right_shift; one of the shifts is 0.
struct Factor {
  int32_t multiplier = 0;
  int32_t left_shift = 0, right_shift = 0;
};
Factor make_factor(double real);

// Operands are brought to a common scale with kAddLeftShift more bits, added, and brought to the
// output's.
struct AddFactors {
  Factor a, b, out;
};
AddFactors add_factors(const graph::Tensor& a, const graph::Tensor& b, const graph::Tensor& out);

Factor mul_factor(const graph::Tensor& a, const graph::Tensor& b, const graph::Tensor& out);

struct Clamp {
  int64_t low = -128, high = 127;
};
// Null for an activation the device does not have.
std::optional<Clamp> clamp_of(graph::Activation activation, const graph::Quantization& output);

}  // namespace intarsia::targets::example_npu
