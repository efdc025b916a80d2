// Variables, and operators that are the host's whatever their operands are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/plugin/check.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// On its own it is a copy, for which nobody wakes the NPU.
Reason refuses_variable(const Site& site) {
  if (is_beside_taken(site)) return std::nullopt;
  return std::string("no operator beside it runs on the NPU");
}

void legalise_assign(Builder& builder, const graph::Node& node) {
  builder.leave(builder.read(node.inputs.at(0)), node.outputs.at(0));
}

Reason refuses_state(const Site& site) {
  const auto shape = [](const graph::Tensor& tensor) {
    return fmt::format("{}[{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
  };
  for (size_t i = 0; i < site.node.inputs.size(); ++i)
    if (site.has(i) && site.in(i).variable)
      return fmt::format("the state {} is kept by the host between invocations", shape(site.in(i)));
  return fmt::format("the state of {} is kept by the host between invocations", shape(site.out()));
}

void never(Builder&, const graph::Node& node) {
  INTARSIA_CHECK(false, "what is always refused is not handed over: " + node.name);
}

}  // namespace intarsia::targets::ethos_u
