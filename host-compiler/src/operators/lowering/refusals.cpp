#include <algorithm>

#include <fmt/format.h>

#include "operators/lowering/refusals.h"

namespace intarsia::operators {

namespace {

Refusal refuses_scales_of(const std::string& what, const graph::Tensor& tensor) {
  if (!is_integer(tensor.type)) return std::nullopt;
  if (!tensor.quantization.present()) return fmt::format("the {} carries no scale", what);
  if (tensor.quantization.per_channel()) return fmt::format("the {} has a scale per channel", what);
  return std::nullopt;
}

}  // namespace

std::string unsupported_types_text(const OpView& view) {
  std::string types;
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    types += (types.empty() ? "" : ", ") + std::string(to_string(view.in(i).type));
  }
  return fmt::format("operand types {} -> {} are not supported by the portable lowering", types,
                     to_string(view.out().type));
}

Refusal refuses_types(const OpView& view, std::span<const graph::TypeRule> types) {
  const auto fits = [&](const graph::TypeRule& rule) {
    return rule.in_c() && rule.fits(view.function, view.node);
  };
  if (std::any_of(types.begin(), types.end(), fits)) return std::nullopt;
  return unsupported_types_text(view);
}

Refusal refuses_quantization(const OpView& view, bool per_channel_weights) {
  if (Refusal output = refuses_scales_of("output", view.out())) return output;
  if (Refusal input = refuses_scales_of("input", view.in(0))) return input;
  if (!per_channel_weights) {
    return view.has(1) ? refuses_scales_of("second input", view.in(1)) : std::nullopt;
  }
  const graph::Tensor& weights = view.in(1);
  if (!is_integer(weights.type)) return std::nullopt;
  if (!weights.quantization.present()) return "the weights carry no scale";
  const std::vector<int64_t>& zero_points = weights.quantization.zero_point;
  if (std::any_of(zero_points.begin(), zero_points.end(), [](int64_t z) { return z != 0; })) {
    return "the weights have a zero point other than 0";
  }
  return std::nullopt;
}

Refusal refuses_quantization(const OpView& view) {
  return refuses_quantization(view, /*per_channel_weights=*/false);
}

}  // namespace intarsia::operators
