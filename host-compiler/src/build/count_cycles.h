// Estimated cycles of a program that runs in an emulator, by operator of its model.
#pragma once

#include <string>
#include <vector>

#include "intarsia/build.h"

namespace intarsia::build {

// What the emulator's plugin reads: the program's code, and the operators that it belongs to.
Result<void> write_cycle_listing(const BuildSetting& setting, const std::string& program,
                                 const std::string& path);

// What the plugin wrote, with the operators' names.
Result<std::vector<RunCycles>> read_run_cycles(const BuildSetting& setting,
                                               const std::string& program, const std::string& path);

}  // namespace intarsia::build
