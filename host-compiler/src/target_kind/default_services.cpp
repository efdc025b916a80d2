#include "target_kind/default_services.h"

#include "intarsia/standard_lowering.h"
#include "standard_lowering/leaves.h"
#include "target_kind/c_artifacts.h"

namespace intarsia {
namespace {

// Every operator of the graph IR but `call`, which is gone when targets are asked.
constexpr graph::OpKind kOperators[] = {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/op_kinds.def"
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

void target_kinds::add_default_services(TargetKind& kind) {
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
            return emission::c_artifacts(target, module, plan, kind.kernels_for(target));
          });
  or_else(kind.cost, scalar_core);
  kind.cost = [&kind, of_loops = std::move(kind.cost)](
                  const Target& target, const graph::Module& module,
                  const graph::Function& function, const graph::Node& node) {
    CostEstimate estimate = of_loops(target, module, function, node);
    if (const KernelLibrary* library = kind.kernels_for(target))
      estimate.cycles = library->cycles(target, module, function, node).value_or(estimate.cycles);
    return estimate;
  };
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
