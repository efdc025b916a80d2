// Packages whose streams Arm's core driver runs, as programs: with the stand-in, or with the driver itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "needs.h"
#include "recorded_data.h"
#include "support/files.h"

namespace intarsia::test::ethos_u {

// The folder that ETHOS_U_CORE_DRIVER names; empty: none.
std::string arms_driver();

struct ProgramRequest {
  std::string model;   // of recorded_data.h
  std::string target;  // with -driver=arm
  std::string board = "host";
  std::string with_driver = {};        // arms_driver(), or empty for the stand-in
  std::vector<MemoryPool> pools = {};  // instead of the board's
  std::map<std::string, std::string> pins = {};
  // All samples after each other, each with the state that the one before has left; else each in a program of its own.
  bool in_sequence = false;
};

struct ProgramRun {
  std::vector<std::string> streams_on;        // the device of each
  std::vector<std::vector<uint8_t>> outputs;  // of all samples, one after another
};

// All recorded samples through the program; a failure of the build or of the run is its message.
Result<ProgramRun> run_program(const ProgramRequest& request);
// What they should be.
std::vector<std::vector<uint8_t>> recorded_outputs(const std::string& model);

}  // namespace intarsia::test::ethos_u
