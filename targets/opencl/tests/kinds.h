// A registry with this target and plain C; an opened device, or none.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/opencl/driver.h"
#include "support/parsed.h"

namespace intarsia::targets::opencl {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::opencl {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::opencl::add_kinds);
}

// Opened for as long as it lives; `answers` is false where there is no device.
struct OpenDevice {
  OpenDevice() : answers(intarsia_opencl_open(&opencl, nullptr) == INTARSIA_OK) {}
  ~OpenDevice() {
    if (answers) intarsia_opencl_close(&opencl);
  }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  intarsia_opencl opencl;
  bool answers;
};

}  // namespace intarsia::test::opencl
