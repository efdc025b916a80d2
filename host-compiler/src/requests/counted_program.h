// The cycles of one inference of a package, counted in the emulator of its board.
#pragma once

#include <string>

#include "intarsia/build.h"
#include "intarsia/graph.h"

namespace intarsia::requests {

// On the first random input of make_sample() for `module`, whose inputs the package has.
Result<RunCycles> count_cycles(BuildSetting setting, const graph::Module& module,
                               const std::string& work_folder);

}  // namespace intarsia::requests
