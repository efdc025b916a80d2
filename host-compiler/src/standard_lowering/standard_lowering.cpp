#include "intarsia/plugin/standard_lowering.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/kernel_functions.h"
#include "operators/operator.h"
#include "standard_lowering/function_schedule.h"
#include "standard_lowering/row_tile_planning.h"

namespace intarsia {

namespace {

using namespace standard_lowering;

operators::Refusal refuses_operands(const OpView& view) {
  const bool keeps_state = operators::operator_of(view.node.kind).keeps_state;
  const auto unfit = [&](const graph::Tensor& tensor) -> operators::Refusal {
    if (tensor.variable && !keeps_state)
      return "an operand is a variable that lives between invocations";
    if (byte_size(tensor.type, tensor.shape) > INT32_MAX) return "an operand exceeds 2 GB";
    return std::nullopt;
  };
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    if (operators::Refusal refusal = unfit(view.in(i))) return refusal;
  }
  return unfit(view.out());
}

}  // namespace

namespace {

// The first operator inside of a branch or a loop, at any depth, that is not taken, and why. A function
// that many operators run is looked at once.
std::optional<std::string> refuses_inside(const graph::Module& module, const graph::Node& node) {
  std::vector<std::string> waiting = graph::functions_run_by(node);
  std::set<std::string> seen(waiting.begin(), waiting.end());
  for (size_t next = 0; next < waiting.size(); ++next) {
    const std::string name = waiting[next];
    const graph::Function* callee = module.find(name);
    INTARSIA_CHECK(callee != nullptr, "the callee of a verified module exists");
    for (const graph::Node& inner : callee->nodes) {
      const std::vector<std::string> run = graph::functions_run_by(inner);
      for (const std::string& function : run)
        if (seen.insert(function).second) waiting.push_back(function);
      if (!run.empty() && inner.kind != graph::OpKind::Call) continue;
      if (const auto reason = standard_lowering_refuses(module, *callee, inner))
        return fmt::format("'{}' ({}) in '{}': {}", inner.name, to_string(inner.kind), name,
                           *reason);
    }
  }
  return std::nullopt;
}

bool has_control_flow(const graph::Function& function) {
  return std::any_of(function.nodes.begin(), function.nodes.end(), [](const graph::Node& node) {
    return node.kind == graph::OpKind::If || node.kind == graph::OpKind::While;
  });
}

}  // namespace

std::optional<std::string> standard_lowering_refuses(const graph::Module& module,
                                                     const graph::Function& function,
                                                     const graph::Node& node) {
  if (node.kind == graph::OpKind::Compiled)
    return fmt::format("was compiled for {}, and only that can run it",
                       node.attrs<graph::CompiledAttrs>().device);
  if (node.kind == graph::OpKind::If || node.kind == graph::OpKind::While)
    return refuses_inside(module, node);
  const operators::Operator& row = operators::operator_of(node.kind);
  if (row.lower == nullptr)
    return fmt::format("{} is not supported by the portable lowering", to_string(node.kind));
  const OpView view{module, function, node};
  if (operators::Refusal refusal = refuses_operands(view)) return refusal;
  if (!row.types.empty())
    if (operators::Refusal refusal = operators::refuses_types(view, row.types)) return refusal;
  return row.refuses == nullptr ? std::nullopt : row.refuses(view);
}

Result<tir::LoweredFunction> standard_graph_to_tir(const graph::Module& module,
                                                   const graph::Function& function,
                                                   const LoweringOptions& options) {
  return standard_lowering::graph_to_tir(module, function, nullptr, options);
}

Result<tir::LoweredFunction> standard_lowering::graph_to_tir(const graph::Module& module,
                                                             const graph::Function& function,
                                                             const ChooseKernel& choose,
                                                             const LoweringOptions& options) {
  Diagnostics problems;
  for (const graph::Node& node : function.nodes) {
    if (const auto reason = standard_lowering_refuses(module, function, node)) {
      problems.add(fmt::format("operator '{}' ({})", node.name, to_string(node.kind)), *reason);
    }
  }
  if (!problems.empty()) return problems;

  tir::LoweredFunction result;
  result.module.name = module.name;
  const ChooseKernel kernel_of = [&](const OpView& view) -> LowerKernel {
    const LowerKernel own = choose ? choose(view) : nullptr;
    return own ? own : operators::operator_of(view.node.kind).lower;
  };
  std::vector<row_tiling::Option> tiles;
  if (options.ram_budget && !has_control_flow(function)) {
    tiles = plan_tiles(module, function, kernel_of, *options.ram_budget);
    std::erase_if(tiles, [](const row_tiling::Option& part) { return part.step == 0; });
  }
  INTARSIA_TRY(result.entry, Schedule(module, function, result.module, kernel_of).run(tiles));
  return result;
}

}  // namespace intarsia
