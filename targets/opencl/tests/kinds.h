// A registry with this target and plain C; an opened device, or none.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/opencl/driver.h"
#include "support/opened_driver.h"
#include "support/parsed.h"

namespace intarsia::targets::opencl {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::opencl {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::opencl::add_kinds);
}

struct OpenDevice : OpenedDriver<intarsia_opencl, intarsia_opencl_open, intarsia_opencl_close> {
  intarsia_opencl& opencl = driver;
};

}  // namespace intarsia::test::opencl
