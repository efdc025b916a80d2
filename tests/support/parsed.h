// Targets and graphs from text that tests know to be right.
#pragma once

#include <string>

#include "intarsia/graph.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test {

// Plain C, and the kinds that another target adds.
inline TargetRegistry registry_beside_c(void (*add_kinds)(TargetRegistry& registry)) {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  add_kinds(registry);
  return registry;
}

// The target as it prints itself, or what is wrong with it.
inline std::string printed_target(const TargetRegistry& registry, const std::string& text) {
  const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
  return target.ok() ? to_string(*target) : target.error().to_string();
}

inline TargetSpec parsed_target(const TargetRegistry& registry, const std::string& text) {
  const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
  INTARSIA_CHECK(target.ok(), target.ok() ? "" : target.error().to_string());
  return *target;
}

inline graph::Module parsed_graph(const std::string& text) {
  Result<graph::Module> module = graph::parse(text);
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  const Result<void> verified = graph::verify(*module);
  INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
  return *std::move(module);
}

}  // namespace intarsia::test
