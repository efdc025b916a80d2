// A catalogue of kinds for tests, which look like real ones and belong to no target folder.
#pragma once

#include "intarsia/target.h"

namespace intarsia::test {

inline KindSpec cpu_kind() {
  KindSpec kind;
  kind.name = "c";
  kind.summary = "portable C";
  kind.attributes = {
      AttributeSpec::word("mcpu", "generic",
                          {"generic", "cortex-m0", "cortex-m4", "cortex-m7", "cortex-m55"},
                          "the core"),
      AttributeSpec::word("mfloat-abi", "soft", {"soft", "softfp", "hard"},
                          "how floats are passed"),
      AttributeSpec::word("mfpu", "none", {"none", "fpv4-sp-d16", "fpv5-d16"},
                          "floating-point unit"),
      AttributeSpec::integer("unroll", 1, 1, 16, "loop unrolling"),
      AttributeSpec::boolean("fast-math", false, "reassociate floats"),
      AttributeSpec::list("libs", {}, "libraries to call"),
      AttributeSpec::text("section", std::nullopt, "linker section of the weights"),
  };
  kind.resolve = [](Attributes& attributes) -> Result<void> {
    const std::string& core = attributes.get_string("mcpu");
    if (core == "cortex-m4") attributes.derive("mfpu", "fpv4-sp-d16");
    if (core == "cortex-m7") attributes.derive("mfpu", "fpv5-d16");
    return {};
  };
  kind.validate = [](const Attributes& attributes) -> Result<void> {
    if (attributes.get_string("mfloat-abi") == "hard" && attributes.get_string("mfpu") == "none") {
      return Diagnostics("", "mfloat-abi=hard needs a floating-point unit", "write -mfpu=fpv5-d16");
    }
    return {};
  };
  kind.tags = {{"cortex-m0", "Cortex-M0", "c -mcpu=cortex-m0"},
               {"cortex-m0plus", "Cortex-M0+", "c -mcpu=cortex-m0"},
               {"cortex-m7", "Cortex-M7", R"({"kind":"c","mcpu":"cortex-m7","mfloat-abi":"hard"})"},
               {"cortex-m55", "Cortex-M55", "c -mcpu=cortex-m55"}};
  return kind;
}

inline KindSpec ethos_u_kind() {
  KindSpec kind;
  kind.name = "ethos-u";
  kind.summary = "Arm Ethos-U NPU";
  kind.role = Role::Accelerator;
  kind.attributes = {
      AttributeSpec::one_of("macs", 128, {32, 64, 128, 256, 512}, "multiply-accumulates per cycle"),
      AttributeSpec::word("memory-mode", "shared-sram", {"sram-only", "shared-sram"},
                          "where data lives"),
  };
  kind.tags = {{"ethos-u55-128", "Ethos-U55", "ethos-u -macs=128", "cortex-m55"},
               {"ethos-u65-256", "Ethos-U65", "ethos-u -macs=256", "cortex-m55"},
               {"ethos-u85-512", "Ethos-U85, host left open", "ethos-u -macs=512"}};
  return kind;
}

inline KindSpec plain_kind(const std::string& name, Role role) {
  KindSpec kind;
  kind.name = name;
  kind.summary = name;
  kind.role = role;
  return kind;
}

inline TargetCatalogue fake_catalogue() {
  TargetCatalogue catalogue;
  KindSpec sized = plain_kind("sized", Role::Accelerator);
  sized.attributes = {AttributeSpec::integer("size", std::nullopt, 0, 100, "how large")};
  sized.attributes[0].required = true;
  for (KindSpec kind : {cpu_kind(), ethos_u_kind(), plain_kind("ethosn", Role::Accelerator),
                        plain_kind("opencl", Role::Device), sized}) {
    const Result<void> added = catalogue.add_kind(std::move(kind));
    INTARSIA_CHECK(added.ok(), added.ok() ? "" : added.error().to_string());
  }
  return catalogue;
}

// The complaint about `text` as the user reads it, or the target when there is none.
inline std::string complaint(const TargetCatalogue& catalogue, std::string_view text) {
  const Result<TargetSpec> target = parse_target(catalogue, text);
  return target ? "parsed as " + to_string(*target) : target.error().to_string();
}

inline std::string complaint(std::string_view text) {
  return complaint(fake_catalogue(), text);
}

// The canonical target string, or the complaint.
inline std::string canonical(std::string_view text) {
  const Result<TargetSpec> target = parse_target(fake_catalogue(), text);
  return target ? to_string(*target) : target.error().to_string();
}

}  // namespace intarsia::test
