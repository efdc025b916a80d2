// The services a target kind may leave to the compiler.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia::target_kind {

// Fills in those that are empty. They refer to `kind`, which stays where it is.
void add_default_services(TargetKind& kind);

}  // namespace intarsia::target_kind
