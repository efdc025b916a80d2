// TirToRuntime of targets that run C.
#pragma once

#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/kernel_library.h"
#include "intarsia/target.h"

namespace intarsia::target_kind {

// One C function per kernel of `module` that belongs to `target`, over the portable kernels and those of the library that
// serves the target; null where none does.
Result<Artifacts> c_artifacts(const Target& target, const tir::Module& module, const Plan& plan,
                              const KernelLibrary* library);

}  // namespace intarsia::target_kind
