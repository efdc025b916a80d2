// TirToRuntime of targets that run C.
#pragma once

#include "intarsia/artifacts.h"
#include "intarsia/kernel_library.h"
#include "intarsia/plan.h"
#include "intarsia/target_spec.h"

namespace intarsia::emission {

// One C function per leaf of `module` that belongs to `target`, over the portable kernels and those of the library that
// serves the target; null where none does.
Result<Artifacts> c_artifacts(const Target& target, const tir::Module& module, const Plan& plan,
                              const KernelLibrary* library);

}  // namespace intarsia::emission
