// A schedule as a TIR function: its storages are buffers, its steps intrinsics.
#pragma once

#include "hardware/hardware.h"
#include "intarsia/graph.h"
#include "intarsia/plugin/tir.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

// `slow_memory` is what feature maps ask for that are not to take the fast one; empty: nothing.
tir::LoweredFunction to_tir(const Hardware& hardware, const graph::Module& module,
                            const graph::Function& function, const Program& program,
                            const Schedule& schedule, const std::string& slow_memory);

}  // namespace intarsia::targets::ethos_u
