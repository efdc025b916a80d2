// Firmware that was built once, with a package that it takes its model from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "intarsia/build.h"

namespace intarsia::build {

struct PackageRun {
  std::string file;  // the package
  std::optional<uint64_t>
      kept_at;  // it lies there when the firmware starts; none: the firmware reads the file
  std::string simulators;  // the program that serves its simulated devices; may be empty
};

// As execute() for a program that takes its model from the package; of the setting's manifest the inputs and outputs are
// the package's. Of boards without a debug probe.
Result<ExecuteResult> execute_package(const BuildSetting& setting, const ExecuteRequest& request,
                                      const PackageRun& package, const std::string& work_folder);

// The program that simulates the devices of a built program beside the emulator, where there is one: in the work folder of the build.
inline constexpr const char* kSimulatorsInWorkFolder = "/simulators";

}  // namespace intarsia::build
