// Refines kind `c` for Cortex-M cores: `c -mcpu=cortex-m4` is lowered to kernels made for the core's
// instructions where there are some, and to the portable loops elsewhere.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "kernel_costs.h"
#include "kernels.h"
#include "target_kind/c_artifacts.h"

namespace intarsia::targets::cortex_m {
namespace {

struct Core {
  const char* name;
  CoreClass core_class;
  double time, constant_bytes;  // bytes per cycle
};

constexpr Core kCores[] = {
#define CORE(name, core_class, time, bytes) {name, CoreClass::core_class, time, bytes},
#include "cortex_m/cores.def"
#undef CORE
};

const Core* find_core(const Target& target) {
  const AttributeValue* mcpu = target.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  const auto found = std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& core) {
    return name != nullptr && *name == core.name;
  });
  return found == std::end(kCores) ? nullptr : found;
}

// The classes of kernels that the core has all instructions of, less what -mattr says to be missing. Helium stands on
// the DSP extension.
CoreClass class_of(const Target& target) {
  CoreClass core = find_core(target)->core_class;
  const AttributeValue* value = target.attributes.find("mattr");
  const auto* words = value == nullptr ? nullptr : std::get_if<std::vector<std::string>>(value);
  const auto lacks = [&](const char* extension) {
    return words != nullptr &&
           std::any_of(words->begin(), words->end(), [&](const std::string& word) {
             return word == std::string("-") + extension || word == std::string("+no") + extension;
           });
  };
  if (core == CoreClass::Mve && lacks("mve")) core = CoreClass::Dsp;
  if (core >= CoreClass::Dsp && lacks("dsp")) core = CoreClass::Long;
  return core;
}

double constant_bytes(const graph::Function& function, const graph::Node& node) {
  int64_t bytes = 0;
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && function.tensor(id).constant.valid()) bytes += function.tensor(id).bytes();
  return static_cast<double>(bytes);
}

class CortexMKind final : public RefiningKind {
 public:
  using RefiningKind::RefiningKind;

  bool refines(const Target& target) const override {
    const AttributeValue* kernels = target.attributes.find("kernels");
    return find_core(target) != nullptr &&
           (kernels == nullptr || *kernels == AttributeValue(std::string("tuned")));
  }

  Result<tir::LoweredFunction> graph_to_tir(const Target& target, const graph::Module& module,
                                            const graph::Function& function,
                                            const LoweringOptions& options) const override {
    const CoreClass core = class_of(target);
    const bool small = options.optimise == LoweringOptions::Optimise::Size;
    return standard_lowering::graph_to_tir(
        module, function,
        [core, small](const OpView& view) { return choose_leaf(core, view, small); }, options);
  }

  // Kernels are made for `--optimise balanced`, as which they are counted.
  CostEstimate cost(const Target& target, const graph::Module& module,
                    const graph::Function& function, const graph::Node& node) const override {
    CostEstimate estimate = base().cost(target, module, function, node);
    const Core& core = *find_core(target);
    if (const auto cycles = kernel_cycles(class_of(target), module, function, node))
      estimate.cycles =
          std::max(*cycles * core.time, constant_bytes(function, node) / core.constant_bytes);
    return estimate;
  }

  Result<Artifacts> tir_to_runtime(const Target& target, const tir::Module& module,
                                   const Plan& plan) const override {
    INTARSIA_TRY(Artifacts artifacts,
                 emission::c_artifacts(target, module, plan, kernel_structs()));
    if (artifacts.functions.empty()) return artifacts;
    artifacts.includes.push_back("cortex_m/kernels.h");
    // Where flags without the class's instructions are told of.
    constexpr const char* kMadeFor[] = {"thumb", "long", "dsp", "mve"};
    artifacts.includes.push_back(
        fmt::format("cortex_m/made_for_{}.h", kMadeFor[static_cast<size_t>(class_of(target))]));
    return artifacts;
  }

  RuntimePart runtime(const Target&) const override { return {.folder = INTARSIA_TARGET_FOLDER}; }
};

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.refine("c", [](const TargetKind& base) { return std::make_unique<CortexMKind>(base); });
}

}  // namespace intarsia::targets::cortex_m
