// Why the portable lowering does not take an operator.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/type_rule.h"
#include "intarsia/plugin/op_view.h"

namespace intarsia::operators {

using Refusal = std::optional<std::string>;

// "operand types i16, i8, i64 -> i16 are not supported by the portable lowering".
std::string unsupported_types_text(const OpView& view);
// That, when none of the combinations that have C fits.
Refusal refuses_types(const OpView& view, std::span<const graph::TypeRule> types);
// Integer tensors of the operator must carry one scale; `per_channel_weights` excepts input 1.
Refusal refuses_quantization(const OpView& view, bool per_channel_weights);
Refusal refuses_quantization(const OpView& view);

}  // namespace intarsia::operators
