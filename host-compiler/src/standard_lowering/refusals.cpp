#include <algorithm>

#include <fmt/format.h>

#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

bool fits(const OpView& view, const TypeCombination& allowed) {
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    if (i >= allowed.inputs.size() || view.in(i).type != allowed.inputs[i]) return false;
  }
  return view.out().type == allowed.output;
}

Refusal refuses_quantization(const std::string& what, const graph::Tensor& tensor) {
  if (!is_integer(tensor.type)) return std::nullopt;
  if (!tensor.quantization.present()) return fmt::format("the {} carries no scale", what);
  if (tensor.quantization.per_channel()) return fmt::format("the {} has a scale per channel", what);
  return std::nullopt;
}

}  // namespace

Refusal refuses_types(const OpView& view, const std::vector<TypeCombination>& allowed) {
  const auto matches = [&](const TypeCombination& c) { return fits(view, c); };
  if (std::any_of(allowed.begin(), allowed.end(), matches)) return std::nullopt;
  std::string types;
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    types += (types.empty() ? "" : ", ") + std::string(to_string(view.in(i).type));
  }
  return fmt::format("operand types {} -> {} are not supported by the portable lowering", types,
                     to_string(view.out().type));
}

Refusal refuses_quantization(const OpView& view, bool per_channel_weights) {
  if (Refusal output = refuses_quantization("output", view.out())) return output;
  if (Refusal input = refuses_quantization("input", view.in(0))) return input;
  if (!per_channel_weights) {
    return view.has(1) ? refuses_quantization("second input", view.in(1)) : std::nullopt;
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

}  // namespace intarsia::standard_lowering
