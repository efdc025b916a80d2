// A registry with this target and plain C, and graphs to compile for them.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "intarsia/target_kind.h"

namespace intarsia::targets {
namespace c {
void add_kinds(TargetRegistry& registry);
}
namespace example_npu {
void add_kinds(TargetRegistry& registry);
}
}  // namespace intarsia::targets

namespace intarsia::test::example_npu {

inline TargetRegistry make_registry() {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  targets::example_npu::add_kinds(registry);
  return registry;
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
  return *module;
}

}  // namespace intarsia::test::example_npu
