// TirToRuntime of targets that run C.
#pragma once

#include "emit/c_function.h"
#include "intarsia/artifacts.h"
#include "intarsia/plan.h"
#include "intarsia/target_spec.h"

namespace intarsia::emission {

// One C function per leaf of `module` that belongs to `target`, over the portable kernels; `structs`
// for kernels of the target's own.
Result<Artifacts> c_artifacts(const Target& target, const tir::Module& module, const Plan& plan,
                              const ConstantStructs& structs = {});

}  // namespace intarsia::emission
