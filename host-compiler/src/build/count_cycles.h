// Estimated cycles of a program that runs in an emulator, by operator of its model.
#pragma once

#include <string>
#include <vector>

#include "board/cycles/cycle_listing.h"
#include "intarsia/build.h"

namespace intarsia::build {

// Beside the compiler, by its prefix: arm-none-eabi-objdump.
std::string disassembler_of(const std::string& compiler);
// The lines of the package's sources.
Result<std::vector<board::OperatorLines>> operators_of(const BuildSetting& setting);

// What the emulator's plugin reads: the program's code, and the operators that it belongs to.
Result<void> write_cycle_listing(const BuildSetting& setting, const std::string& program,
                                 const std::string& path);

// What the plugin wrote, with the operators' names.
Result<std::vector<RunCycles>> read_run_cycles(const BuildSetting& setting,
                                               const std::string& program, const std::string& path);

}  // namespace intarsia::build
