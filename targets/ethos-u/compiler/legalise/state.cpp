// Operators that are the host's whatever their operands are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/plugin/check.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

using graph::OpKind;

Reason refuses_state(const Site& site) {
  const auto shape = [](const graph::Tensor& tensor) {
    return fmt::format("{}[{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
  };
  if (site.node.kind == OpKind::BatchMatmul)
    return fmt::format(
        "{} and {} are multiplied with each other, and the NPU multiplies with constant weights",
        shape(site.in(0)), shape(site.in(1)));
  for (size_t i = 0; i < site.node.inputs.size(); ++i)
    if (site.has(i) && site.in(i).variable)
      return fmt::format("the state {} is kept by the host between invocations", shape(site.in(i)));
  return fmt::format("the result {} is an index, and the NPU computes with scaled values",
                     shape(site.out()));
}

void never(Builder&, const graph::Node& node) {
  INTARSIA_CHECK(false, "what is always refused is not handed over: " + node.name);
}

}  // namespace intarsia::targets::ethos_u
