// Rules of operators that keep state in variables.
#pragma once

#include "graph/op_check.h"

namespace intarsia::operators {

bool has_shape(graph::OpCheck& check, size_t operand, const Shape& shape, std::string_view name);
// The operand is a variable with that number of elements, and what `output` writes.
bool is_state(graph::OpCheck& check, size_t operand, size_t output, int64_t elements,
              std::string_view name);
bool one_zero_scale(graph::OpCheck& check, size_t operand, std::string_view name);

}  // namespace intarsia::operators
