// What an emitted model and its package must agree on. Both are made from the same arguments, apart from each
// other: <model>.c has the numbers in its init function, the package in its root.
#pragma once

#include <cstdint>
#include <vector>

#include "emission/emit.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::emission {

struct PackageNeeds {
  // Of everything that the C sources decide and the package does not: interface, functions of the CPU and
  // their constants, places of tensors that C reads or writes, and which streams it runs on which device.
  uint32_t model_id = 0;
  std::vector<uint32_t> pool_bytes;  // one per pool of the plan
  uint32_t alignment = 0;
};

PackageNeeds package_needs(const tir::Module& module, const Plan& plan, const EmittedModel& model);

}  // namespace intarsia::emission
