// What the NPU takes, with a reason for everything else.
#pragma once

#include <vector>

#include "intarsia/pattern.h"

namespace intarsia::targets::ethos_u {

std::vector<Pattern> patterns();

}  // namespace intarsia::targets::ethos_u
