// The targets of this build: one call that adds them all to a registry, and one that adds what they bring to the engine,
// for programs that execute models in their process.
#pragma once

#include "intarsia/engine.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// All kinds of targets of this build, with their tags.
void add_builtin_targets(TargetRegistry& registry);
// Their simulated devices and kernel functions, for Engine::make.
void add_builtin_engine(EngineRegistry& registry);

}  // namespace intarsia
