// `run PACKAGE --firmware FIRMWARE`.
#pragma once

#include <string>

#include "commands.h"
#include "intarsia/build.h"

namespace intarsia::cli {

struct PackageResult {
  std::string model;
  std::vector<TensorInfo> outputs;
  ExecuteResult result;
};
Result<PackageResult> run_package_on_firmware(Context& context, const RunCommand& command);

}  // namespace intarsia::cli
