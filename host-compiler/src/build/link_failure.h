// What compiler and linker complained of, for who asked for the program.
#pragma once

#include <string>
#include <string_view>

#include "intarsia/build.h"
#include "support/process.h"

namespace intarsia::build {

// Of a source of the package. Where one finds that something is missing which it needs, its own words are the message.
Diagnostics compile_failure(const std::string& source, const ProcessOutcome& outcome);

// `what` was linked: "the program", "the shared library".
Diagnostics link_failure(const BuildSetting& setting, std::string_view what,
                         const ProcessOutcome& outcome);

}  // namespace intarsia::build
