// A compiled network as TIR, and as what a package holds. Other compilers' networks and ours go the same
// way: one intrinsic that reads its inputs, writes its outputs, and has a scratch for what is between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_n {

struct NetworkFunction {
  std::vector<uint8_t>
      network;  // ENCN; its inputs and outputs are those of the graph's function, in order
  int64_t intermediate_bytes = 0;
  std::string origin;
};
tir::LoweredFunction to_tir(const graph::Function& function, NetworkFunction network);

// Operators `compiled` for "ethos-n". Refuses damaged networks and those for another variant.
Pattern compiled_network_pattern(const Target& device);
bool is_compiled_network(const graph::Function& function);
Result<tir::LoweredFunction> lower_compiled_network(const graph::Module& module,
                                                    const graph::Function& function);

// TIR and addresses to what the device reads.
Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);

}  // namespace intarsia::targets::ethos_n
