// Kind `arm_acl`: the Arm Compute Library on the 64-bit Arm cores that the host program runs on.
#include <mutex>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/layers/asked_program.h"
#include "intarsia/layers/layer_target.h"
#include "intarsia/plugin/target_kind.h"

#ifndef INTARSIA_ARM_ACL_ASK
#define INTARSIA_ARM_ACL_ASK
#endif

namespace intarsia::targets::arm_acl {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "arm_acl";
  spec.summary = "Arm Compute Library on the host's 64-bit Arm cores: float layers with NEON";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("clock-mhz", 1500, 1, 10000, "for the cost policy"),
                     AttributeSpec::integer("macs-per-cycle", 4, 1, 65536, "for the cost policy")};
  spec.tags = {{"acl", "Arm Compute Library beside C for a Cortex-A", "arm_acl", "cortex-a53"}};
  return spec;
}

// The library's own validate(), by a program that was made for its processor; without it a layer that the library refuses
// is found by the driver, at a program's first run.
layers::Reason refuses(const layers::Layer& layer) {
  static std::mutex one_question;
  static layers::AskedProgram library({INTARSIA_ARM_ACL_ASK});
  const std::lock_guard lock(one_question);
  const std::optional<std::string> answer = library.ask(layer);
  if (!answer || answer->empty()) return std::nullopt;
  return fmt::format("the Arm Compute Library takes no {}: {}", layers::describe(layer), *answer);
}

const layers::Library& library() {
  static const layers::Library acl{"arm_acl", refuses};
  return acl;
}

// A call is two microseconds before anything is computed; results are written two floats a cycle.
CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                  const graph::Node& node) {
  const auto clock = static_cast<double>(target.get_int("clock-mhz"));
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  const double multiplying = static_cast<double>(graph::mac_count(function, node)) /
                             static_cast<double>(target.get_int("macs-per-cycle"));
  return {2 * clock + multiplying + static_cast<double>(elements) / 2, clock};
}

DeviceDriver driver(const Target&) {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/arm_acl/driver.h",
          .driver_type = "struct intarsia_arm_acl",
          .open_function = "intarsia_arm_acl_open",
          .has_registers = false,
          .link_libraries = {"arm_compute", "arm_compute_core"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = [](const Target&) { return layers::patterns(library()); };
  kind.graph_to_tir = [](const Target&, const graph::Module& module,
                         const graph::Function& function, const LoweringOptions&) {
    return layers::lower(library(), module, function);
  };
  kind.tir_to_runtime = [](const Target& device, const tir::Module& module, const Plan& plan) {
    return layers::make_streams(library(), device, module, plan);
  };
  kind.cost = sum_of_operators(cost);
  // Both work in the host's memory.
  kind.transfer_microseconds = [](const Target&, int64_t) { return 0.0; };
  kind.notes = [](const Target&, const graph::Module&, const graph::Function& function) {
    return layers::notes(library(), function);
  };
  kind.driver = driver;
  kind.disassemble = [](std::span<const uint8_t> stream) {
    return layers::disassemble(library(), stream);
  };
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::arm_acl
