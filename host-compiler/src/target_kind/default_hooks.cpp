// The hooks a target may leave out.
#include "intarsia/standard_lowering.h"
#include "intarsia/target_kind.h"
#include "target_kind/c_artifacts.h"

namespace intarsia {
namespace {

// Every operator of the graph IR but `call`, which is gone when targets are asked.
constexpr graph::OpKind kOperators[] = {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/op_kinds.def"
#undef OP
};

}  // namespace

std::vector<Pattern> TargetKind::patterns(const Target&) const {
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

Result<tir::LoweredFunction> TargetKind::graph_to_tir(const Target&, const graph::Module& module,
                                                      const graph::Function& function,
                                                      const LoweringOptions& options) const {
  return standard_graph_to_tir(module, function, options);
}

Result<Artifacts> TargetKind::tir_to_runtime(const Target& target, const tir::Module& module,
                                             const Plan& plan) const {
  return emission::c_artifacts(target, module, plan);
}

CostEstimate TargetKind::cost(const Target&, const graph::Module&, const graph::Function& function,
                              const graph::Node& node) const {
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  // A scalar core: some eight instructions per multiply-accumulate with its loads, thirty per result.
  return {8.0 * static_cast<double>(graph::mac_count(function, node)) +
              30.0 * static_cast<double>(elements),
          100.0};
}

double TargetKind::transfer_microseconds(const Target&, int64_t bytes) const {
  if (spec().role == Role::Cpu) return 0;
  return 5.0 + static_cast<double>(bytes) / 4.0 / 100.0;
}

Result<tir::LoweredFunction> RefiningKind::graph_to_tir(const Target& target,
                                                        const graph::Module& module,
                                                        const graph::Function& function,
                                                        const LoweringOptions& options) const {
  return base_.graph_to_tir(target, module, function, options);
}

Result<Artifacts> RefiningKind::tir_to_runtime(const Target& target, const tir::Module& module,
                                               const Plan& plan) const {
  return base_.tir_to_runtime(target, module, plan);
}

std::string TargetKind::memory_master(const Target&) const {
  return spec().role == Role::Cpu ? "cpu" : std::string(spec().name);
}

}  // namespace intarsia
