// Rules of operators that keep state in variables.
#include "operators/state_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia::operators {

using namespace graph;

bool has_shape(OpCheck& check, size_t operand, const Shape& shape, std::string_view name) {
  const Shape& actual = check.in(operand).shape;
  return check.require(actual == shape, fmt::format("the {} has the shape [{}], needs [{}]", name,
                                                    fmt::join(actual, ","), fmt::join(shape, ",")));
}

bool is_state(OpCheck& check, size_t operand, size_t output, int64_t elements,
              std::string_view name) {
  const Tensor& tensor = check.in(operand);
  bool fine = check.require(tensor.variable, fmt::format("the {} is no variable", name));
  fine &= check.require(check.node.inputs[operand] == check.node.outputs[output],
                        fmt::format("the {} is not written back", name));
  fine &= check.require(
      element_count(tensor.shape) == elements,
      fmt::format("the {} has {} elements, needs {}", name, element_count(tensor.shape), elements));
  return fine;
}

bool one_zero_scale(OpCheck& check, size_t operand, std::string_view name) {
  return check.per_tensor(check.in(operand), name, /*symmetric=*/true);
}

}  // namespace intarsia::operators
