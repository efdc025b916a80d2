// From a function of the lowered module back to the one of the partitioned module that it came from.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::lowering {

// Of a function of a device's stream; null when there is none.
const graph::Function* region_of(const graph::Module& partitioned, const tir::Func& func);

}  // namespace intarsia::lowering
