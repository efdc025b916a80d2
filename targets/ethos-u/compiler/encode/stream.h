// TirToRuntime: command streams of the planned functions.
#pragma once

#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_u {

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);

}  // namespace intarsia::targets::ethos_u
