// Kind `llvm`: a CPU whose code LLVM makes. It lowers, plans and reports like kind `c`; what a package holds is an object
// file instead of C.
#include <algorithm>

#include <fmt/format.h>

#include "component.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/plugin/standard_lowering.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/llvm/native_names.h"
#include "model_ir.h"
#include "prototypes.h"

namespace intarsia::targets::llvm {
namespace {

struct MachineTag {
  const char *tag, *summary;
  double clock_mhz;
  const char *triple, *cpu, *features;
};

constexpr MachineTag kMachines[] = {
#define MACHINE(tag, summary, mhz, triple, cpu, features) \
  {#tag, summary, mhz, triple, cpu, features},
#include "intarsia/targets/llvm/machines.def"
#undef MACHINE
};

std::string target_text(const MachineTag& machine) {
  std::string text = "llvm";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(" -{}={}", name, value);
  };
  add("mtriple", machine.triple);
  add("mcpu", machine.cpu);
  add("mattr", machine.features);
  return text;
}

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "llvm";
  spec.summary = "any CPU that LLVM makes code for; runs whole models, as an object file";
  spec.role = Role::Cpu;
  spec.attributes = {
      AttributeSpec::text("mtriple", std::nullopt,
                          "the machine, as LLVM writes it: thumbv7em-none-eabi; default: this one"),
      AttributeSpec::text("mcpu", std::nullopt,
                          "the core, as LLVM names it; default: of this machine its own"),
      AttributeSpec::list("mattr", {}, "extensions, as LLVM names them: +neon, -fp64"),
  };
  for (const MachineTag& machine : kMachines)
    spec.tags.push_back({machine.tag, machine.summary, target_text(machine)});
  return spec;
}

// Asked before anything else is done for the target: without LLVM nothing is.
Result<tir::LoweredFunction> graph_to_tir(const Target& target, const graph::Module& module,
                                          const graph::Function& function,
                                          const LoweringOptions& options) {
  if (const Result<IrDialect> machine = describe(target); !machine.ok()) return machine.error();
  return standard_graph_to_tir(module, function, options);
}

// Others than the target run a part of the model.
bool has_other_devices(const tir::Module& module, const std::string& target) {
  return std::ranges::any_of(module.funcs, [&](const tir::Func& func) {
    return func.name != module.entry && func.target != target;
  });
}

// The schedule is C, as it is for any other host: it drives the devices, whose drivers are sources anyway.
Result<Artifacts> kernels_beside_c(const Target& target, const tir::Module& module,
                                   const Plan& plan) {
  const std::vector<const tir::Func*> kernels = kernels_of(module, target.name);
  Artifacts artifacts;
  if (kernels.empty()) return artifacts;
  INTARSIA_TRY(const IrDialect dialect, describe(target));
  INTARSIA_TRY(const std::string ir, kernels_ir(module, plan, target.name, dialect));
  INTARSIA_TRY(std::string object, object_file(target, module, ir));
  artifacts.sources.push_back({module.name + kKernelsFile, std::move(object)});
  artifacts.functions.push_back(prototypes(module, kernels));
  artifacts.includes = {"intarsia/kernels/kernels.h"};
  return artifacts;
}

Result<Artifacts> tir_to_runtime(const Target& target, const tir::Module& module,
                                 const Plan& plan) {
  if (has_other_devices(module, target.name)) return kernels_beside_c(target, module, plan);
  INTARSIA_TRY(const IrDialect dialect, describe(target));
  INTARSIA_TRY(const std::string ir, model_ir(module, plan, target.name, dialect));
  INTARSIA_TRY(std::string object, object_file(target, module, ir));
  Artifacts artifacts;
  artifacts.sources.push_back({module.name + kModelFile, std::move(object)});
  return artifacts;
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.graph_to_tir = graph_to_tir;
  kind.tir_to_runtime = tir_to_runtime;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::llvm
