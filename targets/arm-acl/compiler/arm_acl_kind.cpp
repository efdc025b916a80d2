// Kind `arm_acl`: the Arm Compute Library on the 64-bit Arm cores that the host program runs on.
#include <mutex>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/layers/asked_program.h"
#include "intarsia/layers/component.h"
#include "intarsia/layers/layer_target.h"
#include "intarsia/plugin/target_kind.h"

#ifndef INTARSIA_ARM_ACL_ASK
#define INTARSIA_ARM_ACL_ASK ""
#define INTARSIA_ARM_ACL_EMULATOR
#endif

namespace intarsia::targets::arm_acl {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "arm_acl";
  spec.summary =
      "Arm Compute Library on the host's 64-bit Arm cores: layers of float32 and int8 with NEON";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("clock-mhz", 1500, 1, 10000, "for the cost policy"),
                     AttributeSpec::integer("macs-per-cycle", 4, 1, 65536, "for the cost policy"),
                     AttributeSpec::word("machine", "aarch64", {"aarch64"}, "what the host is")};
  spec.tags = {{"acl", "Arm Compute Library beside code by LLVM", "arm_acl", "llvm"}};
  return spec;
}

// Nothing where the program was not built.
std::vector<std::string> asking_command() {
  for (const std::filesystem::path& place :
       layers::component_places("intarsia_arm_acl_ask", INTARSIA_ARM_ACL_ASK)) {
    std::error_code error;
    if (!std::filesystem::exists(place, error)) continue;
    std::vector<std::string> command = {INTARSIA_ARM_ACL_EMULATOR};
    command.push_back(place.string());
    return command;
  }
  return {};
}

// The library's own validate(), by a program that was made for its processor; without it a layer that the library refuses
// is found by the driver, at a program's first run.
layers::Reason refuses(const layers::Layer& layer) {
  if (layer.is_int8() &&
      (layer.what() == layers::Kind::average_pool || layer.what() == layers::Kind::softmax))
    return fmt::format(
        "the Arm Compute Library's {} of int8 is off by more than the step that is promised",
        layers::to_string(layer.what()));
  static std::mutex one_question;
  static layers::AskedProgram library(asking_command());
  const std::lock_guard lock(one_question);
  const std::optional<std::string> answer = library.ask(layer);
  if (!answer || answer->empty()) return std::nullopt;
  return fmt::format("the Arm Compute Library takes no {}: {}", layers::describe(layer), *answer);
}

const layers::Library& library() {
  static const layers::Library acl{.name = "arm_acl", .refuses = refuses, .int8 = true};
  return acl;
}

DeviceDriver driver() {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/arm_acl/driver.h",
          .driver_type = "struct intarsia_arm_acl",
          .open_function = "intarsia_arm_acl_open",
          .has_registers = false,
          .link_libraries = {"arm_compute", "arm_compute_core"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.add(layers::kind_of(make_spec(), library(),
                               {.call_microseconds = 2, .results_per_cycle = 2}, driver()));
}

}  // namespace intarsia::targets::arm_acl
