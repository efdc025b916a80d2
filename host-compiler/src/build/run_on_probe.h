// A program on the board itself, which a debug probe holds.
#pragma once

#include <string>

#include "intarsia/build.h"

namespace intarsia::build {

// As execute(), for a board with a probe.
Result<ExecuteResult> execute_on_probe(const BuildSetting& setting, const ExecuteRequest& request,
                                       const std::string& work_folder);

}  // namespace intarsia::build
