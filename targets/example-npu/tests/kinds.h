// A registry with this target and plain C, and graphs to compile for them.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "support/parsed.h"

namespace intarsia::targets::example_npu {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::example_npu {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::example_npu::add_kinds);
}

}  // namespace intarsia::test::example_npu
