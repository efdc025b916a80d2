#include "lowering/lower.h"

#include <fmt/format.h>

#include "lowering/merge.h"
#include "lowering/stitch.h"
#include "support/watched.h"

namespace intarsia {
namespace {

// What a hook returned must fit the function it was asked for: parameters are its inputs, then its
// outputs, byte for byte.
Result<void> check_signature(const graph::Function& function, const tir::LoweredFunction& lowered,
                             const Target& device) {
  const std::string where =
      fmt::format("target '{}' (graph_to_tir of {})", device.name, function.name);
  const tir::Func* entry = lowered.module.find(lowered.entry);
  if (entry == nullptr)
    return Diagnostics(where,
                       fmt::format("names the entry '{}', which it did not return", lowered.entry),
                       "this is a fault of the target's hook");
  std::vector<graph::TensorId> tensors = function.inputs;
  tensors.insert(tensors.end(), function.outputs.begin(), function.outputs.end());
  if (entry->parameters.size() != tensors.size())
    return Diagnostics(where,
                       fmt::format("returns an entry of {} parameters for {} inputs and outputs",
                                   entry->parameters.size(), tensors.size()),
                       "this is a fault of the target's hook");
  for (size_t i = 0; i < tensors.size(); ++i)
    if (entry->buffers[i].bytes() != function.tensor(tensors[i]).bytes())
      return Diagnostics(
          where,
          fmt::format("parameter {} has {} bytes, the tensor {}", i, entry->buffers[i].bytes(),
                      function.tensor(tensors[i]).bytes()),
          "this is a fault of the target's hook");
  return {};
}

// Of the functions that the entry calls.
int64_t count_operators(const graph::Module& module) {
  int64_t operators = 0;
  for (const graph::Node& node : module.entry_function().nodes)
    if (const graph::Function* function = module.find(node.attrs<graph::CallAttrs>().callee))
      operators += std::ssize(function->nodes);
  return operators;
}

}  // namespace

Result<tir::Module> lower(const graph::Module& module, const TargetRegistry& registry,
                          const TargetSpec& target, const LoweringOptions& options) {
  const graph::Function& entry = module.entry_function();
  lowering::Merger merger(module.name);
  Diagnostics problems;
  std::vector<std::string> lowered_names;
  int64_t lowered_operators = 0;
  const int64_t all_operators = count_operators(module);
  for (const graph::Node& node : entry.nodes) {
    INTARSIA_TRY_VOID(watched::goes_on());
    const graph::Function* function = module.find(node.attrs<graph::CallAttrs>().callee);
    INTARSIA_CHECK(function != nullptr, "a partitioned module has every callee");
    const Target* device = target.device(function->target);
    INTARSIA_CHECK(device != nullptr, "a partitioned function belongs to a device of the target");
    if (options.on_progress)
      options.on_progress(
          {"scheduling operators for " + device->name, lowered_operators, all_operators});
    lowered_operators += std::ssize(function->nodes);
    Result<tir::LoweredFunction> lowered =
        registry.kind_of(*device).graph_to_tir(*device, module, *function, options);
    if (!lowered.ok()) {
      problems.append(lowered.error());
      continue;
    }
    INTARSIA_TRY_VOID(check_signature(*function, *lowered, *device));
    lowered_names.push_back(
        merger.add(lowered->module, lowered->entry,
                   {device->name, registry.kind(device->kind).spec.role == Role::Accelerator}));
  }
  if (!problems.empty()) return problems;
  INTARSIA_TRY_VOID(lowering::stitch(module, lowered_names, merger));
  INTARSIA_TRY_VOID(tir::verify(merger.module()));
  return std::move(merger.module());
}

}  // namespace intarsia
