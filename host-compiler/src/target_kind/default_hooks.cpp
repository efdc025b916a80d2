// The hooks a target may leave out.
#include <algorithm>

#include <fmt/format.h>

#include "emit/c_function.h"
#include "intarsia/standard_lowering.h"
#include "intarsia/target_kind.h"
#include "plan/lifetimes.h"

namespace intarsia {
namespace {

// Every operator of the graph IR but `call`, which is gone when targets are asked.
constexpr graph::OpKind kOperators[] = {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/op_kinds.def"
#undef OP
};

// "sram 0x0000..0x1f40" per argument of the function's first call, for the comment above it.
std::vector<std::string> memory_lines(const tir::Module& module, const Plan& plan,
                                      const tir::Func& func) {
  const tir::Func& schedule = module.entry_func();
  const std::vector<tir::Call> calls = plan::schedule_calls(schedule);
  const auto call = std::find_if(calls.begin(), calls.end(),
                                 [&](const tir::Call& c) { return c.function == func.name; });
  std::vector<std::string> lines;
  if (call == calls.end()) return lines;
  for (size_t i = 0; i < call->arguments.size(); ++i) {
    const Placement* place = plan.find(call->arguments[i]);
    if (place == nullptr) continue;
    lines.push_back(fmt::format("{}: {} {:#06x}..{:#06x}", func.buffers[i].name,
                                plan.memory.pools[static_cast<size_t>(place->pool)].name,
                                place->offset, place->offset + place->bytes));
  }
  return lines;
}

}  // namespace

std::vector<Pattern> TargetKind::patterns(const Target&) const {
  std::vector<Pattern> patterns;
  for (const graph::OpKind kind : kOperators) {
    if (kind == graph::OpKind::Call) continue;
    patterns.push_back({std::string(graph::to_string(kind)), {kind, {}},
                        [](const PatternMatch& match) {
                          return standard_lowering_refuses(match.module, match.function, match.node());
                        }});
  }
  return patterns;
}

Result<tir::LoweredFunction> TargetKind::graph_to_tir(const Target&, const graph::Module& module,
                                                      const graph::Function& function,
                                                      const LoweringOptions&) const {
  return standard_graph_to_tir(module, function);
}

Result<Artifacts> TargetKind::tir_to_runtime(const Target& target, const tir::Module& module,
                                             const Plan& plan) const {
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != target.name || func.name == module.entry) continue;
    emission::CFunctionOptions options;
    options.symbol_prefix = module.name + "_";
    options.comment_lines = memory_lines(module, plan, func);
    INTARSIA_TRY(std::string text, emission::emit_c_function(module, func, options));
    artifacts.functions.push_back(std::move(text));
  }
  if (!artifacts.functions.empty()) artifacts.includes = {"intarsia_kernels/kernels.h"};
  return artifacts;
}

CostEstimate TargetKind::cost(const Target&, const graph::Module&, const graph::Function& function,
                              const graph::Node& node) const {
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs) elements += element_count(function.tensor(id).shape);
  // A scalar core: some eight instructions per multiply-accumulate with its loads, thirty per result.
  return {8.0 * static_cast<double>(graph::mac_count(function, node)) +
              30.0 * static_cast<double>(elements),
          100.0};
}

double TargetKind::transfer_microseconds(const Target&, int64_t bytes) const {
  if (spec().role == Role::Cpu) return 0;
  return 5.0 + static_cast<double>(bytes) / 4.0 / 100.0;
}

std::string TargetKind::memory_master(const Target&) const {
  return spec().role == Role::Cpu ? "cpu" : std::string(spec().name);
}

}  // namespace intarsia
