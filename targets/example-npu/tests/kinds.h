// A registry with this target and plain C, and graphs to compile for them.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "intarsia/target_kind.h"
#include "support/parsed.h"

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

}  // namespace intarsia::test::example_npu
