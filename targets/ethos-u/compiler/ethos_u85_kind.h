// Kind `ethos-u85`: runs what Arm's compiler made for an Ethos-U85. Nothing is compiled for it.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::ethos_u {

void add_u85_kind(TargetRegistry& registry);

}  // namespace intarsia::targets::ethos_u
