// What the NPU takes, with a reason for everything else.
#pragma once

#include <vector>

#include "intarsia/plugin/pattern.h"

namespace intarsia::targets::ethos_u {

// `confirmed_only`: what takes encodings that no stream of Arm's compiler shows is refused.
std::vector<Pattern> patterns(bool confirmed_only = false);

}  // namespace intarsia::targets::ethos_u
