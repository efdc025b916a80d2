// A compiled model as a package that a firmware runs which was built without it, and the kernels that this firmware has to
// have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executable/kernel_code.h"
#include "intarsia/compiled_model.h"
#include "package_writer/package_writer.h"

namespace intarsia::executable {

struct ExecutableModel {
  std::string name;
  std::vector<KernelCode> kernels;    // that its program calls, each once
  std::vector<std::string> includes;  // of their C
  PackageContract contract;
  PackageProgram program;
  std::vector<CommandStream> streams;

  std::vector<uint8_t> package() const;
};

// Of a program that has been emitted. Refuses what no package can say.
Result<ExecutableModel> make_executable(const CompiledProgram& program,
                                        const TargetRegistry& registry);

// Of the types, shapes and scales of inputs and outputs.
uint32_t interface_id(const EmittedModel& model);

}  // namespace intarsia::executable
