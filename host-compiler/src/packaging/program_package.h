// The two kinds of packages: one program, and the parts of a model for several CPUs.
#pragma once

#include "intarsia/compiled_model.h"

namespace intarsia::packaging {

struct ProgramPackageRequest {
  const CompiledProgram& program;
  const TargetRegistry& registry;
  const PackageOptions& options;
};
Result<PackageContents> program_package(const ProgramPackageRequest& request);

Result<PackageContents> multicore_package(const CompiledModel& model,
                                          const TargetRegistry& registry, const TargetSpec& target,
                                          const PackageOptions& options);

}  // namespace intarsia::packaging
