// TirToRuntime: command streams of the planned functions.
#pragma once

#include "intarsia/artifacts.h"
#include "intarsia/plan.h"
#include "intarsia/target.h"
#include "intarsia/tir.h"

namespace intarsia::targets::ethos_u {

Result<Artifacts> make_streams(const Target& member, const tir::Module& module, const Plan& plan);

}  // namespace intarsia::targets::ethos_u
