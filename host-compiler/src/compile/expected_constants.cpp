// Before there is a plan: which memories the constants of the operators will probably be in.
#include <algorithm>
#include <limits>

#include "intarsia/compile.h"
#include "plan/constant_places.h"

namespace intarsia {
namespace {

std::vector<ConstantId> constants_read(const graph::Function& function, const graph::Node& node) {
  std::vector<ConstantId> constants;
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && function.tensor(id).constant.valid())
      constants.push_back(function.tensor(id).constant);
  return constants;
}

// Of each byte of the node's constants: as plan::constant_reads counts when they are lowered.
int64_t reads_of(const graph::Function& function, const graph::Node& node) {
  int64_t elements = 1, results = 0;
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && function.tensor(id).constant.valid())
      elements += element_count(function.tensor(id).shape);
  for (const graph::TensorId id : node.outputs)
    results = std::max(results, element_count(function.tensor(id).shape));
  const int64_t macs = graph::mac_count(function, node);
  return std::max<int64_t>(1, (macs > 0 ? macs : results) / elements);
}

// A function that no device has taken is the CPU's, or will be.
bool is_of_the_cpu(const graph::Function& function, const MemoryMap& memory) {
  const auto master = memory.masters.find(function.target);
  return master == memory.masters.end() || master->second == "cpu";
}

}  // namespace

std::map<std::string, int32_t> expected_cycles_of_constants(const graph::Module& module,
                                                            const MemoryMap& memory) {
  std::map<std::string, int32_t> expected;
  const std::vector<int32_t> pools = plan::pools_of_constants(memory);
  if (memory.open || pools.size() < 2) return expected;
  std::vector<int64_t> capacities;
  for (const int32_t p : pools) {
    const int64_t size = memory.pools[static_cast<size_t>(p)].size;
    capacities.push_back(size > 0 ? size : std::numeric_limits<int64_t>::max());
  }
  // By the constant's index; of no bytes where the CPU does not read it.
  std::vector<plan::ConstantToPlace> constants(module.constants.size());
  for (const graph::Function& function : module.functions)
    for (const graph::Node& node : function.nodes)
      for (const ConstantId id : constants_read(function, node)) {
        if (!is_of_the_cpu(function, memory)) continue;
        plan::ConstantToPlace& constant = constants[id.at()];
        constant.bytes = static_cast<int64_t>(module.constant(id).bytes.size());
        constant.reads += reads_of(function, node);
      }
  const auto memories = plan::place_constants(constants, capacities);
  if (!memories) return expected;  // the plan will say so
  for (const graph::Function& function : module.functions)
    for (const graph::Node& node : function.nodes) {
      int64_t most = -1;  // of the node's constants, the largest decides
      for (const ConstantId id : constants_read(function, node)) {
        if (constants[id.at()].bytes <= most) continue;
        most = constants[id.at()].bytes;
        const auto pool = static_cast<size_t>(pools[static_cast<size_t>((*memories)[id.at()])]);
        expected[node.name] = memory.pools[pool].cycles_per_access;
      }
    }
  return expected;
}

}  // namespace intarsia
