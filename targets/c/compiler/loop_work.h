// What the time of the portable loops is made of: how often each kind of step runs that a compiler makes instructions of.
// What a step takes on a core is in isa/loop_costs.def.
#pragma once

#include <array>
#include <cstddef>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::c {

enum class LoopStep {
#define STEP(name, ...) name,
#include "intarsia/targets/c/loop_costs.def"
#undef STEP
};
inline constexpr size_t kLoopSteps = 0
#define STEP(...) +1
#include "intarsia/targets/c/loop_costs.def"
#undef STEP
    ;

using LoopWork = std::array<double, kLoopSteps>;

// Of a kernel, as a compiler for a small core translates it: what does not depend on a loop's variable is computed before
// the loop, elements that follow one another are reached by a pointer that moves on, and a product that is added is one
// step.
LoopWork work_of_loops(const tir::Func& func);

}  // namespace intarsia::targets::c
