#include "estimate.h"

#include <algorithm>

#include "ethos_u/timing.h"
#include "hardware/configuration.h"

namespace intarsia::targets::ethos_u {
namespace {

// Registers, fetches and drain of one operation; no published figure, of the order that the timing
// tables give for an operation on a single element.
constexpr double kCyclesPerOperation = 200;

// Operations that an operator becomes.
double operations(graph::OpKind kind) {
  switch (kind) {
    case graph::OpKind::Reshape:
      return 0;
    case graph::OpKind::Softmax:
      return 27;
    default:
      return 1;
  }
}

}  // namespace

CostEstimate estimate(const Target& member, const graph::Function& function,
                      const graph::Node& node) {
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(configuration_of(member).tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  const auto memory = isa::ethos_u::memory_system(*npu, "", member.get_string("memory-mode"));
  INTARSIA_CHECK(memory.has_value(), "the kind admits only memory modes of the table");

  double constants = 0, values = 0, outputs = 0;
  for (const graph::TensorId id : node.inputs)
    if (id.valid())
      (function.tensor(id).constant.valid() ? constants : values) +=
          static_cast<double>(function.tensor(id).bytes());
  for (const graph::TensorId id : node.outputs) {
    values += static_cast<double>(function.tensor(id).bytes());
    outputs += static_cast<double>(element_count(function.tensor(id).shape));
  }
  if (operations(node.kind) == 0) return {0, memory->clock_mhz};
  // A depthwise convolution keeps an eighth of the array busy: there is one channel to sum over.
  const double busy = node.kind == graph::OpKind::DepthwiseConv2d ? 8 : 1;
  const double macs = static_cast<double>(graph::mac_count(function, node)) * busy;
  const double parts[] = {
      macs / static_cast<double>(npu->macs),
      constants / memory->memory_of_region(0).bytes_per_cycle,
      values / memory->memory_of_region(1).bytes_per_cycle,
      outputs * npu->other_output * operations(node.kind),
  };
  return {*std::max_element(std::begin(parts), std::end(parts)) +
              kCyclesPerOperation * operations(node.kind),
          memory->clock_mhz};
}

}  // namespace intarsia::targets::ethos_u
