// The runtime and the device code of targets, as files where packages have them: all below intarsia/, and included by
// that path. What a model does not need is left out later (runtime_files.h).
#pragma once

#include <string>
#include <vector>

#include "intarsia/package.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::packaging {

struct RuntimeTrees {
  std::vector<SourceFile> firmware;
  std::vector<SourceFile>
      simulators;  // of devices, with the headers and tables that they share with the firmware
  // What the program itself brings where devices are real: a vendor's driver. Only of programs whose devices are
  // simulated.
  std::vector<SourceFile> stand_ins;
};

// Beside the contract and the kernels in portable C.
struct RuntimeLibraries {
  bool core = false;      // opens packages of command streams and runs them
  bool mailbox = false;   // hands tensors over between cores
  bool executor = false;  // runs models from packages; with the core
};
Result<RuntimeTrees> portable_runtime(const PackageOptions& options, RuntimeLibraries libraries);

// Fails for a device whose streams run in a simulation alone.
Result<void> check_driver(const Target& device, const DeviceDriver& driver);

// Adds the parts of a target's folder that its programs need. A folder within a target's is another driver of the same
// device, device/, with what stands in for libraries that it calls, stand-in/; tables and simulator are the target's.
Result<void> add_target(const PackageOptions& options, const std::string& folder,
                        RuntimeTrees& runtime);

}  // namespace intarsia::packaging
