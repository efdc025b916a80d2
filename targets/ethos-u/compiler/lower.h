// GraphToTir: legalise, schedule, write as TIR.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/target.h"
#include "intarsia/tir.h"
#include "ethos_u/timing.h"

namespace intarsia::targets::ethos_u {

// The memory system that the member's attributes name.
isa::ethos_u::MemorySystem memory_system_of(const Target& member);

tir::LoweredFunction lower(const Target& member, const graph::Module& module,
                           const graph::Function& function, const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
