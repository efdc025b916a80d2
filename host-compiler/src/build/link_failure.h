// What the linker complained of, for who asked for the program.
#pragma once

#include <string_view>

#include "intarsia/build.h"
#include "support/process.h"

namespace intarsia::build {

// `what` was linked: "the program", "the shared library".
Diagnostics link_failure(const BuildSetting& setting, std::string_view what,
                         const ProcessOutcome& outcome);

}  // namespace intarsia::build
