// Whether a program can be measured, before anything is built for it.
#pragma once

#include "intarsia/build.h"

namespace intarsia::build {

// Fails where `measure` would at once: the board or the package is none that is measured.
Result<void> may_be_measured(const BuildSetting& setting);

}  // namespace intarsia::build
