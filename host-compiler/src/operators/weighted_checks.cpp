// What operators with weights share, and the rules of windows that slide over an image.
#include "operators/weighted_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "operators/channel_rule.h"

namespace intarsia::operators {

using namespace graph;

void check_padding(OpCheck& check, const Padding2d& padding) {
  check.in_range("padding top", padding.top, 0);
  check.in_range("padding left", padding.left, 0);
  check.in_range("padding bottom", padding.bottom, 0);
  check.in_range("padding right", padding.right, 0);
}

void check_bias(OpCheck& check, int64_t channels) {
  if (!check.has(2)) return;
  const Shape& bias = check.in(2).shape;
  check.require(bias == Shape{channels},
                fmt::format("the bias has to have the shape [{}]", channels));
}

void check_weighted_quantization(OpCheck& check, int32_t axis, int64_t channels,
                                 ScaleFactor* factor) {
  const Tensor &input = check.in(0), &weights = check.in(1), &output = check.out();
  if (input.type == Float32) return;
  const bool symmetric = input.type == Int16;
  check.per_tensor(input, "input", symmetric);
  check.per_tensor(output, "output", symmetric);
  const Quantization& q = weights.quantization;
  if (!check.require(q.present() && q.scale.size() == q.zero_point.size(),
                     "the weights are not quantised"))
    return;
  if (q.per_channel())
    check.require(q.axis == axis && static_cast<int64_t>(q.scale.size()) == channels,
                  fmt::format("the weights have {} scales along axis {}, needs {} along axis {}",
                              q.scale.size(), q.axis, channels, axis));
  check.require(
      std::all_of(q.zero_point.begin(), q.zero_point.end(), [](int64_t z) { return z == 0; }),
      "the zero points of the weights have to be 0");
  if (!check.ok()) return;
  const bool wide = input.type == Int16 && !(check.has(2) && check.in(2).type == Int32);
  for (size_t channel = 0; channel < q.scale.size() && check.ok(); ++channel)
    check.factor(factor(input, weights, output, channel), wide ? kMostExponent64 : kMostExponent32);
}

int64_t window_places(OpCheck& check, std::string_view axis, int64_t extent, const SlidingAxis& w) {
  const int64_t covered = (w.filter - 1) * w.dilation + 1;
  const int64_t padded = extent + w.before + w.after;
  if (!check.require(padded >= covered,
                     fmt::format("the window of {} does not fit into the padded {} of {}", covered,
                                 axis, padded),
                     "give the model a larger input"))
    return 1;
  return (padded - covered) / w.stride + 1;
}

Refusal refuses_weights(const OpView& view) {
  if (view.in(1).type == Int4 && !view.is_constant(1)) return "i4 weights are no constant";
  if (view.in(1).type == Int16) {
    // Sums of others might leave 32 bits.
    constexpr int64_t kMostWeight = 255;
    if (!view.is_constant(1)) return "i16 weights are no constant";
    const auto is_wide = [](int64_t weight) { return std::abs(weight) > kMostWeight; };
    if (std::ranges::any_of(view.values(1), is_wide))
      return fmt::format("i16 weights are beyond -{0}..{0}", kMostWeight);
  }
  return refuses_quantization(view, /*per_channel_weights=*/true);
}

bool has_constant_weights(const Function& function, const Node& node) {
  return !is_constant(function, node, 0) && is_constant(function, node, 1) &&
         is_constant(function, node, 2) && is_integer(function.tensor(node.inputs[0]).type);
}

}  // namespace intarsia::operators
