// A model as a shared library, for boards whose programs are processes.
#pragma once

#include <string>

#include "intarsia/build.h"

namespace intarsia::build {

// Whether a file of this name is one: "libkws.so", "libkws.so.1".
bool names_shared_library(const std::string& file);

// The model alone, with the functions of its header as the only symbols that others see; `work_folder` gets objects and the
// library, whose path is returned. `file` is the name that programs will look for.
Result<std::string> build_shared_library(const BuildSetting& setting, const std::string& file,
                                         const std::string& work_folder);

}  // namespace intarsia::build
