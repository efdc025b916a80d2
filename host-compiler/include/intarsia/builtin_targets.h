// The targets of this build: one call that adds them all to a registry.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia {

void add_builtin_targets(TargetRegistry& registry);

}  // namespace intarsia
