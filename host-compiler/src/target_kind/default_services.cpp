#include "target_kind/default_services.h"

#include "graph/cut_out.h"
#include "intarsia/plugin/kernel_functions.h"
#include "intarsia/plugin/standard_lowering.h"
#include "target_kind/c_artifacts.h"

namespace intarsia {
namespace {

// Every operator of the graph IR but `call`, which is gone when targets are asked.
constexpr graph::OpKind kOperators[] = {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/graph/op_kinds.def"
#undef OP
};

CostEstimate scalar_core(const Target&, const graph::Module&, const graph::Function& function,
                         const graph::Node& node) {
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  // Some eight instructions per multiply-accumulate with its loads, thirty per result.
  return {8.0 * static_cast<double>(graph::mac_count(function, node)) +
              30.0 * static_cast<double>(elements),
          100.0};
}

// Operators with a kernel are by themselves; the others are together what the kind says of them.
CostEstimate cost_with_kernels(const KernelLibrary& library,
                               const decltype(TargetKind::cost)& without_kernels,
                               const Target& target, const graph::Module& module,
                               const graph::Function& function, const LoweringOptions& options) {
  double cycles = 0;
  std::vector<graph::NodeId> others;
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const auto of_kernel = library.cycles(target, module, function, function.nodes[n], options);
    cycles += of_kernel.value_or(0);
    if (!of_kernel) others.push_back({static_cast<int32_t>(n)});
  }
  if (others.size() == function.nodes.size())
    return without_kernels(target, module, function, options);
  // Where every operator has a kernel, one of them says what the clock is.
  const bool all = others.empty();
  if (all && !function.nodes.empty()) others.push_back({0});
  const graph::CutOut rest = graph::FunctionCutter(function).cut(others);
  CostEstimate estimate = without_kernels(target, module, rest.function, options);
  estimate.cycles = all ? cycles : estimate.cycles + cycles;
  return estimate;
}

// A core has the clock that the board says, whatever its kind assumes of cores in general. Devices ask the board themselves, for
// the speed of memories too.
decltype(TargetKind::cost) at_the_boards_clock(TargetKind& kind) {
  return [&kind, at_assumed_clock = std::move(kind.cost)](
             const Target& target, const graph::Module& module, const graph::Function& function,
             const LoweringOptions& options) {
    CostEstimate estimate = at_assumed_clock(target, module, function, options);
    if (options.memory == nullptr) return estimate;
    const auto clock = options.memory->clocks_mhz.find(kind.memory_master(target));
    if (clock != options.memory->clocks_mhz.end())
      estimate.clock_mhz = static_cast<double>(clock->second);
    return estimate;
  };
}

template <class Service, class Default>
void or_else(Service& service, Default otherwise) {
  if (!service) service = std::move(otherwise);
}

}  // namespace

std::vector<Pattern> portable_patterns() {
  std::vector<Pattern> patterns;
  for (const graph::OpKind kind : kOperators) {
    if (kind == graph::OpKind::Call) continue;
    patterns.push_back(
        {std::string(graph::to_string(kind)), {kind, {}}, [](const PatternMatch& match) {
           return standard_lowering_refuses(match.module, match.function, match.node());
         }});
  }
  return patterns;
}

decltype(TargetKind::cost) sum_of_operators(OperatorCost cost) {
  return [cost = std::move(cost)](const Target& target, const graph::Module& module,
                                  const graph::Function& function, const LoweringOptions&) {
    CostEstimate sum;
    for (const graph::Node& node : function.nodes) {
      const CostEstimate of_node = cost(target, module, function, node);
      sum.cycles += of_node.cycles;
      sum.clock_mhz = of_node.clock_mhz;
    }
    return sum;
  };
}

void target_kind::add_default_services(TargetKind& kind) {
  const bool is_cpu = kind.spec.role == Role::Cpu;
  or_else(kind.patterns, [](const Target&) { return portable_patterns(); });
  or_else(kind.graph_to_tir,
          [&kind](const Target& target, const graph::Module& module,
                  const graph::Function& function, const LoweringOptions& options) {
            const KernelLibrary* library = kind.kernels_for(target);
            return standard_lowering::graph_to_tir(
                module, function, library == nullptr ? nullptr : library->kernels(target, options),
                options);
          });
  or_else(kind.tir_to_runtime,
          [&kind](const Target& target, const tir::Module& module, const Plan& plan) {
            return target_kind::c_artifacts(target, module, plan, kind.kernels_for(target));
          });
  or_else(kind.cost, sum_of_operators(scalar_core));
  kind.cost = [&kind, without_kernels = std::move(kind.cost)](
                  const Target& target, const graph::Module& module,
                  const graph::Function& function, const LoweringOptions& options) {
    const KernelLibrary* library = kind.kernels_for(target);
    if (library == nullptr) return without_kernels(target, module, function, options);
    return cost_with_kernels(*library, without_kernels, target, module, function, options);
  };
  if (is_cpu) kind.cost = at_the_boards_clock(kind);
  or_else(kind.transfer_microseconds, [is_cpu](const Target&, int64_t bytes) {
    return is_cpu ? 0 : 5.0 + static_cast<double>(bytes) / 4.0 / 100.0;
  });
  or_else(kind.notes, [](const Target&, const graph::Module&, const graph::Function&) {
    return std::vector<std::string>{};
  });
  or_else(kind.tolerance, [](const Target&, const graph::Node&) { return 0; });
  or_else(kind.memories, [](const Target&) { return std::vector<MemoryPool>{}; });
  or_else(kind.memory_master, [master = is_cpu ? std::string("cpu")
                                               : kind.spec.name](const Target&) { return master; });
}

}  // namespace intarsia
